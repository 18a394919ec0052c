package paper

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/tune"
)

func listOHSUMEDExperiment() Experiment {
	return Experiment{
		Name:  "listmle-ohsumed",
		Title: "ListMLE, ListNet and RankCosine on OHSUMED",
		Shows: "how likelihood, cross entropy and cosine do where most documents of a list have the same grade",
		Data:  "--data, OHSUMED",
		Reads: true,
		Run:   xiaOHSUMED.run,
	}
}

// listOHSUMED is the experiment with its rows.
type listOHSUMED struct {
	rows   []listRow // of the paper
	beside []listRow // other ways to train them
	ties   []listRow // ways of ListMLE with equally graded documents
	// seeds is the number of seeds that the rows of ties have which draw
	// permutations.
	seeds int
}

// listRow is one method with what is tried beside its own grids.
type listRow struct {
	name   string
	method string
	grid   map[string][]string
	draws  bool // it is repeated with several seeds, for it depends on them
}

// xiaOHSUMED leaves every choice to the validation data: C and, for the two losses
// that have one, the mapping. ListMLE's C goes further down than its own grid.
var xiaOHSUMED = listOHSUMED{
	rows: []listRow{
		{name: "ListMLE", method: "listmle", grid: listMLEGrid("random")},
		{name: "ListNet", method: "listnet", grid: everyMapping},
		{name: "RankCosine", method: "rankcosine", grid: everyMapping},
	},
	beside: []listRow{
		{name: "ListNet, descent", method: "listnet", grid: map[string][]string{
			"optimizer": {"descent"}, "rule": {"plain"}, "rate": {"1e-3", "1e-2", "1e-1", "1"}, "C": {"1e6"},
		}},
	},
	ties: []listRow{
		{name: "random", method: "listmle", grid: listMLEGrid("random"), draws: true},
		{name: "average", method: "listmle", grid: listMLEGrid("average"), draws: true},
		{name: "input", method: "listmle", grid: listMLEGrid("input")},
		{name: "group", method: "listmle", grid: listMLEGrid("group")},
		{name: "chosen", method: "listmle", grid: listMLEGrid("random", "input", "group")},
	},
	seeds: 5,
}

var everyMapping = map[string][]string{"mapping": {"log", "sqrt", "linear", "quadratic", "exp"}}

func listMLEGrid(ties ...string) map[string][]string {
	return map[string][]string{"C": {"1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1", "10", "100"}, "ties": ties}
}

// listSelection is the measure on validation data by which all is chosen: that of
// most of LETOR's published runs.
const listSelection = "map"

// listMeasures are the columns of the tables.
var listMeasures = []string{
	"ndcg@1", "ndcg@2", "ndcg@3", "ndcg@4", "ndcg@5", "ndcg@6", "ndcg@7", "ndcg@8", "ndcg@9", "ndcg@10", "map",
}

// listOHSUMEDResult is what came out on one set.
type listOHSUMEDResult struct {
	data   source
	folds  []tune.Fold
	rows   []tune.Row
	beside []tune.Row
	ties   []listTies
}

// listTies is a row of ListMLE's ways with ties: one result a seed.
type listTies struct {
	row     listRow
	results []tune.Row
}

// values returns a measure by seed.
func (t *listTies) values(m string) []float64 {
	values := make([]float64, len(t.results))
	for i := range t.results {
		values[i] = meanOf(&t.results[i], m)
	}
	return values
}

// meanOf returns a row's mean over folds.
func meanOf(r *tune.Row, m string) float64 { return summaryOf(r, m).Mean }

// summaryOf returns a row's values by a measure under its name, which is what the
// published tables have.
func summaryOf(r *tune.Row, name string) *tune.Summary {
	for i := range r.Measures {
		if r.Measures[i].Measure.Name() == name {
			return &r.Measures[i]
		}
	}
	panic("measure " + name + " was not computed")
}

func (e listOHSUMED) run(ctx context.Context, o Options) (*Report, error) {
	data, err := ohsumed(o)
	if err != nil {
		return nil, err
	}
	folds, err := data.read()
	if err != nil {
		return nil, err
	}
	result := &listOHSUMEDResult{data: data, folds: folds}
	if result.rows, err = trainAll(ctx, o, e.rows, folds); err != nil {
		return nil, err
	}
	if result.beside, err = trainAll(ctx, o, e.beside, folds); err != nil {
		return nil, err
	}
	for _, r := range e.ties {
		t := listTies{row: r}
		seeds := 1
		if r.draws {
			seeds = e.seeds
		}
		for k := range seeds {
			seed := o
			seed.Seed += uint64(k)
			row, err := r.train(ctx, seed, folds)
			if err != nil {
				return nil, fmt.Errorf("ties=%s: %w", r.name, err)
			}
			t.results = append(t.results, *row)
		}
		result.ties = append(result.ties, t)
	}
	return e.report(o, result), nil
}

func trainAll(ctx context.Context, o Options, rows []listRow, folds []tune.Fold) ([]tune.Row, error) {
	var all []tune.Row
	for i := range rows {
		row, err := rows[i].train(ctx, o, folds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].name, err)
		}
		all = append(all, *row)
	}
	return all, nil
}

// ohsumed returns the set to run on: OHSUMED if it is there, else what --set names
// or the first there is.
func ohsumed(o Options) (source, error) {
	found, _, err := findSets(o)
	if err != nil {
		return source{}, err
	}
	chosen := found[0]
	if o.Set == "" {
		for _, s := range found {
			if s.name == "OHSUMED" {
				chosen = s
			}
		}
	}
	if chosen.name != "OHSUMED" {
		chosen.about = "data: " + chosen.name + ", not OHSUMED; the published numbers are left out"
	}
	return chosen, nil
}

// train tunes the row on all folds.
func (r *listRow) train(ctx context.Context, o Options, folds []tune.Fold) (*tune.Row, error) {
	c, err := tuneConfig(o, r.name+fmt.Sprintf(", seed %d", o.Seed), folds, listSelection)
	if err != nil {
		return nil, err
	}
	if c.Measures, err = measure.ParseList(strings.Join(listMeasures, ","), letor3, measure.Options{}); err != nil {
		return nil, err
	}
	if o.Records != "" {
		c.Dir = filepath.Join(o.Records, fmt.Sprintf("seed%d", o.Seed))
	}
	m, err := method.Lookup(r.method)
	if err != nil {
		return nil, err
	}
	entry, err := tune.NewEntry(m, maps.Clone(r.grid))
	if err != nil {
		return nil, err
	}
	entry.Name = r.name
	c.Entries = []tune.Entry{entry}
	result, err := tune.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	return &result.Rows[0], nil
}
