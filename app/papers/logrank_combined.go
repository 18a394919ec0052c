package papers

import (
	"fmt"
	"maps"
	"math"
	"strings"
)

var combinedSets = []string{"OHSUMED", "MQ2008"}

// logRankCombined tests two proposals of LogRank's paper: its equation (5), and "to guide the
// ConvexLoss optimizer with some combination of all the loss functions". Every loss sums over the
// same kind of sample, except ExpLoss. ExpLoss is bounded, so it sums over walks from eleven
// levels, like the expected gains of Figure 3. All settings are chosen by validation MAP, because
// the combination is not for one measure.
//
// The combination of all losses may choose between these walks and the walks of ConvexLoss, as L_3
// does in Figure 3. ConvexLoss gets worse with walks from all levels.
func logRankCombined() study {
	own := map[string][]string{"C": {"1e-3", "1e-2", "1e-1", "1", "10"}, "form": {"sampled"}}
	scaled := map[string][]string{"C": {"1e-2", "1"}, "form": {"sampled"}, "beta": {"10", "100"}}
	withMLE := map[string][]string{"C": own["C"], "form": {"sampled"}, "mle": {"1"}}
	expected := map[string][]string{"C": {"1", "100"}, "form": {"sampled"}, "levels": {"11"}, "skew": {"0"}, "restarts": {"0"}, "iterations": {"50"}}
	identity := maps.Clone(expected)
	identity["f"] = []string{"identity"}
	allLosses := maps.Clone(expected)
	maps.Copy(allLosses, map[string][]string{"C": own["C"], "levels": {"0", "11"}, "skew": {"-5"}, "expgain": {"1"}, "expected_loss": {"1"}, "mle": {"1"}})
	return study{
		convention: letor3,
		Experiment: Experiment{
			Name:  "logrank-combined",
			Paper: "LogRank",
			Title: "LogRank: equation (5), and a combination of all losses",
			Shows: "whether the losses for several measures together train better than one, as the paper's last sentence proposes",
			Data:  "--data, any of OHSUMED, MQ2008",
			Reads: true,
		},
		data:     baselineSets.only(combinedSets...),
		sizes:    baselineSets,
		readings: []reading{cleaned},
		rows: []row{
			{name: "MLE", method: "mle", grid: map[string][]string{"form": {"factored"}}},
			{name: sampledMLE, method: "mle", seeds: 3, grid: own},
			{name: "ConvexLoss_AUC", method: "convexloss", training: "auc", seeds: 3, grid: own, unplotted: true},
			{name: "ConvexLoss_MAP", method: "convexloss", training: "map", seeds: 3, grid: own, unplotted: true},
			{name: "ConvexLoss_NDCG", method: "convexloss", training: "ndcg@10", seeds: 3, grid: own},
			{name: "Combined", method: "combined", seeds: 3, grid: own},
			{name: "Combined, with MLE", method: "combined", seeds: 3, grid: withMLE, unplotted: true},
			{name: "Combined, all losses", method: "combined", seeds: 3, grid: allLosses, unplotted: true},
			{name: "ConvexLoss_NDCG, large β", method: "convexloss", training: "ndcg@10", seeds: 3, grid: scaled},
			{name: "Combined, large β", method: "combined", seeds: 3, grid: scaled},
			{name: "ExpLoss_AUC", method: "exploss", training: "auc", seeds: 3, grid: expected},
			{name: "ExpLoss_MAP", method: "exploss", training: "map", seeds: 3, grid: expected, unplotted: true},
			{name: "ExpLoss_NDCG", method: "exploss", training: "ndcg@10", seeds: 3, grid: expected},
			{name: "LogLoss_NDCG", method: "exploss", training: "ndcg@10", seeds: 3, grid: identity, unplotted: true},
			{name: "L_2_NDCG", method: "l2", training: "ndcg@10", seeds: 3, grid: expected, unplotted: true},
		},
		chosenBy: "map",
		measures: append(ndcgUpTo(10), "map"),
		records:  "{set}",
		parts: []part{
			says{"source", logRank + ", equation (5) and the last sentence of section 6; the paper has no numbers for either"},
			command, seed, conventions, setSizes, notFound, says{cleaned.name, cleaned.about},
			says{"losses", "ExpLoss is (5) with f = exp, LogLoss with f the identity; ConvexLoss = MLE + ExpLoss, exactly; Combined is the mean of ConvexLoss for AUC, MAP and NDCG@10 over one sample, all losses that of these, of ExpGain and L_2 for each, and of MLE"},
			says{"chosen by", "validation MAP, for all rows"},
			says{"in sight", "of test data: ExpLoss for MAP and Combined were run on OHSUMED with one seed before the grids were settled"},
			says{"numbers", "means over folds and, of rows that draw samples, over three seeds"},
			says{"margins", fmt.Sprintf("rows are alike if the 95 %% intervals of their differences lie within ±%v, and one brings no improvement if they lie below +%v", alikeMargin, gainMargin)},
			blocks{title: func(c *column, _ *view) string { return "test results on " + c.name }},
			numberSheet{fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField}},
			combinedDifferences,
			grids,
			choiceSheet{name: "chosen", fields: []field{dataField, methodField, seedField, foldField, settingsField, validationField}},
			ndcgCurves{title: "Combined losses, ExpLoss and their parts — %s", x: "cut-off k", y: "NDCG@k on test queries, mean over folds and seeds"},
			partFunc(combinedNote), partFunc(combinedFindings),
			edgeNotes,
		},
	}
}

