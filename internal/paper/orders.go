package paper

import (
	"fmt"
	"slices"
)

// order is a claim that one group of rows is above another, to be counted over the cells of
// a table. Groups are compared by the best of each, or by the worst of the first.
type order struct {
	text         string // as printed
	better, than []string
	worst        bool
}

// tableCell returns the number of a row, by its name, in one column and measure.
type tableCell func(row string) float64

// count tells in how many cells the order holds, and in how many with equal ones: "14 of 32 (15)".
func (o *order) count(cells []tableCell) string {
	held, tied := 0, 0
	for _, at := range cells {
		of := func(rows []string) []float64 {
			values := make([]float64, len(rows))
			for i, name := range rows {
				values[i] = at(name)
			}
			return values
		}
		better, than := slices.Max(of(o.better)), slices.Max(of(o.than))
		if o.worst {
			better = slices.Min(of(o.better))
		}
		switch {
		case better > than:
			held++
		case better == than:
			tied++
		}
	}
	text := fmt.Sprintf("%d of %d", held, len(cells))
	if tied > 0 {
		text += fmt.Sprintf(" (%d)", held+tied)
	}
	return text
}

// orderCounts is a table of what a paper counts in its text, the same counted over its
// table, over those columns of it that there are of ours for, and over ours.
type orderCounts struct {
	title   string
	orders  []order
	text    func() map[string]string // the paper's counts, by the orders' texts
	printed func() []tableCell       // the paper's table
}

func (n orderCounts) add(s *results, r *Report) {
	if !s.comparable() {
		return
	}
	t := Table{Title: n.title, Left: 1, Main: true, Columns: []string{"", "paper's text", "paper's table", "paper's table, columns at hand"}}
	for _, reading := range s.readings {
		t.Columns = append(t.Columns, "ours, "+reading.name+" data")
	}
	text := n.text()
	for _, o := range n.orders {
		line := []string{o.text, text[o.text], o.count(n.printed()), o.count(s.paperCells(s.withAverage(0)))}
		for k := range s.readings {
			line = append(line, o.count(s.ourCells(s.withAverage(k))))
		}
		t.Rows = append(t.Rows, line)
	}
	r.Tables = append(r.Tables, t)
}

// ourCells and paperCells are those of some columns, ours and the published ones.
func (s *results) ourCells(columns []*column) []tableCell {
	return cellsOf(s.measures, columns, func(v *view, row, m string) float64 { return s.ours(v, row, m) })
}

func (s *results) paperCells(columns []*column) []tableCell {
	return cellsOf(s.measures, columns, func(v *view, row, m string) float64 { return v.published.of(row, m) })
}

func cellsOf(measures []string, columns []*column, value func(v *view, row, m string) float64) []tableCell {
	var cells []tableCell
	for _, m := range measures {
		for _, c := range columns {
			cells = append(cells, func(row string) float64 { return value(&c.views[0], row, m) })
		}
	}
	return cells
}
