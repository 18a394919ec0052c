package papers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The groups of rows that are not in the paper: other ways to train its methods, and ListMLE's
// treatments of documents with equal grades.
const (
	besideGroup = "beside"
	tiesGroup   = "ties"
)

// The readings of listMLEOnOHSUMED. The paper dates from the time of LETOR 2, in which OHSUMED has
// 25 features. LETOR 3 has these and 20 others. The folder of the first reading is ".", so that
// earlier records remain valid.
var (
	allFeatures = reading{name: "all features", folder: ".", about: "LETOR 3's 45"}
	fewFeatures = reading{
		name: "25 features", folder: "25features", about: "LETOR 2's: 1 to 10, 16 to 25 and 41 to 45 of LETOR 3's", only: "OHSUMED",
		columns:      []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 41, 42, 43, 44, 45},
		incomparable: "the published run was with 45 features",
	}
)

// listMLEPairs are the pairs in the chart's order, and other pairs of rows to compare.
var listMLEPairs = []pair{
	{"ListMLE", "ListNet"}, {"ListMLE", "RankCosine"}, {"ListNet", "RankCosine"},
	{"ListMLE", "ListNet, descent"}, {"group", "random"}, {"average", "random"},
}

// listMLEOnOHSUMED selects all hyperparameters by validation with the measure of most published
// runs of LETOR. These are C and, for two of the losses, the mapping. The grid of ListMLE's C
// extends below the method's default grid.
func listMLEOnOHSUMED() study {
	noTies := inGroups("", besideGroup)
	return study{
		convention: letor3,
		Experiment: Experiment{
			Name:    "listmle-ohsumed",
			Paper:   "ListMLE",
			Title:   "ListMLE, ListNet and RankCosine on OHSUMED",
			Picture: "the chart of NDCG on OHSUMED",
			Shows:   "how likelihood, cross entropy and cosine do where most documents of a list have the same grade",
			Data:    "--data, OHSUMED",
			Reads:   true,
		},
		data:      preferred("OHSUMED", "data: %s, not OHSUMED; the published numbers are left out"),
		sizes:     letorSets,
		readings:  []reading{allFeatures, fewFeatures},
		rows:      listMLERows(),
		alone:     true,
		quoted:    true,
		chosenBy:  "map",
		measures:  append(slices.Clone(chartMeasures), trueMeasure),
		records:   "{reading}/seed{seed}",
		published: publishedListNet,
		parts: []part{
			says{"source", listMLESource + "; its OHSUMED results are a chart without numbers, in which ListMLE is above ListNet and ListNet above RankCosine"},
			says{"published", "ListNet's NDCG and MAP: LETOR 3.0's baselines, run by Microsoft Research Asia"},
			command, seed, oneSet{}, conventions,
			says{"method", "linear scorers; every hyperparameter of the grids below chosen by validation MAP in each fold"},
			partFunc(readingFacts),
			says{"numbers", "means over folds and, of rows that draw anything, over five seeds"},
			blocks{title: func(c *column, _ *view) string { return "test results on " + c.name + ", " + c.reading.name }, rows: noTies, theirs: "  published", less: "  ours − published"},
			numberSheet{rows: noTies, fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField, publishedField, readingField}},
			numberSheet{name: "ties", rows: inGroups(tiesGroup), bySeed: true, fields: []field{
				dataField, methodField.as("ties"), seedField, measureField, {"mean", func(p *place) any { return p.number().mean }}, neutralField, pooledField, readingField,
			}},
			choiceSheet{name: "chosen", rows: noTies, fields: []field{dataField, methodField, foldField, settingsField, validationField, readingField}},
			differences{
				title: func(c *column, _ *view) string {
					return "differences over the test queries, " + c.reading.name + ", with 95 % intervals; * significant at 5 % after Holm's correction"
				},
				name: "differences", measures: fewMeasures, pairs: listMLEPairs, main: true,
			},
			partFunc(tiesTable), partFunc(settingsTable),
			listMLECurves,
			partFunc(fewFeatureCurves),
			claims,
			partFunc(listMLENotes),
			aboutData,
		},
	}
}

// listMLERows returns the chart's methods, ListNet trained like the published runs, and ListMLE
// with each treatment of ties. Rows that depend on random permutations, starts or query orders have
// several seeds.
func listMLERows() []row {
	return []row{
		{name: "ListMLE", method: "listmle", grid: listMLEGrid("random"), seeds: drawnSeeds},
		{name: "ListNet", method: "listnet", grid: everyMapping},
		{name: "RankCosine", method: "rankcosine", grid: everyMapping, seeds: drawnSeeds},
		{name: "ListNet, descent", method: "listnet", group: besideGroup, against: "ListNet", unplotted: true, seeds: drawnSeeds, grid: map[string][]string{
			"optimizer": {"descent"}, "rule": {"plain"}, "rate": {"1e-3", "1e-2", "1e-1", "1"}, "C": {"1e6"},
		}},
		{name: "random", method: "listmle", group: tiesGroup, unplotted: true, grid: listMLEGrid("random"), seeds: drawnSeeds},
		{name: "average", method: "listmle", group: tiesGroup, unplotted: true, grid: listMLEGrid("average"), seeds: drawnSeeds},
		{name: "input", method: "listmle", group: tiesGroup, unplotted: true, grid: listMLEGrid("input")},
		{name: "group", method: "listmle", group: tiesGroup, unplotted: true, grid: listMLEGrid("group")},
		{name: "chosen", method: "listmle", group: tiesGroup, unplotted: true, grid: listMLEGrid("random", "input", "group"), seeds: drawnSeeds},
	}
}

