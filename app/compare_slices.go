package app

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
)

// compareSlices compares the systems by a measure on every slice; nil without --by.
func (c *comparison) compareSlices(m measure.Measure, config stats.Config) ([]slicing.Compared, error) {
	if c.divisions == nil {
		return nil, nil
	}
	return slicing.Compare(c.perQuery(m), c.systems[0].runs[0].result.Weights(), c.divisions, config)
}

// comparedSliceJSON is a comparison on a slice; without pairs where fewer than two queries count.
type comparedSliceJSON struct {
	By      string             `json:"by"`
	Slice   string             `json:"slice"`
	NoValue bool               `json:"no_value,omitempty"` // the queries have none
	Queries int                `json:"queries"`
	Systems []slicedSystemJSON `json:"systems"`
	Pairs   []slicedPairJSON   `json:"pairs,omitempty"`
}

type slicedSystemJSON struct {
	Name string `json:"name"`
	sliceMeanJSON
}

// slicedPairJSON has p values that are corrected over the pairs and slices of a measure.
type slicedPairJSON struct {
	A             string      `json:"a"`
	B             string      `json:"b"`
	Difference    float64     `json:"difference"`
	CI            [2]any      `json:"ci"`
	Claim         stats.Claim `json:"claim"`
	T             tJSON       `json:"t"`
	Randomization testJSON    `json:"randomization"`
	Bootstrap     testJSON    `json:"bootstrap"`
	Wins          int         `json:"wins"`
	Ties          int         `json:"ties"`
	Losses        int         `json:"losses"`
}

func (c *comparison) slicesJSON(m *measured) []comparedSliceJSON {
	var all []comparedSliceJSON
	for _, s := range m.slices {
		j := comparedSliceJSON{By: s.By, Slice: s.Slice, NoValue: s.None, Queries: s.Queries}
		for i, mean := range s.Means {
			j.Systems = append(j.Systems, slicedSystemJSON{c.systems[i].name, meanJSON(mean)})
		}
		for _, p := range pairsOf(s) {
			j.Pairs = append(j.Pairs, slicedPairJSON{
				A: c.systems[p.A].name, B: c.systems[p.B].name, Difference: p.Difference, CI: ends(p.Interval), Claim: p.Claim,
				T:             tJSON{number(p.T.T), p.T.DF, testJSON{p.T.P, p.T.Holm}},
				Randomization: testJSON{p.Randomization.P, p.Randomization.Holm},
				Bootstrap:     testJSON{p.Bootstrap.P, p.Bootstrap.Holm},
				Wins:          p.Wins, Ties: p.Ties, Losses: p.Losses,
			})
		}
		all = append(all, j)
	}
	return all
}

// pairsOf returns what was tested on a slice, nothing where there were too few queries.
func pairsOf(s slicing.Compared) []stats.Pair {
	if s.Comparison == nil {
		return nil
	}
	return s.Pairs
}

// slicesCSV adds the slices to the rows of pairs: the same columns, and the key and the slice behind them.
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
				cells = append(cells, []any{
					m.name, a.Counted, c.systems[p.A].name, c.systems[p.B].name,
					a.Mean, number(a.Interval.Low), number(a.Interval.High), b.Mean, number(b.Interval.Low), number(b.Interval.High),
					p.Difference, number(p.Interval.Low), number(p.Interval.High),
					number(p.T.T), p.T.DF, p.T.P, p.T.Holm, p.Randomization.P, p.Randomization.Holm, nil, p.Bootstrap.P, p.Bootstrap.Holm,
					number(p.CohenD), number(p.HedgesG), p.Wins, p.Ties, p.Losses, p.Detectable, string(p.Claim), s.By, s.Slice,
				})
			}
		}
	}
	return columns, cells
}

// sliceSheets are the tables of slices, one a key.
func (c *comparison) sliceSheets(m *measured, k marks) []report {
	var all []report
	at := 0
	for _, d := range c.divisions {
		t := report{title: "by " + d.By, columns: []string{"slice", "queries", "a", "b", "mean a", "mean b", "a " + k.minus + " b", "95 % interval", "rand.", "Holm", "", "W/T/L"}, keys: 4}
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

// sliceRows adds the pairs of a slice, or the means of the systems alone where too few queries count.
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

// sliceNote says what is significant on slices, and what that is worth.
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
