package papers

import (
	"fmt"
	"math"
)

// blocks is a table a set and convention with up to three lines a row: ours, the published
// numbers and the differences.
type blocks struct {
	title  func(*column, *view) string
	rows   among
	ours   string // beside a row's name, "" for nothing
	theirs string // of the published line
	less   string // of the differences
	least  int    // published numbers that a row must have for its second and third line
}

func (b blocks) add(s *results, r *Report) {
	for _, c := range s.columns {
		for k := range c.views {
			r.Tables = append(r.Tables, b.table(s, c, &c.views[k]))
		}
	}
}

func (b blocks) table(s *results, c *column, v *view) Table {
	t := Table{Title: b.title(c, v), Columns: []string{"method"}, Left: 1}
	label := func(name, word string) []string { return []string{name + word} }
	if b.ours != "" {
		t.Columns, t.Left = append(t.Columns, ""), 2
		label = func(name, word string) []string { return []string{name, word} }
	}
	for _, m := range v.measures {
		t.Columns = append(t.Columns, title(m))
	}
	for i := range s.rows {
		row := &s.rows[i]
		if b.rows != nil && !b.rows(row) {
			continue
		}
		ours, theirs, less := label(row.name, b.ours), label("", b.theirs), label("", b.less)
		known := 0
		for _, m := range v.measures {
			x, p := v.mean(i, m), v.published.of(row.name, m)
			if !math.IsNaN(p) && c.reading.incomparable == "" {
				known++
			}
			ours, theirs, less = append(ours, four("%.4f", x)), append(theirs, four("%.4f", p)), append(less, four("%+.4f", x-p))
		}
		shown := known >= max(1, b.least)
		switch {
		case len(v.values[i]) > 0:
			t.Rows = append(t.Rows, ours)
			if shown {
				t.Rows = append(t.Rows, theirs, less)
			}
		case shown:
			theirs[0] = row.name
			t.Rows = append(t.Rows, theirs)
		}
	}
	return t
}

// four prints a number as published tables do, nothing for NaN.
func four(format string, v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// grids lists what was tried for every row.
var grids partFunc = func(s *results, r *Report) {
	t := Table{Title: "settings tried: every combination", Columns: []string{"method", "training measure", "grid"}, Left: 3}
	for p := range s.tunings(nil) {
		if p.column != s.columns[0] {
			break
		}
		if p.seed > 0 {
			continue
		}
		training := "-"
		if e := &p.tuned().Entry; e.Measure != nil {
			training = e.Measure.Name()
		}
		t.Rows = append(t.Rows, []string{p.row().name, training, describeGrid(&p.tuned().Entry)})
	}
	r.Tables = append(r.Tables, t)
}

// chosen lists what validation chose, for rows with a choice.
var chosen partFunc = func(s *results, r *Report) {
	t := Table{Title: "settings chosen, fold by fold", Columns: []string{"data", "method", "chosen"}, Left: 3}
	if len(s.readings) > 1 {
		t.Columns, t.Left = []string{"data", "reading", "method", "chosen"}, 4
	}
	for p := range s.tunings(nil) {
		if len(p.tuned().Varied()) == 0 {
			continue
		}
		line := []string{p.column.name}
		if len(s.readings) > 1 {
			line = append(line, p.column.reading.name)
		}
		name := p.row().name
		if p.seed > 0 {
			name += fmt.Sprintf(", seed %d", p.results.options.Seed+uint64(p.seed))
		}
		t.Rows = append(t.Rows, append(line, name, chosenByFold(p.tuned())))
	}
	r.Tables = append(r.Tables, t)
}