// publishedListNet returns the published numbers of ListNet, the only one of the three methods with
// published numbers.
func publishedListNet(set string) numbers {
	if set != "OHSUMED" {
		return nil
	}
	return numbers{"ListNet": publishedNumbers("letor3-ohsumed-ndcg.csv")["ListNet"]}
}

var everyMapping = map[string][]string{"mapping": {"log", "sqrt", "linear", "quadratic", "exp"}}

func listMLEGrid(ties ...string) map[string][]string {
	return map[string][]string{"C": {"1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1", "10", "100"}, "ties": ties}
}

// inChart returns the indices of the rows in the slides' chart.
func inChart(s *results) []int {
	var rows []int
	for i := range s.rows {
		if s.rows[i].group == "" {
			rows = append(rows, i)
		}
	}
	return rows
}

// fewMeasures are the measures of tables with wide cells.
var fewMeasures = []string{"ndcg@1", "ndcg@5", "ndcg@10", "map"}

// listMLECurves is the slides' chart.
var listMLECurves = ndcgCurves{
	title: "ListMLE, ListNet and RankCosine — %s", x: "cut-off k", y: "NDCG@k on test queries, mean over folds",
	published: []string{"ListNet"}, word: ", published",
}

// fewFeatureCurves adds this chart for each further reading.
func fewFeatureCurves(s *results, r *Report) {
	for k := 1; k < len(s.readings); k++ {
		curves := listMLECurves
		curves.title, curves.published = curves.title+", "+s.readings[k].name, nil
		for _, c := range s.columnsOf(k) {
			r.Plots = append(r.Plots, Plot{Name: s.readings[k].folder, Plot: curves.plot(s, c)})
		}
	}
}

// readingFacts adds a fact about each reading if there are several.
func readingFacts(s *results, r *Report) {
	if len(s.readings) > 1 {
		for _, k := range s.readings {
			r.fact(k.name, "%s", k.about)
		}
	}
}

// within returns ", 25 features" or the like. It returns "" if there is one reading.
func (s *results) within(c *column) string {
	if len(s.readings) > 1 {
		return ", " + c.reading.name
	}
	return ""
}

// chartMeasures are the measures of the chart, and MAP.
var chartMeasures = append(ndcgUpTo(10), "map")

// trueMeasure is one minus the slides' true loss, the 0–1 loss of whole rankings.
const trueMeasure = "exact-match"

// above returns the number of the chart's measures in which row a is above row b.
func above(v *view, a, b int) int {
	n := 0
	for _, m := range chartMeasures {
		if v.mean(a, m) > v.mean(b, m) {
			n++
		}
	}
	return n
}

// tiesTable compares ListMLE's treatments of documents with equal grades.
func tiesTable(s *results, r *Report) {
	for _, c := range s.columns {
		t := Table{Title: "ListMLE by its order of equally graded documents (ties), C chosen as above" + s.within(c), Columns: []string{"ties", "seeds", "NDCG@1", "NDCG@5", "NDCG@10", "MAP"}, Left: 1}
		for i := range s.rows {
			if s.rows[i].group != tiesGroup {
				continue
			}
			line := []string{s.rows[i].name, strconv.Itoa(len(c.rows[i]))}
			for _, m := range fewMeasures {
				line = append(line, meanAndDeviation(c.views[0].means(i, m), 4))
			}
			t.Rows = append(t.Rows, line)
		}
		r.Tables = append(r.Tables, t)
	}
}

// settingsTable lists the tried and the chosen settings of the first seed.
func settingsTable(s *results, r *Report) {
	for _, c := range s.columns {
		t := Table{Title: "settings tried and chosen, fold by fold, first seed" + s.within(c), Columns: []string{"row", "tried", "chosen"}, Left: 3}
		for p := range s.tunings(nil) {
			if p.seed > 0 || p.column != c {
				continue
			}
			name := p.row().name
			if p.row().group == tiesGroup {
				name = "ties=" + name
			}
			var tried []string
			for _, h := range p.tuned().Varied() {
				tried = append(tried, h+"="+strings.Join(triedValues(&p.tuned().Entry, h), ","))
			}
			t.Rows = append(t.Rows, []string{name, strings.Join(tried, " "), chosenByFold(p.tuned())})
		}
		r.Tables = append(r.Tables, t)
	}
}

