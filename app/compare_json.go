package app

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/rows"
)

// compareJSON is the JSON form of a comparison. Scripts rely on its names. The top level contains
// the comparison by the first measure. With several measures, Measures contains the comparisons by
// all of them.
type compareJSON struct {
	comparedJSON
	Convention string         `json:"convention"`
	Threshold  float64        `json:"threshold"`
	Ties       string         `json:"ties"`
	Folds      int            `json:"folds,omitempty"`
	Baseline   string         `json:"baseline,omitempty"`
	Seed       uint64         `json:"seed"`
	Resamples  int            `json:"resamples"`
	Measures   []comparedJSON `json:"measures,omitempty"`
}

type comparedJSON struct {
	Measure  string               `json:"measure"`
	Queries  int                  `json:"queries"`
	Weighted bool                 `json:"weighted,omitempty"`
	Flips    int                  `json:"permutations"`
	Exact    bool                 `json:"exact"`
	Systems  []comparedSystemJSON `json:"systems"`
	Pairs    []comparedPairJSON   `json:"pairs"`
	Slices   []comparedSliceJSON  `json:"slices,omitempty"`
	Rerank   []rerankedJSON       `json:"rerank,omitempty"`
}

type comparedSystemJSON struct {
	Name      string `json:"name"`
	Mean      any    `json:"mean"`
	CI        [2]any `json:"ci"`
	Runs      int    `json:"runs"`
	Deviation any    `json:"sd_of_runs,omitempty"`
}

// comparedPairJSON is a pair of systems. Values that are not finite are null: t and effect sizes if
// all differences are equal, and intervals over too few queries.
type comparedPairJSON struct {
	pairJSONOf[randomizedJSON]
	CohenD     any     `json:"cohen_d"`
	HedgesG    any     `json:"hedges_g"`
	Detectable float64 `json:"detectable"`
}

// pairJSONOf contains the fields of a pair that the JSON forms for all queries and for slices share. R is
// the JSON form of the randomization test, which differs between the two.
type pairJSONOf[R any] struct {
	A             string      `json:"a"`
	B             string      `json:"b"`
	Difference    float64     `json:"difference"`
	CI            [2]any      `json:"ci"`
	Claim         stats.Claim `json:"claim"`
	T             tJSON       `json:"t"`
	Randomization R           `json:"randomization"`
	Bootstrap     testJSON    `json:"bootstrap"`
	Wins          int         `json:"wins"`
	Ties          int         `json:"ties"`
	Losses        int         `json:"losses"`
}

func newPairJSON[R any](c *comparison, p *stats.Pair, randomization R) pairJSONOf[R] {
	return pairJSONOf[R]{
		A: c.systems[p.A].name, B: c.systems[p.B].name, Difference: p.Difference, CI: ends(p.Interval), Claim: p.Claim,
		T: tJSON{number(p.T.T), p.T.DF, testJSON{p.T.P, p.T.Holm}}, Randomization: randomization, Bootstrap: testJSON{p.Bootstrap.P, p.Bootstrap.Holm},
		Wins: p.Wins, Ties: p.Ties, Losses: p.Losses,
	}
}

type testJSON struct {
	P    float64 `json:"p"`
	Holm float64 `json:"p_holm"`
}

type tJSON struct {
	T  any     `json:"t"`
	DF float64 `json:"df"`
	testJSON
}

type randomizedJSON struct {
	testJSON
	MaxT any `json:"p_max_t,omitempty"` // nil if the correction is over several data sets or measures
}

// compared is the result of compare: a [comparison] on one data set, or a [joint] one.
type compared interface {
	json() any
	csv() (columns []string, cells [][]any)
	sheets() []report            // the tables of the text form
	paper(format marks) []report // the tables of Markdown and LaTeX
}

// printComparison prints a comparison. label is the label of LaTeX tables, or "".
func (env *environment) printComparison(c compared, label string) error {
	if env.take != nil {
		env.take(c)
		return nil
	}
	switch env.format {
	case "json":
		return env.printJSON(c.json())
	case "csv":
		columns, cells := c.csv()
		return rows.WriteCSV(env.stdout, columns, cells)
	}
	var text string
	switch env.format {
	case "markdown":
		text = markdown(c.paper(markdownMarks))
	case "latex":
		text = latex(c.paper(latexMarks), label)
	default:
		text = textOf(c.sheets(), "", env.width())
	}
	return env.printText(text)
}

