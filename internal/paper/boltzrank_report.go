package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/tune"
)

func (b boltzRankTable) report(o Options, columns []boltzRankColumn, missing []string) *Report {
	r := &Report{Name: "boltzrank", Title: boltzRankExperiment().Title}
	r.fact("source", "%s", boltzRankSource)
	r.fact("command", "%s", o.Command)
	r.fact("seed", "%d", o.Seed)
	r.fact("convention", "%s (%s)", letor3.Name(), letor3.Explanation())
	for _, c := range columns {
		r.fact("data", "%s: %d folds, %d test queries", c.set, c.folds, c.queries)
	}
	if len(missing) > 0 {
		r.fact("not found", "%s", strings.Join(missing, ", "))
	}
	r.fact("chosen by", "validation %s, settings and epochs alike", title(boltzRankSelection))
	r.fact("numbers", "means over folds; difference is ours less the paper's")
	paper := publishedBoltzRank()
	for i := range columns {
		c := &columns[i]
		r.Tables = append(r.Tables, b.table(c, paper[c.set]))
	}
	r.Tables = append(r.Tables, b.grids(columns), b.chosen(columns))
	r.Sheets = []Sheet{b.sheet(columns, paper), b.choices(columns)}
	for i := range columns {
		p := b.plot(&columns[i], paper[columns[i].set])
		if i > 0 {
			p.Name = strings.ToLower(columns[i].set)
		}
		r.Plots = append(r.Plots, p)
	}
	b.claim(r, columns, paper, o.Seed)
	b.notes(r, columns)
	return r
}

// value returns our value of a row, NaN if there is none.
func (c *boltzRankColumn) value(name, m string) float64 {
	if row := c.ours[name]; row != nil {
		for _, s := range row.Measures {
			if s.Measure.Name() == m {
				return s.Mean
			}
		}
	}
	return math.NaN()
}

// printed returns the paper's number, NaN if it has none.
func printed(paper map[string]map[string]float64, name, m string) float64 {
	if v, ok := paper[name][m]; ok {
		return v
	}
	return math.NaN()
}

// table has up to three lines a row: ours, the paper's and the difference.
func (b boltzRankTable) table(c *boltzRankColumn, paper map[string]map[string]float64) Table {
	t := Table{Title: c.set, Columns: []string{"method", ""}, Left: 2}
	for _, m := range boltzRankMeasures {
		t.Columns = append(t.Columns, title(m))
	}
	for i := range b.rows {
		name := b.rows[i].name
		ours, theirs := []string{name, "ours"}, []string{name, "paper"}
		difference := []string{"", "difference"}
		for _, m := range boltzRankMeasures {
			v, p := c.value(name, m), printed(paper, name, m)
			ours, theirs = append(ours, fmt.Sprintf("%.4f", v)), append(theirs, fmt.Sprintf("%.4f", p))
			difference = append(difference, fmt.Sprintf("%+.4f", v-p))
		}
		computed, known := c.ours[name] != nil, paper[name] != nil
		if computed {
			t.Rows = append(t.Rows, ours)
			theirs[0] = ""
		}
		if known {
			t.Rows = append(t.Rows, theirs)
		}
		if computed && known {
			t.Rows = append(t.Rows, difference)
		}
	}
	return t
}

// claim holds every number of ours against the paper's.
func (b boltzRankTable) claim(r *Report, columns []boltzRankColumn, paper map[string]map[string]map[string]float64, seed uint64) {
	b.each(columns, func(c *boltzRankColumn, name string, row *tune.Row) {
		for _, m := range boltzRankMeasures {
			held := claimed{data: c.set, row: name, measure: title(m), published: printed(paper[c.set], name, m), ours: c.value(name, m)}
			if why := letorSets.otherData(c.set, c.queries); why != "" {
				r.claimNot(held, why)
				continue
			}
			r.claimMean(held, perQuery(row, m), seed)
		}
	})
}

// each visits the rows that were computed.
func (b boltzRankTable) each(columns []boltzRankColumn, visit func(c *boltzRankColumn, name string, row *tune.Row)) {
	for i := range columns {
		for k := range b.rows {
			if row := columns[i].ours[b.rows[k].name]; row != nil {
				visit(&columns[i], b.rows[k].name, row)
			}
		}
	}
}

// grids lists what was tried for every row.
func (b boltzRankTable) grids(columns []boltzRankColumn) Table {
	t := Table{Title: "settings tried: every combination", Columns: []string{"method", "training measure", "grid"}, Left: 3}
	b.each(columns[:1], func(_ *boltzRankColumn, name string, row *tune.Row) {
		training := "-"
		if row.Entry.Measure != nil {
			training = row.Entry.Measure.Name()
		}
		t.Rows = append(t.Rows, []string{name, training, describeGrid(&row.Entry)})
	})
	return t
}

