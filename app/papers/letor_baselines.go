package papers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/chart"
)

// baselineSets are the data sets for which results of baselines were published with LETOR 3.0 and
// 4.0.
var baselineSets = append(slices.Clone(letorSets), letorSet{name: "MQ2008", queries: 784, documents: 15211, features: 46})

// letorBaselines trains the methods that have a published row, under the published names. Every
// method has its own grid. AdaRank-NDCG is trained for NDCG@10. The training measure of the
// published row is not known.
func letorBaselines() study {
	return study{
		convention: letor3,
		Experiment: Experiment{
			Name:  "letor-baselines",
			Title: "LETOR's baselines: ours beside the published rows",
			Shows: "whether each baseline here is as good as the one that Microsoft Research Asia published",
			Data:  "--data, any of " + strings.Join(baselineSets.names(), ", "),
			Reads: true,
		},
		data:  baselineSets.find,
		sizes: baselineSets,
		rows: []row{
			{name: "Regression", method: "regression"},
			{name: "RankSVM", method: "ranksvm"},
			{name: "RankBoost", method: "rankboost"},
			{name: "FRank", method: "frank"},
			{name: "ListNet", method: "listnet"},
			{name: "AdaRank-MAP", method: "adarank", training: "map"},
			{name: "AdaRank-NDCG", method: "adarank", training: "ndcg@10"},
			{name: "SVMMAP", method: "svmmap", training: "map"},
			{name: "coordinate ascent", method: "coordascent", training: "map"},
			{name: "best feature", method: "singlefeature", training: "map"},
			{name: "random order", method: "random"},
		},
		chosenBy: "map",
		measures: reported,
		records:  "{set}",
		views:    baselineViews,
		quoted:   true,
		parts: []part{
			says{"source", "LETOR 3.0 and 4.0, baselines run by Microsoft Research Asia; NDCG up to 5 of FRank and AdaRank-NDCG from BoltzRank's paper, which took them from there"},
			command, seed, setSizes, notFound, conventions,
			says{"in sight", "of test data: the reweighting and rate of AdaRank and the mean over starts of coordinate ascent were settled with the test values of both sets in view"},
			says{"chosen by", "validation MAP: rounds, C and all other settings"},
			says{"numbers", "means over folds; s.e. is the standard error of the mean over all test queries"},
			says{"tools", "the authors' own programs (RankLib for coordinate ascent), tuned on the same folds by validation MAP; measured once"},
			partFunc(baselineTables), grids, chosen,
			numberSheet{fields: []field{
				dataField, conventionField, methodField, measureField, oursField, {"standard_error", func(p *place) any { return standardError(p.number()) }},
				neutralField, pooledField, publishedField, differenceField,
				{"tool", func(p *place) any { return p.tool(func(tool string, _ float64) any { return tool }) }},
				{"tool_value", func(p *place) any { return p.tool(func(_ string, its float64) any { return its }) }},
				{"tool_difference", func(p *place) any { return p.tool(func(_ string, its float64) any { return p.ours() - its }) }},
			}},
			choiceSheet{name: "chosen", fields: []field{dataField, methodField, foldField, settingsField, validationField}},
			perSet(baselinePlot),
			claims, reach{table: "the baselines of LETOR 3.0 and 4.0"},
			partFunc(standings), partFunc(listwiseFinding),
			otherDataNotes{unknown: "%s is none of LETOR's sets: there is nothing published to hold it against."},
			edgeNotes,
			partFunc(noteTies),
		},
	}
}

// baselineViews returns a set's conventions with the published numbers. Every set has letor3. A set
// of LETOR 4.0 also has the convention of LETOR 4.0.
func baselineViews(set string) []view {
	measures := append(ndcgUpTo(10), "map")
	if set != "MQ2008" {
		return []view{{convention: letor3, measures: measures, published: publishedLETOR3(set)}}
	}
	published, onlyMAP := make(numbers), make(numbers)
	for name, row := range publishedNumbers("letor4-mq2008.csv") {
		name = strings.TrimSuffix(name, "-Struct")
		published[name] = row
		onlyMAP.set(name, "map", row["map"])
	}
	return []view{
		{convention: letor3, measures: measures, published: onlyMAP},
		{convention: conventionNamed("letor4"), measures: slices.Insert(slices.Clone(measures), 10, "mean-ndcg"), published: published},
	}
}

// conventionNamed returns a convention of the program. It panics if there is no such convention.
func conventionNamed(name string) measure.Convention {
	c, err := measure.ParseConvention(name)
	if err != nil {
		panic(err) // names are constants
	}
	return c
}