// listMLENotes adds the notes and findings.
func listMLENotes(s *results, r *Report) {
	rows := inChart(s)
	for _, c := range s.columns {
		chartOrder(s, r, c, rows)
	}
	c := s.columns[0]
	trueLoss(s, r, c, rows)
	r.note("ListMLE takes a whole permutation for the truth, where grades give the order of a few: %.0f %% of the documents have the lowest grade of their list, and as large a part of the likelihood's factors say in which order these come, by lot. ties=average averages over several lots, ties=group leaves out what the grades do not say.", 100*c.lowest)
	if c.views[0].published != nil {
		r.note("ListNet is here at the minimum of its penalised risk, with penalty and mapping chosen on the validation data; \"ListNet, descent\" goes down query by query with the linear mapping and keeps the epoch that is best on them, as published runs did as far as is known. What the published run did otherwise is not known.")
	}
	for _, c := range s.columns {
		for _, at := range rows {
			if edge := c.rows[at][0].AtEdge(); len(edge) > 0 {
				r.note("%s: in some fold the chosen %s is the lowest or highest tried%s.", s.rows[at].name, strings.Join(edge, ", "), s.within(c))
			}
		}
	}
}

// chartOrder compares the order of the methods in the chart with ours.
func chartOrder(s *results, r *Report, c *column, rows []int) {
	v := &c.views[0]
	chart := 0
	order, byMAP := make([]string, len(rows)), make([]float64, len(rows))
	for i, at := range rows {
		byMAP[i] = v.mean(at, "map")
		if i > 0 && above(v, rows[i-1], at) == len(chartMeasures) {
			chart++
		}
		for _, than := range rows[i+1 : min(i+2, len(rows))] {
			if c.about == "" {
				verdict, figure := s.rises(v, at, than, fewMeasures...)
				r.found(verdict, fmt.Sprintf("%s above %s on OHSUMED (chart), %s", s.rows[at].name, s.rows[than].name, c.reading.name),
					"above in %d of %d measures; %s", above(v, at, than), len(chartMeasures), figure)
			}
		}
	}
	for i, rank := range ranks(byMAP) {
		order[rank-1] = fmt.Sprintf("%s (%.4f)", s.rows[rows[i]].name, byMAP[i])
	}
	r.note("The chart's order, ListMLE > ListNet > RankCosine at all cut-offs: ours has %d of its %d neighbours so%s. By MAP ours is %s.", chart, len(rows)-1, s.within(c), strings.Join(order, " > "))
}

// trueLoss tests the slides' remark on the true loss, with which they begin "for simplicity". The
// remark holds if the 0–1 loss distinguishes no two methods, and NDCG distinguishes some.
func trueLoss(s *results, r *Report, c *column, rows []int) {
	if c.about != "" {
		return
	}
	v := &c.views[0]
	significant := func(m string) int {
		var found severalDifferences
		for i, a := range rows {
			for _, b := range rows[i+1:] {
				if d := v.difference(a, b, m); !math.IsNaN(d.P) {
					found = append(found, d)
				}
			}
		}
		above, below := found.corrected().significant()
		return above + below
	}
	verdict := ClaimUndecided
	switch exact, ndcg := significant(trueMeasure), significant("ndcg@10"); {
	case exact > 0:
		verdict = ClaimFailed
	case ndcg > 0:
		verdict = ClaimHeld
	}
	verdict = v.needsLearning(verdict, rows, "ndcg@10")
	texts := make([]string, len(rows))
	for i, at := range rows {
		texts[i] = fmt.Sprintf("%s %.4f and %.4f", s.rows[at].name, v.mean(at, trueMeasure), v.mean(at, "ndcg@10"))
	}
	r.stated(verdict, "In real ranking problems the true loss should be cost-sensitive, as NDCG is, and not 0–1 (future work; the test is our reading), OHSUMED",
		"share of rankings without error, and NDCG@10: %s; %d and %d of the pairs of methods differ significantly", strings.Join(texts, ", "), significant(trueMeasure), significant("ndcg@10"))
}

// listwiseLead is the order behind the slides' motivation of the listwise approach, with LETOR's
// baselines.
var listwiseLead = order{
	text:   "a listwise method > all pointwise and pairwise ones (ListMLE's motivation)",
	paper:  "ListMLE",
	better: []string{"ListNet", "AdaRank-MAP", "AdaRank-NDCG", "SVMMAP"}, than: []string{"Regression", "RankSVM", "RankBoost", "FRank"},
}

// listwiseFinding tests this order on the columns with published numbers.
func listwiseFinding(s *results, r *Report) {
	published := slices.DeleteFunc(slices.Clone(s.columns), func(c *column) bool { return s.otherThanPublished(c) != "" })
	if len(published) > 0 {
		c := s.orderOn(&listwiseLead, published...)
		r.Findings = append(r.Findings, c.finding())
	}
}