func (c *comparison) json() any {
	j := compareJSON{
		Convention: c.convention.Name(), Threshold: c.convention.Threshold(), Ties: c.ties.String(), Folds: c.folds, Baseline: c.baseline,
		Seed: c.seed, Resamples: c.resamples,
	}
	for i := range c.measured {
		j.Measures = append(j.Measures, c.measuredJSON(&c.measured[i]))
	}
	j.comparedJSON = j.Measures[0]
	if len(j.Measures) == 1 {
		j.Measures = nil
	}
	return j
}

func (c *comparison) measuredJSON(m *measured) comparedJSON {
	j := comparedJSON{Measure: m.name, Queries: m.Queries, Weighted: m.weighted, Flips: m.Permutations, Exact: m.Exact}
	for i, s := range m.Systems {
		j.Systems = append(j.Systems, comparedSystemJSON{
			Name: c.systems[i].name, Mean: number(s.Mean), CI: ends(s.Interval),
			Runs: len(c.systems[i].runs), Deviation: number(m.deviations[i]),
		})
	}
	for _, p := range m.Pairs {
		r := randomizedJSON{testJSON{p.Randomization.P, p.Randomization.Holm}, number(p.Randomization.MaxT)}
		j.Pairs = append(j.Pairs, comparedPairJSON{newPairJSON(c, &p, r), number(p.CohenD), number(p.HedgesG), p.Detectable})
	}
	j.Slices, j.Rerank = c.slicesJSON(m), mapped(m.depths, (*reranked).json)
	return j
}

// ends returns the bounds of an interval. An infinite bound is null.
func ends(i stats.Interval) [2]any { return [2]any{number(i.Low), number(i.High)} }

func (c *comparison) csv() (columns []string, cells [][]any) {
	columns = []string{
		"measure", "queries", "a", "b",
		"mean_a", "mean_a_low", "mean_a_high", "mean_b", "mean_b_low", "mean_b_high",
		"difference", "difference_low", "difference_high",
		"t", "df", "t_p", "t_p_holm", "randomization_p", "randomization_p_holm", "randomization_p_max_t", "bootstrap_p", "bootstrap_p_holm",
		"cohen_d", "hedges_g", "wins", "ties", "losses", "detectable", "claim",
	}
	for _, m := range c.measured {
		for _, p := range m.Pairs {
			a, b := m.Systems[p.A], m.Systems[p.B]
			cells = append(cells, pairCells(m.name, m.Queries, c.systems[p.A].name, c.systems[p.B].name, &p, a.Mean, b.Mean, a.Interval, b.Interval, p.Randomization.MaxT))
		}
	}
	return c.depthsCSV(c.slicesCSV(columns, cells))
}

// depthsCSV adds rows for the depths of --rerank, which compare a system at a depth, a, with itself
// at the full depth, b. It adds a column for the depth.
func (c *comparison) depthsCSV(columns []string, cells [][]any) ([]string, [][]any) {
	if c.measured[0].depths == nil {
		return columns, cells
	}
	width := len(columns)
	for i := range cells {
		cells[i] = append(cells[i], nil)
	}
	for _, m := range c.measured {
		for _, r := range m.depths {
			for i, p := range r.Pairs {
				a, b := r.Systems[p.A], r.Systems[p.B]
				row := pairCells(m.name, r.Queries, r.system, r.system, &p, a.Mean, b.Mean, a.Interval, b.Interval, p.Randomization.MaxT)
				cells = append(cells, append(append(row, make([]any, width-len(row))...), r.depths[i]))
			}
		}
	}
	return append(columns, "depth"), cells
}

// pairCells is the row of a pair in CSV. On slices maxT is nil.
func pairCells(name string, queries int, systemA, systemB string, p *stats.Pair, meanA, meanB float64, a, b stats.Interval, maxT any) []any {
	return []any{
		name, queries, systemA, systemB,
		meanA, number(a.Low), number(a.High), meanB, number(b.Low), number(b.High),
		p.Difference, number(p.Interval.Low), number(p.Interval.High),
		number(p.T.T), p.T.DF, p.T.P, p.T.Holm, p.Randomization.P, p.Randomization.Holm, maxT, p.Bootstrap.P, p.Bootstrap.Holm,
		number(p.CohenD), number(p.HedgesG), p.Wins, p.Ties, p.Losses, p.Detectable, string(p.Claim),
	}
}

// compareSlices compares the systems by a measure on every slice. It returns nil without --by.
func (c *comparison) compareSlices(m measure.Measure, config stats.Config) ([]slicing.Compared, error) {
	if c.divisions == nil {
		return nil, nil
	}
	return slicing.Compare(c.perQuery(m), c.systems[0].runs[0].result.Weights(), c.divisions, config)
}

