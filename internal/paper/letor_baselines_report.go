package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/tune"
)

// baselineSlack is how far below a published mean a row may be and still count as
// near: the standard error of such a mean is larger on every set.
const baselineSlack = 0.003

// standing says how a number stands to the one it is held against.
func standing(difference float64) string {
	switch {
	case math.IsNaN(difference):
		return ""
	case difference >= 0:
		return "at or above"
	case difference >= -baselineSlack:
		return fmt.Sprintf("within %.3f", baselineSlack)
	}
	return "below"
}

func (b baselineTable) report(o Options, columns []baselineColumn, missing []string) *Report {
	r := &Report{Name: "letor-baselines", Title: letorBaselinesExperiment().Title}
	r.fact("source", "LETOR 3.0 and 4.0, baselines run by Microsoft Research Asia; NDCG up to 5 of FRank and AdaRank-NDCG from BoltzRank's paper, which took them from there")
	r.fact("command", "%s", o.Command)
	r.fact("seed", "%d", o.Seed)
	for i := range columns {
		c := &columns[i]
		r.fact("data", "%s: %d folds, %d test queries", c.set, c.folds, c.queries)
	}
	if len(missing) > 0 {
		r.fact("not found", "%s", strings.Join(missing, ", "))
	}
	for _, v := range baselineConventions(columns) {
		r.fact("convention", "%s (%s)", v.convention.Name(), v.convention.Explanation())
	}
	r.fact("chosen by", "validation %s: rounds, C and all other settings", title(baselineSelection))
	r.fact("numbers", "means over folds; s.e. is the standard error of the mean over all test queries")
	r.fact("tools", "the authors' own programs (RankLib for coordinate ascent), tuned on the same folds by validation MAP; measured once")
	for i := range columns {
		c := &columns[i]
		r.Tables = append(r.Tables, b.mapTable(c))
		for k := range c.views {
			r.Tables = append(r.Tables, b.ndcgTable(c, &c.views[k]))
		}
	}
	r.Tables = append(r.Tables, b.grids(columns), b.chosen(columns))
	r.Sheets = []Sheet{b.sheet(columns), b.choices(columns)}
	for i := range columns {
		p := b.plot(&columns[i])
		if i > 0 {
			p.Name = strings.ToLower(columns[i].set)
		}
		r.Plots = append(r.Plots, p)
	}
	b.claim(r, columns, o.Seed)
	b.notes(r, columns)
	return r
}

// baselineConventions returns one view for every convention that occurs.
func baselineConventions(columns []baselineColumn) []baselineView {
	var views []baselineView
	for i := range columns {
		for _, v := range columns[i].views {
			if !slices.ContainsFunc(views, func(o baselineView) bool { return o.convention.Name() == v.convention.Name() }) {
				views = append(views, v)
			}
		}
	}
	return views
}

