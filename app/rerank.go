package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune/ensemble"
)

// reranking has the flags of eval and compare for systems that rerank only the first documents of
// an engine's ranking.
type reranking struct {
	rerank, first string
	depths        []int // ascending; nil without --rerank
}

const rerankHelp = `--rerank also prints each measure if a system reranks only the first N documents of an
engine's own ranking, for several depths N. The other documents stay below, in the
engine's order. --first names the feature that has the engine's scores, which rank in
descending order with ties as in the input. Depths 0 and 1 are the engine's own ranking.
The feature need not be one of the model's; --rerank implies --other-features ignore if
it is not. Each depth is compared with the full depth by the randomization test, with
Holm's correction over the depths of a system and measure. The sufficient depth is the
least from which on no depth differs significantly from the full depth.`

func (r *reranking) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.rerank, "rerank", "", "`depths` to rerank to, such as 10,20,50 (with --first)")
	cmd.Flags().StringVar(&r.first, "first", "", "`feature` with the search engine's scores, whose ranking --rerank reranks")
}

// parseDepths sets the depths.
func (r *reranking) parseDepths() error {
	switch {
	case (r.rerank == "") != (r.first == ""):
		return usageErrorf("--rerank and --first go together: found one of them, expected both or neither")
	case r.rerank == "":
		return nil
	}
	for word := range strings.SplitSeq(r.rerank, ",") {
		depth, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || depth < 0 || depth > mostOf {
			return usageErrorf("--rerank %s: found %q, expected whole numbers from 0 on, separated by commas", r.rerank, word)
		}
		if slices.Contains(r.depths, depth) {
			return usageErrorf("--rerank %s: found %d twice, expected each depth once", r.rerank, depth)
		}
		r.depths = append(r.depths, depth)
	}
	slices.Sort(r.depths)
	return nil
}

// askFirst also reads the feature if the models do not know it.
func (r *reranking) askFirst(opts *dataset.Options, models []*model.Model) {
	if r.first == "" || !slices.ContainsFunc(models, func(m *model.Model) bool { return !slices.Contains(m.FeatureNames, r.first) }) {
		return
	}
	if opts.FeatureNames != nil && !slices.Contains(opts.FeatureNames, r.first) {
		opts.FeatureNames = append(opts.FeatureNames, r.first)
	}
	opts.IgnoreOthers = true
}

// rank returns the engine's places of the documents, one list per division. It returns nil without
// --rerank.
func (r *reranking) rank(divisions []ensemble.Division) ([][]int, error) {
	if r.depths == nil {
		return nil, nil
	}
	places := make([][]int, len(divisions))
	for i := range divisions {
		d := divisions[i].Test
		values, err := r.values(d)
		if err != nil {
			return nil, usageErrorf("--first: %w", err)
		}
		places[i] = measure.Places(d, values)
	}
	return places, nil
}

// values returns the engine's scores of the documents.
func (r *reranking) values(d *dataset.Dataset) ([]float32, error) {
	column := d.Column(r.first)
	switch {
	case column >= 0:
	case d.FeatureNames != nil:
		return nil, fmt.Errorf("found no feature %q%s", r.first, suggest.Or(r.first, d.FeatureNames, ", expected one of "+suggest.OneOf(d.FeatureNames)))
	case d.Features == 0:
		return nil, fmt.Errorf("found no features in the data, expected the feature %q", r.first)
	default:
		return nil, fmt.Errorf("found no feature %q, expected a number from 1 to %d: the data have no names of features", r.first, d.Features)
	}
	values := make([]float32, 0, d.Docs())
	rows := d.Reader() // the features may be in a file
	for i := range d.Queries {
		q := rows.Query(i)
		for j := range q.Len() {
			v := q.Row(j)[column]
			if v != v {
				return nil, fmt.Errorf("found a missing value as feature %s of document %d of the data, of query %q, expected a score of the engine", r.first, d.InputDocument(q.Start+j), q.ID)
			}
			values = append(values, v)
		}
	}
	return values, d.Changed()
}

// evaluate measures a system at every depth on all divisions, whose queries are pooled.
func (r *reranking) evaluate(divisions []ensemble.Division, places [][]int, system int, measures []measure.Measure, ties measure.TiePolicy) ([]*measure.Result, error) {
	results := make([]*measure.Result, len(r.depths))
	for k, depth := range r.depths {
		parts := make([]*measure.Result, len(divisions))
		for i := range divisions {
			var err error
			if parts[i], err = divisions[i].EvaluateReranked(system, places[i], depth, measures, ties); err != nil {
				return nil, err
			}
		}
		results[k] = measure.Pool(parts...)
	}
	return results, nil
}