// comparedSliceJSON is a comparison on a slice. It has no pairs if fewer than two queries count.
// Holm's correction covers all pairs and slices of a measure.
type comparedSliceJSON struct {
	By      string             `json:"by"`
	Slice   string             `json:"slice"`
	NoValue bool               `json:"no_value,omitempty"` // the queries have no value of the key
	Queries int                `json:"queries"`
	Systems []slicedSystemJSON `json:"systems"`

	Pairs []pairJSONOf[testJSON] `json:"pairs,omitempty"`
}

type slicedSystemJSON struct {
	Name string `json:"name"`
	sliceMeanJSON
}

func (c *comparison) slicesJSON(m *measured) []comparedSliceJSON {
	var all []comparedSliceJSON
	for _, s := range m.slices {
		j := comparedSliceJSON{By: s.By, Slice: s.Slice, NoValue: s.None, Queries: s.Queries}
		for i, mean := range s.Means {
			j.Systems = append(j.Systems, slicedSystemJSON{c.systems[i].name, meanJSON(mean)})
		}
		for _, p := range pairsOf(s) {
			j.Pairs = append(j.Pairs, newPairJSON(c, &p, testJSON{p.Randomization.P, p.Randomization.Holm}))
		}
		all = append(all, j)
	}
	return all
}

// pairsOf returns the pairs tested on a slice. It returns nil if the slice has too few queries.
func pairsOf(s slicing.Compared) []stats.Pair {
	if s.Comparison == nil {
		return nil
	}
	return s.Pairs
}

// slicesCSV adds a row for each slice and pair, and two columns for the key and the slice.
func (c *comparison) slicesCSV(columns []string, cells [][]any) ([]string, [][]any) {
	if c.divisions == nil {
		return columns, cells
	}
	columns = append(columns, "by", "slice")
	for i := range cells {
		cells[i] = append(cells[i], nil, nil)
	}
	for _, m := range c.measured {
		for _, s := range m.slices {
			for _, p := range pairsOf(s) {
				a, b := s.Means[p.A], s.Means[p.B]
				row := pairCells(m.name, a.Counted, c.systems[p.A].name, c.systems[p.B].name, &p, a.Mean, b.Mean, a.Interval, b.Interval, nil)
				cells = append(cells, append(row, s.By, s.Slice))
			}
		}
	}
	return columns, cells
}

// sliceSheets returns a table of slices for each key.
func (c *comparison) sliceSheets(m *measured, k marks) []report {
	var all []report
	at := 0
	for _, d := range c.divisions {
		t := report{title: "by " + d.By, columns: []string{"slice", "queries", "a", "b", "mean a", "mean b", "a " + k.minus + " b", "95 % interval", "randomization", "Holm", "", "W/T/L"}, keys: 4}
		for range d.Slices {
			c.sliceRows(&t, m.slices[at], k)
			at++
		}
		if t.alignNumbers(); d.Note != "" {
			t.notes = append(t.notes, d.Note+".")
		}
		all = append(all, t)
	}
	if all != nil {
		last := &all[len(all)-1]
		last.notes = append(last.notes, c.sliceNote(m))
	}
	return all
}

// sliceRows adds a row for each pair on a slice. If too few queries count, it adds the systems'
// means instead.
func (c *comparison) sliceRows(t *report, s slicing.Compared, k marks) {
	name, queries := k.text(s.Slice), strconv.Itoa(s.Means[0].Counted)
	for _, p := range pairsOf(s) {
		t.rows = append(t.rows, []any{
			name, queries, k.text(c.systems[p.A].name), k.text(c.systems[p.B].name),
			decimals(s.Means[p.A].Mean, 4), decimals(s.Means[p.B].Mean, 4), signed(p.Difference, k), bounds(p.Interval, k),
			probability(p.Randomization.P), probability(p.Randomization.Holm), stars(p.Randomization.Holm), fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses),
		})
	}
	if s.Comparison != nil {
		return
	}
	for i, mean := range s.Means {
		t.rows = append(t.rows, []any{name, queries, k.text(c.systems[i].name), "", decimals(mean.Mean, 4), "", "", "", "", "", "", ""})
	}
}

func (c *comparison) sliceNote(m *measured) string {
	tests, found := 0, 0
	for _, s := range m.slices {
		for _, p := range pairsOf(s) {
			if tests++; stats.Significant(p.Randomization.Holm) {
				found++
			}
		}
	}
	if tests == 0 {
		return "No slice has two queries to compare on."
	}
	return fmt.Sprintf("Slices are exploratory: %d of %d differences are significant by %s at 0.05 (randomization test, Holm correction over all slices and pairs of this measure); confirm them on other queries.", found, tests, m.name)
}