// four prints a number as the published tables do, nothing for NaN.
func four(format string, v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// mapTable holds MAP against the published rows and the authors' programs.
func (b baselineTable) mapTable(c *baselineColumn) Table {
	t := Table{Title: "MAP on " + c.set, Left: 1,
		Columns: []string{"method", "ours", "s.e.", "published", "difference", "", "tool", "its MAP", "difference", ""}}
	v := &c.views[0]
	for i := range b.rows {
		name := b.rows[i].name
		ours, published := v.of(i, name, "map")
		row := []string{name, four("%.4f", ours), four("%.4f", v.values[i]["map"].deviation),
			four("%.4f", published), four("%+.4f", ours-published), standing(ours - published)}
		if tool := toolOf(name, c.set); tool != nil {
			its := tool.values["map"]
			row = append(row, tool.tool, four("%.4f", its), four("%+.4f", ours-its), standing(ours-its))
		} else {
			row = append(row, "", "", "", "")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ndcgTable has up to three lines a row: ours, the published and the difference.
func (b baselineTable) ndcgTable(c *baselineColumn, v *baselineView) Table {
	t := Table{Title: fmt.Sprintf("NDCG on %s, convention %s", c.set, v.convention.Name()), Columns: []string{"method", ""}, Left: 2}
	for _, m := range v.measures {
		t.Columns = append(t.Columns, title(m))
	}
	for i := range b.rows {
		name := b.rows[i].name
		ours, theirs, difference := []string{name, "ours"}, []string{"", "published"}, []string{"", "difference"}
		known := 0
		for _, m := range v.measures {
			value, published := v.of(i, name, m)
			if !math.IsNaN(published) {
				known++
			}
			ours, theirs = append(ours, four("%.4f", value)), append(theirs, four("%.4f", published))
			difference = append(difference, four("%+.4f", value-published))
		}
		t.Rows = append(t.Rows, ours)
		if known > 1 { // MAP alone is in the other table
			t.Rows = append(t.Rows, theirs, difference)
		}
	}
	return t
}

// claim holds every number of ours against the published one.
func (b baselineTable) claim(r *Report, columns []baselineColumn, seed uint64) {
	for i := range columns {
		c := &columns[i]
		for k := range c.views {
			v := &c.views[k]
			for at := range b.rows {
				for _, m := range v.measures {
					name := b.rows[at].name
					held := claimed{data: c.set, row: name, measure: title(m)}
					held.ours, held.published = v.of(at, name, m)
					if len(c.views) > 1 {
						held.data += ", " + v.convention.Name()
					}
					if why := baselineSets.otherData(c.set, c.queries); why != "" {
						r.claimNot(held, why)
						continue
					}
					r.claimMean(held, v.values[at][m].queries, seed)
				}
			}
		}
	}
}

// grids lists what was tried for every row.
func (b baselineTable) grids(columns []baselineColumn) Table {
	t := Table{Title: "settings tried: every combination", Columns: []string{"method", "training measure", "grid"}, Left: 3}
	for i := range b.rows {
		training := b.rows[i].training
		if training == "" {
			training = "-"
		}
		t.Rows = append(t.Rows, []string{b.rows[i].name, training, describeGrid(&columns[0].results[i].Entry)})
	}
	return t
}

// chosen lists what validation chose, for rows with a choice.
func (b baselineTable) chosen(columns []baselineColumn) Table {
	t := Table{Title: "settings chosen, fold by fold", Columns: []string{"data", "method", "chosen"}, Left: 3}
	b.each(columns, func(c *baselineColumn, name string, row *tune.Row) {
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

func (b baselineTable) each(columns []baselineColumn, visit func(c *baselineColumn, name string, row *tune.Row)) {
	for i := range columns {
		for k := range b.rows {
			visit(&columns[i], b.rows[k].name, &columns[i].results[k])
		}
	}
}

// sheet has one line for every number of ours.
func (b baselineTable) sheet(columns []baselineColumn) Sheet {
	s := Sheet{Columns: []string{"data", "convention", "method", "measure", "ours", "standard_error", "tie_neutral", "pooled", "published", "difference", "tool", "tool_value", "tool_difference"}}
	for i := range columns {
		c := &columns[i]
		for k := range c.views {
			v := &c.views[k]
			for at := range b.rows {
				for _, m := range v.measures {
					s.Rows = append(s.Rows, b.line(c, v, at, m))
				}
			}
		}
	}
	return s
}

func (b baselineTable) line(c *baselineColumn, v *baselineView, row int, m string) []any {
	name, value := b.rows[row].name, v.values[row][m]
	ours, published := v.of(row, name, m)
	line := []any{c.set, v.convention.Name(), name, m, ours, value.deviation, value.neutral, value.pooled, orNil(published), orNil(ours - published)}
	if tool := toolOf(name, c.set); tool != nil && v.convention == letor3 {
		if its, ok := tool.values[m]; ok {
			return append(line, tool.tool, its, ours-its)
		}
	}
	return append(line, nil, nil, nil)
}

func (b baselineTable) choices(columns []baselineColumn) Sheet {
	s := Sheet{Name: "chosen", Columns: []string{"data", "method", "fold", "settings", "validation"}}
	b.each(columns, func(c *baselineColumn, name string, row *tune.Row) {
		for i := range row.Folds {
			s.Rows = append(s.Rows, []any{c.set, name, row.Folds[i].Fold, describeChoice(row, &row.Folds[i]), row.Folds[i].Validation})
		}
	})
	return s
}

// plot sets MAP of ours, published and programs beside each other, of rows that
// have something beside them.
func (b baselineTable) plot(c *baselineColumn) Plot {
	p := Plot{Plot: svg.Plot{Title: "Baselines on " + c.set, Y: svg.Axis{Label: "MAP on test queries, mean over folds"}}}
	ours := svg.Series{Name: "ours", Kind: svg.Scatter}
	theirs := svg.Series{Name: "published", Kind: svg.Scatter}
	tools := svg.Series{Name: "the authors' program, tuned on the same folds", Kind: svg.Scatter}
	for i := range b.rows {
		name := b.rows[i].name
		value, published := c.views[0].of(i, name, "map")
		tool := toolOf(name, c.set)
		if math.IsNaN(published) && tool == nil && len(c.views[0].published) > 0 {
			continue
		}
		x := float64(len(p.X.Ticks))
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: x, Label: name})
		ours.X, ours.Y = append(ours.X, x), append(ours.Y, value)
		theirs.X, theirs.Y = append(theirs.X, x), append(theirs.Y, published)
		if tool != nil {
			tools.X, tools.Y = append(tools.X, x), append(tools.Y, tool.values["map"])
		}
	}
	p.X.Min, p.X.Max = -0.5, float64(len(p.X.Ticks))-0.5
	p.Series = []svg.Series{theirs}
	if len(tools.X) > 0 {
		p.Series = append(p.Series, tools)
	}
	p.Series = append(p.Series, ours)
	return p
}

// notes counts the rows above, near and below the published ones, and adds the caveats of
// the tables.
func (b baselineTable) notes(r *Report, columns []baselineColumn) {
	var published, tools []held
	for i := range columns {
		c := &columns[i]
		for k := range b.rows {
			name := b.rows[k].name
			ours, its := c.views[0].of(k, name, "map")
			published = append(published, held{c.set + " " + name, ours - its})
			tool := toolOf(name, c.set)
			if tool == nil {
				continue
			}
			for _, m := range slices.Sorted(maps.Keys(tool.values)) {
				ours, _ := c.views[0].of(k, name, m)
				tools = append(tools, held{c.set + " " + tool.tool + " " + title(m), ours - tool.values[m]})
			}
		}
	}
	summarise(r, "MAP against the published rows", published)
	summarise(r, "against the authors' own programs", tools)
	for i := range columns {
		c := &columns[i]
		if set, ok := baselineSets.named(c.set); !ok {
			r.note("%s is none of LETOR's sets: there is nothing published to hold it against.", c.set)
		} else if set.queries != c.queries {
			r.note("%s has %d queries here, the published set %d: these are other data of that name.", c.set, c.queries, set.queries)
		}
	}
	b.each(columns, func(c *baselineColumn, name string, row *tune.Row) {
		if at := row.AtEdge(); len(at) > 0 {
			r.note("%s, %s: in some fold the lowest or highest tried is chosen of %s.", c.set, name, strings.Join(at, ", "))
		}
	})
	for i := range columns {
		b.noteTies(r, &columns[i])
	}
}

// noteTies reports how the order of tied documents changes the rows.
func (b baselineTable) noteTies(r *Report, c *baselineColumn) {
	var tied []string
	for i := range b.rows {
		if n := c.results[i].TiedQueries(); n > 0 {
			tied = append(tied, fmt.Sprintf("%s (%d queries) %.4f", b.rows[i].name, n, c.views[0].values[i]["map"].neutral))
		}
	}
	if tied != nil {
		r.note("%s: rows that tie more than 1 %% of the differently graded pairs of a test query, and their MAP with tied documents in random order: %s.", c.set, strings.Join(tied, ", "))
	}
}

// held is a row's difference to what it is held against; NaN where there is nothing.
type held struct {
	name       string
	difference float64
}

// summarise counts the rows at or above, near and below.
func summarise(r *Report, what string, rows []held) {
	names := make(map[string][]string)
	all := 0
	for _, h := range rows {
		if s := standing(h.difference); s != "" {
			names[s] = append(names[s], fmt.Sprintf("%s (%+.4f)", h.name, h.difference))
			all++
		}
	}
	if all == 0 {
		return
	}
	parts := []string{fmt.Sprintf("%s: %d of %d at or above", what, len(names[standing(0)]), all)}
	for _, s := range []string{standing(-baselineSlack), standing(-1)} {
		if len(names[s]) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s: %s", len(names[s]), s, strings.Join(names[s], ", ")))
		} else {
			parts = append(parts, "none "+s)
		}
	}
	r.note("%s.", strings.Join(parts, "; "))
}