// chosen lists what validation chose, for rows with a choice.
func (b boltzRankTable) chosen(columns []boltzRankColumn) Table {
	t := Table{Title: "settings chosen, fold by fold", Columns: []string{"data", "method", "chosen"}, Left: 3}
	b.each(columns, func(c *boltzRankColumn, name string, row *tune.Row) {
		if len(row.Varied()) == 0 {
			return
		}
		var folds []string
		for i := range row.Folds {
			folds = append(folds, describeChoice(row, &row.Folds[i]))
		}
		t.Rows = append(t.Rows, []string{c.set, name, strings.Join(folds, " | ")})
	})
	return t
}

// sheet has one line for every number, ours or the paper's.
func (b boltzRankTable) sheet(columns []boltzRankColumn, paper map[string]map[string]map[string]float64) Sheet {
	s := Sheet{Columns: []string{"data", "method", "measure", "ours", "tie_neutral", "pooled", "paper", "difference"}}
	for i := range columns {
		c := &columns[i]
		for k := range b.rows {
			name := b.rows[k].name
			for at, m := range boltzRankMeasures {
				v, p := c.value(name, m), printed(paper[c.set], name, m)
				neutral, pooled := math.NaN(), math.NaN()
				if row := c.ours[name]; row != nil {
					neutral, pooled = row.Measures[at].TieNeutral, row.Measures[at].Pooled
				}
				if !math.IsNaN(v) || !math.IsNaN(p) {
					s.Rows = append(s.Rows, []any{c.set, name, m, orNil(v), orNil(neutral), orNil(pooled), orNil(p), orNil(v - p)})
				}
			}
		}
	}
	return s
}

// choices holds every setting that was tried, by fold, and which was chosen.
func (b boltzRankTable) choices(columns []boltzRankColumn) Sheet {
	s := Sheet{Name: "tried", Columns: []string{"data", "method", "fold", "settings", "validation", "chosen"}}
	b.each(columns, func(c *boltzRankColumn, name string, row *tune.Row) {
		for i := range row.Folds {
			f := &row.Folds[i]
			chosen := f.Chosen.String()
			for k, v := range row.Entry.Settings {
				mark := 0
				if v.String() == chosen {
					mark = 1
				}
				s.Rows = append(s.Rows, []any{c.set, name, f.Fold, describeValues(row, v), f.Tried[k], mark})
			}
		}
	})
	return s
}

// describeValues returns what a setting says of the hyperparameters that were
// varied.
func describeValues(row *tune.Row, v tune.Setting) string {
	var parts []string
	for _, name := range row.Varied() {
		parts = append(parts, name+"="+v.Text(name))
	}
	return strings.Join(parts, " ")
}

// plot shows NDCG over the rank it is cut off at: of our rows, and of the paper's
// BoltzRank.
func (b boltzRankTable) plot(c *boltzRankColumn, paper map[string]map[string]float64) Plot {
	p := Plot{Plot: svg.Plot{
		Title: "NDCG@k on the test queries of " + c.set,
		X:     svg.Axis{Label: "k"},
		Y:     svg.Axis{Label: "NDCG@k, mean over folds"},
	}}
	line := func(name string, value func(m string) float64) {
		s := svg.Series{Name: name, Kind: svg.LineMarkers}
		for _, m := range boltzRankMeasures {
			if k, ok := strings.CutPrefix(m, "ndcg@"); ok {
				s.X, s.Y = append(s.X, number(k)), append(s.Y, value(m))
			}
		}
		p.Series = append(p.Series, s)
	}
	for k := 1; k <= 5; k++ {
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: float64(k), Label: strconv.Itoa(k)})
	}
	for i := range b.rows {
		name := b.rows[i].name
		if c.ours[name] != nil && !b.rows[i].unplotted {
			line(name, func(m string) float64 { return c.value(name, m) })
		}
	}
	for _, name := range []string{"BoltzRank1", "BoltzRank2"} {
		if paper[name] != nil {
			line(name+", paper", func(m string) float64 { return printed(paper, name, m) })
		}
	}
	return p
}

// notes adds the caveats of the tables.
func (b boltzRankTable) notes(r *Report, columns []boltzRankColumn) {
	var lacking []string
	for i := range b.rows {
		if columns[0].ours[b.rows[i].name] == nil {
			lacking = append(lacking, b.rows[i].name)
		}
	}
	if lacking != nil {
		r.note("With the paper's numbers alone, because there is no such method here: %s.", strings.Join(lacking, ", "))
	}
	r.note("The paper gives neither λ, nor how rankings are drawn from the grades, nor the networks' sizes, rates and epochs; they are this project's choice. The paper's ListNet is LETOR's.")
	for _, c := range columns {
		switch published, _ := knownSet(c.set); {
		case !c.known:
			r.note("The paper has no numbers for %s.", c.set)
		case c.queries != published.queries:
			r.note("%s has %d queries here, the published set %d: these are other data of that name.", c.set, c.queries, published.queries)
		}
	}
	b.each(columns, func(c *boltzRankColumn, name string, row *tune.Row) {
		if at := row.AtEdge(); len(at) > 0 {
			r.note("%s, %s: in some fold the lowest or highest tried is chosen of %s.", c.set, name, strings.Join(at, ", "))
		}
	})
}
