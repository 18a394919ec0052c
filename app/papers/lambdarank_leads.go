package papers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/svg"
)

// standInOrders tests a paper's orders on other data than the paper's, set by set. They are
// no verdicts on what was published, and do not count as such.
type standInOrders struct {
	title  string
	orders []order
}

func (n standInOrders) add(s *results, r *Report) {
	t := Table{Title: n.title, Left: 2, Main: true, Columns: []string{"data", "", "higher", "above", "below", "verdict"}}
	sheet := Sheet{Name: "orders", Columns: []string{"data", "order", "cells", "higher", "above", "below", "verdict"}}
	for _, c := range s.columns {
		alone := *s
		alone.columns = []*column{c}
		for i := range n.orders {
			found := alone.orderClaim(&n.orders[i], 0)
			t.Rows = append(t.Rows, []string{
				c.name, found.Text, fmt.Sprintf("%d of %d", found.Higher, found.Cells), strconv.Itoa(found.Above), strconv.Itoa(found.Below), string(found.Verdict),
			})
			sheet.Rows = append(sheet.Rows, []any{c.name, found.Text, found.Cells, found.Higher, found.Above, found.Below, string(found.Verdict)})
		}
	}
	r.Tables, r.Sheets = append(r.Tables, t), append(r.Sheets, sheet)
}

// leadContrasts compares leads with each other: of each pair at the first and at the last
// measure, and, at these two, of the last pair and the first.
type leadContrasts struct{ pairs []pair }

// contrast is a difference of two leads.
type contrast struct {
	name string
	difference
}

func (l leadContrasts) add(s *results, r *Report) {
	t := Table{Title: "where the lead is larger: differences of leads", Left: 1, Columns: []string{"difference"}}
	sheet := Sheet{Name: "contrasts", Columns: []string{"data", "contrast", "difference", "error", "low", "high", "p", "holm"}}
	for k, c := range s.columns {
		t.Columns = append(t.Columns, c.name)
		for i, x := range l.find(s, &c.views[0]) {
			if k == 0 {
				t.Rows = append(t.Rows, []string{x.name})
			}
			t.Rows[i] = append(t.Rows[i], x.text())
			sheet.Rows = append(sheet.Rows, []any{c.name, x.name, orNil(x.Mean), orNil(x.Error), orNil(x.Interval.Low), orNil(x.Interval.High), orNil(x.P), orNil(x.holm)})
		}
	}
	r.Tables, r.Sheets = append(r.Tables, t), append(r.Sheets, sheet)
}

// find computes the contrasts of a view, with Holm's correction over them.
func (l leadContrasts) find(s *results, v *view) []contrast {
	first, last := s.measures[0], s.measures[len(s.measures)-1]
	runs := func(name, m string) [][]float64 { return v.runs(s.rowNamed(name), m) }
	var found []contrast
	for _, p := range l.pairs {
		found = append(found, contrastOf(fmt.Sprintf("%s: lead at %s less at %s", p.row, title(first), title(last)),
			lessRuns(runs(p.row, first), runs(p.row, last)), lessRuns(runs(p.than, first), runs(p.than, last))))
	}
	a, b := l.pairs[len(l.pairs)-1], l.pairs[0]
	for _, m := range []string{first, last} {
		found = append(found, contrastOf(fmt.Sprintf("%s: lead of %s less of %s", title(m), a.row, b.row),
			lessRuns(runs(a.row, m), runs(b.row, m)), lessRuns(runs(a.than, m), runs(b.than, m))))
	}
	p := make([]float64, len(found))
	for i := range found {
		p[i] = found[i].P
	}
	for i, corrected := range stats.Holm(p) {
		found[i].holm = corrected
	}
	return found
}

func contrastOf(name string, a, b [][]float64) contrast {
	d, err := stats.Between(a, b)
	if err != nil {
		panic(err) // both have all queries and seeds of one study
	}
	return contrast{name, difference{Difference: d, queries: len(a[0]), runs: len(a), against: len(b)}}
}

// lessRuns returns a less b, run by run and query by query.
func lessRuns(a, b [][]float64) [][]float64 {
	less := make([][]float64, min(len(a), len(b)))
	for r := range less {
		less[r] = slices.Clone(a[r])
		for q := range less[r] {
			less[r][q] -= b[r][q]
		}
	}
	return less
}

// leadCurves shows leads by the rank that NDCG is cut off at, with a stroke from end to end
// of each interval, set by set.
type leadCurves struct {
	title string // with %s for the set
	pairs []pair
}

func (l leadCurves) add(s *results, r *Report) {
	for i, c := range s.columnsOf(0) {
		p := Plot{Name: "lead", Plot: svg.Plot{
			Title: fmt.Sprintf(l.title, c.name),
			X:     svg.Axis{Label: "truncation level", Ticks: rankTicks(len(s.measures))},
			Y:     svg.Axis{Label: "difference of NDCG"},
		}}
		if i > 0 {
			p.Name += "-" + strings.ToLower(c.name)
		}
		for k, rows := range l.pairs {
			curve := svg.Series{Name: rows.row + " − " + rows.than, Kind: svg.Line}
			for j, m := range s.measures {
				d := c.views[0].difference(s.rowNamed(rows.row), s.rowNamed(rows.than), m)
				at := float64(j+1) + float64(0.1*(float64(k)-float64(0.5*float64(len(l.pairs)-1))))
				curve.X = append(curve.X, at, at, at, at)
				curve.Y = append(curve.Y, d.Mean, d.Interval.High, d.Interval.Low, d.Mean)
			}
			p.Series = append(p.Series, curve)
		}
		p.Series = append(p.Series, svg.Series{Kind: svg.Line, X: []float64{0.8, float64(len(s.measures)) + 0.2}, Y: []float64{0, 0}})
		r.Plots = append(r.Plots, p)
	}
}

// ratesChosen counts how often each rate was chosen, over folds and seeds; a rate that was not
// tried has no number.
var ratesChosen partFunc = func(s *results, r *Report) {
	t := Table{Title: "how often each rate was chosen, over folds and seeds", Left: 2, Columns: []string{"data", "method"}}
	var rates []string
	for p := range s.tunings(nil) {
		for _, rate := range triedValues(&p.tuned().Entry, "rate") {
			if !slices.Contains(rates, rate) {
				rates = append(rates, rate)
			}
		}
	}
	slices.SortFunc(rates, func(a, b string) int { return cmp.Compare(parse(a), parse(b)) })
	t.Columns = append(t.Columns, rates...)
	for _, c := range s.columns {
		for i, seeds := range c.rows {
			tried, chosen := triedValues(&seeds[0].Entry, "rate"), make(map[string]int)
			for _, tuned := range seeds {
				for k := range tuned.Folds {
					chosen[tuned.Folds[k].Chosen.Text("rate")]++
				}
			}
			line := []string{c.name, s.rows[i].name}
			for _, rate := range rates {
				count := ""
				if slices.Contains(tried, rate) {
					count = strconv.Itoa(chosen[rate])
				}
				line = append(line, count)
			}
			t.Rows = append(t.Rows, line)
		}
	}
	r.Tables = append(r.Tables, t)
}