var combinedDifferences = differences{
	name: "differences", measures: fewMeasures, main: true,
	title: func(c *column, _ *view) string {
		return "differences over the test queries of " + c.name + ", all seeds, with 95 % intervals; * significant at 5 % after Holm's correction"
	},
	pairs: []pair{
		{"Combined", "ConvexLoss_AUC"}, {"Combined", "ConvexLoss_MAP"}, {"Combined", "ConvexLoss_NDCG"},
		{"Combined", sampledMLE}, {"Combined", "MLE"}, {"Combined, with MLE", "Combined"}, {"Combined, all losses", "Combined"},
		{"Combined, large β", "ConvexLoss_NDCG, large β"}, {"Combined, large β", "Combined"},
		{"ExpLoss_AUC", "ConvexLoss_AUC"}, {"ExpLoss_MAP", "ConvexLoss_MAP"}, {"ExpLoss_NDCG", "ConvexLoss_NDCG"},
		{"ExpLoss_NDCG", "L_2_NDCG"}, {"LogLoss_NDCG", "L_2_NDCG"},
	},
}

// combinedNote notes the number of significant differences on each set.
func combinedNote(s *results, r *Report) {
	for _, c := range s.columns {
		for _, first := range []struct{ text, method string }{{"a combination", "combined"}, {"ExpLoss", "exploss"}} {
			var known severalDifferences
			largest := 0.0
			for i, line := range combinedDifferences.find(s, &c.views[0]) {
				at := s.rowNamed(combinedDifferences.pairs[i].row)
				if at < 0 || s.rows[at].method != first.method {
					continue
				}
				for _, x := range line {
					if !math.IsNaN(x.P) {
						known, largest = append(known, x), max(largest, x.Mean)
					}
				}
			}
			above, below := known.significant()
			r.note("%s: %s is above what it is compared with significantly in %d and below in %d of %d cells; the largest gain is %.4f.", c.name, first.text, above, below, len(known), largest)
		}
	}
}

var combinedMeasures = []string{"ndcg@10", "map"}

// combinedFindings judges the paper's proposal, and its remark that minimizing (4) or (5) "can
// yield similar ranking measures".
func combinedFindings(s *results, r *Report) {
	row := s.rowNamed
	var better, all, like []FindVerdict
	var gains, allGains, distances []string
	for _, c := range s.columns {
		v := &c.views[0]
		guides := func(name string) (FindVerdict, string) {
			verdict, figure := s.rises(v, row(name), row("ConvexLoss_NDCG"), combinedMeasures...)
			if none, bounded := s.noGain(v, row(name), row("ConvexLoss_NDCG"), combinedMeasures...); verdict == ClaimUndecided && none == ClaimHeld {
				verdict, figure = ClaimFailed, bounded
			}
			return verdict, c.name + " " + figure
		}
		verdict, figure := guides("Combined")
		better, gains = append(better, verdict), append(gains, figure)
		verdict, figure = guides("Combined, all losses")
		all, allGains = append(all, verdict), append(allGains, figure)
		verdict, figure = s.alike(v, row("ExpLoss_NDCG"), row("L_2_NDCG"), alikeMargin, combinedMeasures...)
		like, distances = append(like, verdict), append(distances, c.name+" "+figure)
	}
	const claim = "a combination of all the loss functions may guide ConvexLoss better (section 6, proposed)"
	r.found(ofAll(better...), claim+", ConvexLoss for three measures", "Combined − ConvexLoss_NDCG: %s", strings.Join(gains, "; "))
	r.found(ofAll(all...), claim+", all losses for three measures", "Combined, all losses − ConvexLoss_NDCG: %s", strings.Join(allGains, "; "))
	r.found(ofAll(like...), "minimising the expected loss (4) or (5) with f = exp yields similar ranking measures (section 2)", "ExpLoss − L_2, for NDCG: %s", strings.Join(distances, "; "))
}