// ofSystem compares the depths of the only system by every measure. full has its values at the full
// depth. It returns nil without --rerank.
func (r *reranking) ofSystem(divisions []ensemble.Division, full *measure.Result, measures []measure.Measure, ties measure.TiePolicy) ([]*reranked, error) {
	places, err := r.rank(divisions)
	if places == nil || err != nil {
		return nil, err
	}
	one := run{result: full}
	if one.depths, err = r.evaluate(divisions, places, 0, measures, ties); err != nil {
		return nil, err
	}
	all := make([]*reranked, len(measures))
	for i, m := range measures {
		if all[i], err = r.compare("", []run{one}, m, stats.Config{Seed: 1}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// reranked compares the depths of a system by a measure with the full depth, the last system of
// the comparison.
type reranked struct {
	system, measure string
	first           string
	depths          []int
	*stats.Comparison
}

// compare compares the depths of a system's runs by a measure.
func (r *reranking) compare(system string, runs []run, m measure.Measure, config stats.Config) (*reranked, error) {
	depths := make([][]*measure.Result, len(r.depths)+1) // the runs at every depth, and at the full depth
	for _, own := range runs {
		for k, result := range append(slices.Clip(own.depths), own.result) {
			depths[k] = append(depths[k], result)
		}
	}
	config.Baseline, config.Observe = len(r.depths), nil
	c, err := measure.CompareRuns(m, config, depths...)
	if err != nil {
		return nil, usageErrorf("--rerank: measure %s: %w", m.Name(), err)
	}
	return &reranked{system, m.Name(), r.first, r.depths, c}, nil
}

// sufficient returns the index of the least depth from which on no depth differs significantly
// from the full depth. It is len(depths) if the greatest depth differs.
func (r *reranked) sufficient() int {
	least := len(r.depths)
	for least > 0 && !stats.Significant(r.Pairs[least-1].Randomization.Holm) {
		least--
	}
	return least
}

// rerankedJSON has null as sufficient depth if the greatest depth differs from the full depth.
type rerankedJSON struct {
	System     string      `json:"system,omitempty"`
	Measure    string      `json:"measure"`
	First      string      `json:"first"`
	Queries    int         `json:"queries"`
	Flips      int         `json:"permutations"`
	Exact      bool        `json:"exact"`
	Depths     []depthJSON `json:"depths"`
	Full       depthMean   `json:"full"`
	Sufficient any         `json:"sufficient_depth"`
}

type depthMean struct {
	Mean float64 `json:"mean"`
	CI   [2]any  `json:"ci"`
}

// depthJSON has the difference of a depth to the full depth.
type depthJSON struct {
	Depth int `json:"depth"`
	depthMean
	Difference    float64  `json:"difference"`
	Interval      [2]any   `json:"difference_ci"`
	Randomization testJSON `json:"randomization"`
	Wins          int      `json:"wins"`
	Ties          int      `json:"ties"`
	Losses        int      `json:"losses"`
	Detectable    float64  `json:"detectable"`
}

func (r *reranked) json() rerankedJSON {
	mean := func(s stats.System) depthMean { return depthMean{s.Mean, ends(s.Interval)} }
	j := rerankedJSON{
		System: r.system, Measure: r.measure, First: r.first, Queries: r.Queries, Flips: r.Permutations, Exact: r.Exact,
		Full: mean(r.Systems[len(r.depths)]),
	}
	for i, p := range r.Pairs {
		j.Depths = append(j.Depths, depthJSON{
			r.depths[i], mean(r.Systems[i]), p.Difference, ends(p.Interval),
			testJSON{p.Randomization.P, p.Randomization.Holm}, p.Wins, p.Ties, p.Losses, p.Detectable,
		})
	}
	if least := r.sufficient(); least < len(r.depths) {
		j.Sufficient = r.depths[least]
	}
	return j
}

// rerankSheet is the table of depths. key names its first column, whose cells keyOf returns.
func rerankSheet(all []*reranked, key string, keyOf func(*reranked) string, k marks) report {
	t := report{
		title:   "only the first N documents by " + all[0].first + " are reranked",
		columns: []string{key, "N", "mean", "95 % interval", "difference", "95 % interval", "randomization", "Holm", "", "W/T/L", "detectable"},
		keys:    2,
	}
	var least []string
	for _, r := range all {
		name := k.text(keyOf(r))
		for i, p := range r.Pairs {
			t.rows = append(t.rows, []any{
				name, strconv.Itoa(r.depths[i]), decimals(r.Systems[i].Mean, 4), bounds(r.Systems[i].Interval, k),
				signed(p.Difference, k), bounds(p.Interval, k), probability(p.Randomization.P), probability(p.Randomization.Holm), stars(p.Randomization.Holm),
				fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses), decimals(p.Detectable, 4),
			})
		}
		full := r.Systems[len(r.depths)]
		t.rows = append(t.rows, []any{name, "full", decimals(full.Mean, 4), bounds(full.Interval, k), "", "", "", "", "", "", ""})
		depth := "none"
		if i := r.sufficient(); i < len(r.depths) {
			depth = strconv.Itoa(r.depths[i])
		}
		least = append(least, keyOf(r)+" "+depth)
	}
	t.alignNumbers()
	t.notes = []string{"", "Sufficient depth, from which on none differs significantly from the full depth (randomization test, Holm over the depths): " + strings.Join(least, ", ") + "."}
	return t
}

// depthColumns are the columns of depths in CSV.
var depthColumns = []string{"depth", "low", "high", "difference", "difference_low", "difference_high", "p", "p_holm", "wins", "ties", "losses", "detectable"}

// depthsCSV adds a row for each depth, and columns for them, to the table of eval.
func depthsCSV(all []*reranked, columns []string, cells [][]any) ([]string, [][]any) {
	if all == nil {
		return columns, cells
	}
	width := len(columns)
	row := func(own, depth []any) []any {
		return append(append(own[:len(own):len(own)], make([]any, width-len(own))...), append(depth, make([]any, len(depthColumns)-len(depth))...)...)
	}
	cells = mapped(cells, func(own []any) []any { return row(own, nil) })
	for _, r := range all {
		for i, p := range r.Pairs {
			s := r.Systems[i]
			cells = append(cells, row([]any{r.measure, s.Mean, nil, r.Queries}, []any{
				r.depths[i], number(s.Interval.Low), number(s.Interval.High),
				p.Difference, number(p.Interval.Low), number(p.Interval.High), p.Randomization.P, p.Randomization.Holm, p.Wins, p.Ties, p.Losses, p.Detectable,
			}))
		}
	}
	return append(columns[:width:width], depthColumns...), cells
}