// publishedLETOR3 returns the published results on a set of LETOR 3.0. MAP is available for all
// seven sets. NDCG is available for OHSUMED and, up to NDCG@5, for some rows on TD2004.
func publishedLETOR3(set string) numbers {
	header, rows := publishedTable("letor3-map.csv")
	at := slices.Index(header, set)
	if at < 0 {
		return nil
	}
	found := make(numbers)
	for _, row := range rows {
		found.set(row[0], "map", parse(row[at]))
	}
	add := func(name string, values map[string]float64) {
		for m, v := range values {
			if strings.HasPrefix(m, "ndcg@") {
				found.set(name, m, v)
			}
		}
	}
	for theirs, name := range map[string]string{"AdaRank.NDCG": "AdaRank-NDCG", "AdaRank.MAP": "AdaRank-MAP", "FRank": "FRank", "ListNet": "ListNet"} {
		add(name, publishedBoltzRank(set)[theirs])
	}
	if set == "OHSUMED" {
		for name, values := range publishedNumbers("letor3-ohsumed-ndcg.csv") {
			add(name, values)
		}
	}
	return found
}

// authorsTool contains the results of a method's program by its authors, or of another well-known
// program. The program was tuned on the same folds by the same measure. Its numbers were computed
// once, in letor3.
type authorsTool struct {
	row, tool, set string
	values         map[string]float64
}

var authorsTools = []authorsTool{
	{"RankSVM", "SVM-rank", "OHSUMED", map[string]float64{"map": .4490, "ndcg@10": .4598}},
	{"RankSVM", "LIBLINEAR-ranksvm", "MQ2008", map[string]float64{"map": .4727}},
	{"SVMMAP", "SVM-map", "OHSUMED", map[string]float64{"map": .4406}},
	{"SVMMAP", "SVM-map", "MQ2008", map[string]float64{"map": .4724}},
	{"coordinate ascent", "RankLib", "OHSUMED", map[string]float64{"map": .4452}},
	{"coordinate ascent", "RankLib", "MQ2008", map[string]float64{"map": .4717}},
}

// toolOf returns the program to compare with a row on a set, or nil.
func toolOf(row, set string) *authorsTool {
	i := slices.IndexFunc(authorsTools, func(t authorsTool) bool { return t.row == row && t.set == set })
	if i < 0 {
		return nil
	}
	return &authorsTools[i]
}

// tool returns a cell with the program's number at a place, or nil if there is no number.
func (p *place) tool(cell func(tool string, its float64) any) any {
	if tool := toolOf(p.row().name, p.column.name); tool != nil && p.view.convention == letor3 {
		if its, ok := tool.values[p.measure]; ok {
			return cell(tool.tool, its)
		}
	}
	return nil
}

// standardError returns the standard error of the mean over all queries.
func standardError(n number) float64 { return sd(n.each) / math.Sqrt(float64(len(n.each))) }

// baselineTables adds for each set a table of MAP, and a table of NDCG in each convention.
func baselineTables(s *results, r *Report) {
	ndcg := blocks{
		title: func(c *column, v *view) string {
			return fmt.Sprintf("NDCG on %s, convention %s", c.name, v.convention.Name())
		},
		ours: "ours", theirs: "published", less: "difference", least: 2, // omit rows with MAP alone, which are in the other table
	}
	for _, c := range s.columns {
		r.Tables = append(r.Tables, baselineMAP(s, c))
		for k := range c.views {
			r.Tables = append(r.Tables, ndcg.table(s, c, &c.views[k]))
		}
	}
}

// baselineMAP compares MAP with the published rows and with the authors' programs.
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

// baselinePlot compares our MAP with published values and with programs. It omits rows without
// either.
func baselinePlot(s *results, c *column) chart.Plot {
	p := chart.Plot{Title: "Baselines on " + c.name, Y: chart.Axis{Label: "MAP on test queries, mean over folds"}}
	ours := chart.Series{Name: "ours", Kind: chart.Scatter}
	theirs := chart.Series{Name: "published", Kind: chart.Scatter}
	tools := chart.Series{Name: "the authors' program, tuned on the same folds", Kind: chart.Scatter}
	v := &c.views[0]
	for i := range s.rows {
		name := s.rows[i].name
		published, tool := v.published.of(name, "map"), toolOf(name, c.name)
		if math.IsNaN(published) && tool == nil && len(v.published) > 0 {
			continue
		}
		x := float64(len(p.X.Ticks))
		p.X.Ticks = append(p.X.Ticks, chart.Tick{Value: x, Label: name})
		ours.X, ours.Y = append(ours.X, x), append(ours.Y, v.mean(i, "map"))
		theirs.X, theirs.Y = append(theirs.X, x), append(theirs.Y, published)
		if tool != nil {
			tools.X, tools.Y = append(tools.X, x), append(tools.Y, tool.values["map"])
		}
	}
	p.X.Min, p.X.Max = -0.5, float64(len(p.X.Ticks))-0.5
	p.Series = []chart.Series{theirs}
	if len(tools.X) > 0 {
		p.Series = append(p.Series, tools)
	}
	p.Series = append(p.Series, ours)
	return p
}

// baselineSlack is the distance below a published mean that counts as near. The standard error of
// the mean is larger on every set.
const baselineSlack = 0.003

// standing describes the difference from a reference number.
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

// standings counts the rows above, near and below the published rows, and likewise for the
// programs.
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

// held is a row's difference from its reference. It is NaN without a reference.
type held struct {
	name       string
	difference float64
}

// summarise adds notes with the numbers of rows at or above, near and below the reference.
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

// noteTies notes how the order of tied documents changes the results of rows.
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
