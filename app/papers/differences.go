package papers

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/eval/stats"
)

// pair names two rows: the first is compared with the second.
type pair struct{ row, than string }

// differences is a table and a sheet of how far rows are above others on the same test
// queries, over all seeds, with 95 % intervals. Stars are for differences that are significant
// at 5 % after Holm's correction over the table.
type differences struct {
	title    func(*column, *view) string
	name     string // of the sheet
	pairs    []pair
	measures []string // nil for the view's
	main     bool     // the table belongs on the page of all experiments
}

// difference is one of two rows in a measure.
type difference struct {
	stats.Difference
	holm          float64
	queries       int
	runs, against int // numbers of seeds
}

func (d differences) add(s *results, r *Report) {
	sheet := Sheet{Name: d.name, Columns: []string{"data", "reading", "convention", "method", "than", "measure", "difference", "error", "low", "high", "p", "holm", "queries", "runs", "runs_than"}}
	for _, c := range s.columns {
		for k := range c.views {
			v := &c.views[k]
			found := d.find(s, v)
			r.Tables = append(r.Tables, d.table(s, c, v, found))
			for i, line := range found {
				if !d.pairs[i].isFor(s, c) {
					continue
				}
				for j, x := range line {
					sheet.Rows = append(sheet.Rows, []any{
						c.name, c.reading.name, v.convention.Name(), d.pairs[i].row, d.pairs[i].than, d.of(v)[j],
						orNil(x.Mean), orNil(x.Error), orNil(x.Interval.Low), orNil(x.Interval.High), orNil(x.P), orNil(x.holm), x.queries, x.runs, x.against,
					})
				}
			}
		}
	}
	r.Sheets = append(r.Sheets, sheet)
}

// of returns the measures of the table.
func (d *differences) of(v *view) []string {
	if d.measures != nil {
		return d.measures
	}
	return v.measures
}

// find computes the differences of a view, a line for every pair.
func (d *differences) find(s *results, v *view) [][]difference {
	found := make([][]difference, len(d.pairs))
	var all []*difference
	var p []float64
	for i, rows := range d.pairs {
		found[i] = make([]difference, len(d.of(v)))
		for j, m := range d.of(v) {
			found[i][j] = v.difference(s.rowNamed(rows.row), s.rowNamed(rows.than), m)
			if x := &found[i][j]; !math.IsNaN(x.P) {
				all, p = append(all, x), append(p, x.P)
			}
		}
	}
	for i, corrected := range stats.Holm(p) {
		all[i].holm = corrected
	}
	return found
}

func (d *differences) table(s *results, c *column, v *view, found [][]difference) Table {
	t := Table{Title: d.title(c, v), Left: 1, Main: d.main, Columns: []string{"difference"}}
	for _, m := range d.of(v) {
		t.Columns = append(t.Columns, title(m))
	}
	for i, line := range found {
		if !d.pairs[i].isFor(s, c) {
			continue
		}
		cells := []string{d.pairs[i].row + " − " + d.pairs[i].than}
		for _, x := range line {
			cells = append(cells, x.text())
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// isFor reports whether both rows are for a column's set.
func (p pair) isFor(s *results, c *column) bool {
	for _, name := range []string{p.row, p.than} {
		if at := s.rowNamed(name); at >= 0 && s.rows[at].on != nil && !s.rows[at].on(c) {
			return false
		}
	}
	return true
}

// text is "+0.0012 (-0.0031 … +0.0055)" and a star if it is significant.
func (x *difference) text() string {
	if math.IsNaN(x.Mean) {
		return ""
	}
	star := " "
	if x.holm < stats.Alpha {
		star = "*"
	}
	return fmt.Sprintf("%+.4f (%+.4f … %+.4f)%s", x.Mean, x.Interval.Low, x.Interval.High, star)
}

// difference returns how far row a is above row b in a measure; numbers that are NaN if that
// is not known.
func (v *view) difference(a, b int, m string) difference {
	if a < 0 || b < 0 {
		return unknownDifference()
	}
	if v.strata != nil {
		return v.averaged(a, b, m)
	}
	return between(v.runs(a, m), v.runs(b, m))
}

// between compares runs. Queries without a value in some run are left out.
func between(first, second [][]float64) difference {
	all := append(append([][]float64(nil), first...), second...)
	first, second = known(first, all), known(second, all)
	found, err := stats.Between(first, second)
	if err != nil { // too few queries or a row without runs
		return unknownDifference()
	}
	return difference{Difference: found, holm: found.P, queries: len(first[0]), runs: len(first), against: len(second)}
}

func unknownDifference() difference {
	nan := math.NaN()
	return difference{Difference: stats.Difference{Mean: nan, Error: nan, P: nan, Interval: stats.Interval{Low: nan, High: nan}}, holm: nan}
}

// runs returns a row's values on the test queries, a list a seed.
func (v *view) runs(row int, m string) [][]float64 {
	var runs [][]float64
	for _, values := range v.values[row] {
		runs = append(runs, values[m].each)
	}
	return runs
}

// known returns runs without the queries on which one of all has no value.
func known(runs, all [][]float64) [][]float64 {
	kept := make([][]float64, len(runs))
	for r, run := range runs {
		for q, x := range run {
			lacking := false
			for _, other := range all {
				lacking = lacking || math.IsNaN(other[q])
			}
			if !lacking {
				kept[r] = append(kept[r], x)
			}
		}
	}
	return kept
}
