package papers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/svg"
)

// baselineTables has for every set MAP, and then NDCG in all conventions.
func baselineTables(s *results, r *Report) {
	ndcg := blocks{
		title: func(c *column, v *view) string {
			return fmt.Sprintf("NDCG on %s, convention %s", c.name, v.convention.Name())
		},
		ours: "ours", theirs: "published", less: "difference", least: 2, // MAP alone is in the other table
	}
	for _, c := range s.columns {
		r.Tables = append(r.Tables, baselineMAP(s, c))
		for k := range c.views {
			r.Tables = append(r.Tables, ndcg.table(s, c, &c.views[k]))
		}
	}
}

// baselineMAP holds MAP against the published rows and the authors' programs.
func baselineMAP(s *results, c *column) Table {
	t := Table{Title: "MAP on " + c.name, Left: 1,
		Columns: []string{"method", "ours", "s.e.", "published", "difference", "", "tool", "its MAP", "difference", ""}}
	v := &c.views[0]
	for i := range s.rows {
		name := s.rows[i].name
		ours, published := v.mean(i, "map"), v.published.of(name, "map")
		line := []string{name, four("%.4f", ours), four("%.4f", standardError(v.values[i][0]["map"])),
			four("%.4f", published), four("%+.4f", ours-published), standing(ours - published)}
		if tool := toolOf(name, c.name); tool != nil {
			its := tool.values["map"]
			line = append(line, tool.tool, four("%.4f", its), four("%+.4f", ours-its), standing(ours-its))
		} else {
			line = append(line, "", "", "", "")
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// baselinePlot sets MAP of ours, published and programs beside each other, of rows that
// have something beside them.
func baselinePlot(s *results, c *column) svg.Plot {
	p := svg.Plot{Title: "Baselines on " + c.name, Y: svg.Axis{Label: "MAP on test queries, mean over folds"}}
	ours := svg.Series{Name: "ours", Kind: svg.Scatter}
	theirs := svg.Series{Name: "published", Kind: svg.Scatter}
	tools := svg.Series{Name: "the authors' program, tuned on the same folds", Kind: svg.Scatter}
	v := &c.views[0]
	for i := range s.rows {
		name := s.rows[i].name
		published, tool := v.published.of(name, "map"), toolOf(name, c.name)
		if math.IsNaN(published) && tool == nil && len(v.published) > 0 {
			continue
		}
		x := float64(len(p.X.Ticks))
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: x, Label: name})
		ours.X, ours.Y = append(ours.X, x), append(ours.Y, v.mean(i, "map"))
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

// standings counts the rows above, near and below the published ones and the programs.
func standings(s *results, r *Report) {
	var published, tools []held
	for _, c := range s.columns {
		v := &c.views[0]
		for i := range s.rows {
			name := s.rows[i].name
			published = append(published, held{c.name + " " + name, v.mean(i, "map") - v.published.of(name, "map")})
			tool := toolOf(name, c.name)
			if tool == nil {
				continue
			}
			for _, m := range slices.Sorted(maps.Keys(tool.values)) {
				tools = append(tools, held{c.name + " " + tool.tool + " " + title(m), v.mean(i, m) - tool.values[m]})
			}
		}
	}
	summarise(r, "MAP against the published rows", published)
	summarise(r, "against the authors' own programs", tools)
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

// noteTies reports how the order of tied documents changes the rows.
func noteTies(s *results, r *Report) {
	for _, c := range s.columns {
		var tied []string
		for i := range s.rows {
			if n := c.rows[i][0].TiedQueries(); n > 0 {
				tied = append(tied, fmt.Sprintf("%s (%d queries) %.4f", s.rows[i].name, n, c.views[0].values[i][0]["map"].neutral))
			}
		}
		if tied != nil {
			r.note("%s: rows that tie more than 1 %% of the differently graded pairs of a test query, and their MAP with tied documents in random order: %s.", c.name, strings.Join(tied, ", "))
		}
	}
}
