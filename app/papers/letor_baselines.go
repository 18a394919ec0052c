package papers

import (
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/measure"
)

// baselineSets are those whose baselines' results were published with LETOR 3.0 and
// 4.0.
var baselineSets = append(slices.Clone(letorSets), letorSet{name: "MQ2008", queries: 784, documents: 15211, features: 46})

// letorBaselines has rows of the published names where there is a published row. Every
// method tries its own grid. AdaRank-NDCG is trained for NDCG@10; what the published one
// was trained for is not known.
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
			claims,
			partFunc(standings), partFunc(listwiseFinding),
			otherDataNotes{unknown: "%s is none of LETOR's sets: there is nothing published to hold it against."},
			edgeNotes,
			partFunc(noteTies),
		},
	}
}

// baselineViews returns a set's conventions with the published numbers: letor3, and
// on a set of LETOR 4.0 that one's own too.
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

// conventionNamed returns a convention of the program's own.
func conventionNamed(name string) measure.Convention {
	c, err := measure.ParseConvention(name)
	if err != nil {
		panic(err) // it is known
	}
	return c
}

// publishedLETOR3 returns the published results on a set of LETOR 3.0. MAP is published
// for all seven sets; NDCG is at hand for OHSUMED and, up to 5, for some rows on TD2004.
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

// authorsTool is a program by a method's authors, or the usual one, as tuned on the
// same folds by the same measure. Its numbers were taken once, in letor3.
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

// toolOf returns the program that a row on a set is held against, nil if none.
func toolOf(row, set string) *authorsTool {
	i := slices.IndexFunc(authorsTools, func(t authorsTool) bool { return t.row == row && t.set == set })
	if i < 0 {
		return nil
	}
	return &authorsTools[i]
}

// tool returns a cell about the program's number at a place, nil if there is none.
func (p *place) tool(cell func(tool string, its float64) any) any {
	if tool := toolOf(p.row().name, p.column.name); tool != nil && p.view.convention == letor3 {
		if its, ok := tool.values[p.measure]; ok {
			return cell(tool.tool, its)
		}
	}
	return nil
}

// standardError is that of the mean over all queries.
func standardError(n number) float64 { return sd(n.each) / math.Sqrt(float64(len(n.each))) }
