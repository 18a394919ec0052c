package papers

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/stats"
)

// The rows of boltzRankEnergy.
const (
	energyAllPairs = "BoltzRank1, all pairs"
	energyGoodBad  = "BoltzRank1, good–bad pairs"
	energyPairNet  = "BoltzRank2"
	energyMLE      = "MLE"
	energyConvex   = "ConvexLoss_NDCG"
	energyForMAP   = "BoltzRank1, MAP alone"
	energyBest     = "best feature"
	energyListNet  = "ListNet"
	energyAdaRank  = "AdaRank.MAP"

	energyScaled = ", scaled" // suffix of MLE and ConvexLoss_NDCG
)

// energySeeds is the number of seeds for rows that sample rankings.
const energySeeds = 3

// td2004Size is the size of TD2004 with a fifth of the documents. TD2004 has 75 queries with 1116
// relevant documents. The BoltzRank paper subsamples the irrelevant documents, too.
var td2004Size = govSize{queries: 75, docs: 200}

// boltzRankEnergy tests the remarks of LogRank's section 1.4 on BoltzRank, and the scale of
// LogRank's own feature map (1.7). One row covers all pairs with either choice of g: Σ_k (r_j −
// r_k) and Σ_k sign(r_j − r_k) are both linear in r_j, so the two energies differ only by a factor
// for each query.
func boltzRankEnergy(made govSize) study {
	boltz := func(energy string, alpha ...string) map[string][]string {
		return map[string][]string{"C": {"0.3", "1", "3"}, "energy": {energy}, "alpha": alpha, "lambda": {"0.5"}}
	}
	scaled := func(form, kappa string, c ...string) map[string][]string {
		return map[string][]string{"C": c, "form": {form}, "kappa": {kappa}}
	}
	one := []string{"1e-4", "1e-3", "1e-2", "1e-1", "1", "10"}
	pairs := []string{"1e-2", "1e-1", "1", "10", "1e2", "1e3", "1e4", "1e5"} // weights are larger by the factor n⁺n⁻, and C by its square
	return study{
		convention: letor3,
		Experiment: Experiment{
			Name:  "boltzrank-energy",
			Paper: "LogRank",
			Title: "BoltzRank's energy over all pairs and over good–bad pairs, LogRank beside it, and the scale of LogRank's feature map",
			Shows: "whether an energy over all pairs is a bad choice, and what the factor 1/(n⁺n⁻) does",
			Data:  "--data, any of " + strings.Join(boltzRankSets, ", ") + "; made data of TD2004's shape where that is missing",
			Reads: true,
		},
		data: func(o Options) ([]source, []string, error) {
			found, missing, err := letorSets.only(boltzRankSets...)(o)
			if err != nil || o.Set != "" {
				return found, missing, err
			}
			for _, s := range found {
				if s.name == "TD2004" {
					return found, missing, nil
				}
			}
			td, err := syntheticTD(made, o.Seed)
			return append(found, td), missing, err
		},
		sizes: letorSets,
		rows: []row{
			{name: energyAllPairs, method: "boltzrank1", seeds: energySeeds, grid: boltz("linear", "0.05", "0.2", "1", "5")},
			{name: energyGoodBad, method: "boltzrank1", seeds: energySeeds, grid: boltz("graded", "1", "5", "25", "100")},
			{name: energyPairNet, method: "boltzrank2", grid: map[string][]string{
				"C": {"3", "10"}, "lambda": {"0.5"}, "rate": {"0.001"}, "epochs": {"30"}, "patience": {"0"}, "bag": {"10"},
			}},
			{name: energyMLE, method: "mle", grid: scaled("factored", "one", one...)},
			{name: energyMLE + energyScaled, method: "mle", grid: scaled("factored", "pairs", pairs...), unplotted: true},
			{name: energyConvex, method: "convexloss", training: "ndcg@10", seeds: energySeeds, grid: scaled("sampled", "one", one...)},
			{name: energyConvex + energyScaled, method: "convexloss", training: "ndcg@10", seeds: energySeeds, grid: scaled("sampled", "pairs", pairs...), unplotted: true},
			{name: energyListNet, method: "listnet"},
			{name: energyAdaRank, method: "adarank", training: "map"},
			{name: energyForMAP, method: "boltzrank1", training: "map", unplotted: true, grid: map[string][]string{"C": {"1", "10", "100"}, "lambda": {"1"}}},
			{name: energyBest, method: "singlefeature", training: "map", unplotted: true},
			{name: "random order", method: "random", unplotted: true},
		},
		alone:    true,
		chosenBy: "map",
		measures: append(ndcgUpTo(5), "map"),
		records:  "{set}/{row}",
		parts: []part{
			says{"source", logRank + ", sections 1.4 and 1.7; " + boltzRankSource},
			command, seed, conventions, setSizes, notFound,
			says{"all pairs", "BoltzRank's energy Σ (r_j − r_k)(s_j − s_k) over all pairs of documents"},
			says{"good–bad", "the sign of r_j − r_k in its place, over the pairs of differently graded documents, as in LogRank's feature map"},
			says{"MAP alone", "BoltzRank1 trained for expected MAP without the cross entropy (λ=1)"},
			says{"scaled", "LogRank's feature map divided by n⁺n⁻, the query's number of good–bad pairs"},
			says{"chosen by", "validation MAP, for all rows: C, BoltzRank's alpha, and epochs of BoltzRank2"},
			says{"numbers", fmt.Sprintf("means over folds and, of BoltzRank1 and ConvexLoss, which draw rankings, over %d seeds", energySeeds)},
			blocks{title: func(c *column, _ *view) string { return c.name }},
			numberSheet{fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField}},
			differences{
				title: overQueries, name: "differences", measures: boltzFewMeasures, main: true,
				pairs: []pair{
					{energyGoodBad, energyAllPairs}, {energyConvex, energyAllPairs}, {energyMLE, energyAllPairs}, {energyConvex, energyPairNet}, {energyMLE, energyPairNet},
					{energyMLE, energyMLE + energyScaled}, {energyConvex, energyConvex + energyScaled}, {energyAllPairs, energyListNet}, {energyAllPairs, energyAdaRank}, {energyPairNet, energyAllPairs}, {energyForMAP, energyBest},
				},
			},
			partFunc(scaleTable),
			grids, chosen,
			ndcgCurves{title: "BoltzRank by its energy, and LogRank: %s", x: "k", y: "NDCG@k, mean over folds and seeds"},
			partFunc(energyFindings),
			edgeNotes,
		},
	}
}

// isMade reports whether the data of a column are synthetic.
func isMade(c *column) bool { return c.about != "" }

// syntheticTD returns synthetic data like topic distillation, in five folds.
func syntheticTD(size govSize, seed uint64) (source, error) {
	shape, err := synth.Lookup("gov10")
	if err != nil {
		return source{}, err
	}
	options := shape.Defaults
	options.Queries, options.Docs, options.Seed, options.Relevant = size.queries, size.docs, seed, max(1, 15*size.docs/200)
	return inFolds(shape, options, fmt.Sprintf("SYNTHETIC data, not TD2004: %d queries of %d documents (TD2004: 1000) and %d features, about %d relevant documents a query",
		size.queries, size.docs, options.Features, options.Relevant))
}

// scaleTable compares the two scales by cross-validation. It compares the validation values of the
// chosen C in each fold.
func scaleTable(s *results, r *Report) {
	t := Table{Title: "validation MAP of the chosen C without and with the factor 1/(n⁺n⁻), mean over folds and seeds", Left: 2, Main: true,
		Columns: []string{"data", "method", "without", "with", "folds × seeds in which without is above", "below"}}
	for _, c := range s.columns {
		for _, name := range []string{energyMLE, energyConvex} {
			v := scaleVotes(s, c, name)
			t.Rows = append(t.Rows, []string{c.name, name, four("%.4f", v.without), four("%.4f", v.with), strconv.Itoa(v.above), strconv.Itoa(v.below)})
		}
	}
	r.Tables = append(r.Tables, t)
}

// scaleVote is the comparison of the two scales by cross-validation.
type scaleVote struct {
	without, with float64 // validation value
	above, below  int     // number of trainings in which the value without the factor is above, and below
}

func scaleVotes(s *results, c *column, name string) scaleVote {
	var v scaleVote
	without, with := c.rows[s.rowNamed(name)], c.rows[s.rowNamed(name+energyScaled)]
	n := 0
	for seed := range without {
		for f := range without[seed].Folds {
			a, b := without[seed].Folds[f].Validation, with[seed].Folds[f].Validation
			v.without, v.with = v.without+a, v.with+b
			switch n++; {
			case a > b:
				v.above++
			case a < b:
				v.below++
			}
		}
	}
	v.without, v.with = v.without/float64(n), v.with/float64(n)
	return v
}

// verdict returns the verdict of a sign test over the trainings.
func (v *scaleVote) verdict() FindVerdict {
	if signTest(v.above, v.above+v.below) < stats.Alpha {
		return holdsIf(v.above > v.below)
	}
	return ClaimUndecided
}

// energyFindings judges LogRank's remarks on the data of each column. Synthetic data of the same
// shape replace a missing set.
func energyFindings(s *results, r *Report) {
	row := s.rowNamed
	var byMAP []FindVerdict
	var ofMAP []string
	for _, c := range s.columns {
		v := &c.views[0]
		on := func(verdict FindVerdict) (FindVerdict, string) {
			if isMade(c) {
				return verdict.once(), ", TD2004, by synthetic data of its shape"
			}
			return verdict, ", " + c.name
		}
		verdict, figure := s.rises(v, row(energyGoodBad), row(energyAllPairs), boltzFewMeasures...)
		verdict, where := on(verdict)
		r.stated(verdict, "BoltzRank's energy over all pairs instead of good–bad pairs is a bad choice (1.4)"+where, "good–bad less all pairs: %s", figure)

		var verdicts []FindVerdict
		var figures []string
		for _, boltz := range []string{energyAllPairs, energyPairNet} {
			verdict, figure := s.rises(v, row(energyConvex), row(boltz), boltzFewMeasures...)
			verdicts, figures = append(verdicts, verdict), append(figures, "less "+boltz+": "+figure)
		}
		verdict, where = on(ofAll(verdicts...))
		r.stated(verdict, "LogRank exceeds BoltzRank's accuracy decisively (1.4)"+where, "ConvexLoss_NDCG %s%s", strings.Join(figures, "; "), publishedLead(c.name))

		verdicts, figures = nil, nil
		for _, name := range []string{energyMLE, energyConvex} {
			_, figure := s.rises(v, row(name), row(name+energyScaled), boltzFewMeasures...)
			votes := scaleVotes(s, c, name)
			verdicts = append(verdicts, votes.verdict())
			figures = append(figures, fmt.Sprintf("%s without less with: validation MAP %+.4f, higher in %d and lower in %d of the trainings; test %s", name, votes.without-votes.with, votes.above, votes.below, figure))
		}
		verdict, where = on(ofAll(verdicts...))
		r.stated(verdict, "The scale factor 1/(n⁺n⁻) is better omitted, by cross-validation (1.7)"+where, "%s", strings.Join(figures, "; ")).Rule = "a sign test over the trainings at 5 %"

		verdict, figure = s.rises(v, row(energyForMAP), row(energyBest), "map")
		verdict, _ = on(verdict)
		byMAP, ofMAP = append(byMAP, verdict), append(ofMAP, c.name+" "+figure)

		if isMade(c) {
			r.note("%s: %s.", c.name, c.about)
			verdicts, figures = nil, nil
			for _, baseline := range []string{energyListNet, energyAdaRank} {
				verdict, figure := s.rises(v, row(energyPairNet), row(baseline), boltzFewMeasures...)
				verdicts, figures = append(verdicts, verdict), append(figures, "less "+baseline+": "+figure)
			}
			verdict, where := on(ofAll(verdicts...))
			r.stated(verdict, "BoltzRank2 > all baselines in 5 of 6 columns of BoltzRank's table"+where, "two of the four baselines; the made queries have %d documents, fewer than TD2004's; %s", td2004Size.docs, strings.Join(figures, "; ")).Paper = "BoltzRank"
			verdict, figure := s.rises(v, row(energyPairNet), row(energyAllPairs), boltzFewMeasures...)
			verdict, where = on(verdict)
			r.stated(verdict, "BoltzRank2 > BoltzRank1 in BoltzRank's table"+where, "BoltzRank2 less linear BoltzRank1: %s", figure).Paper = "BoltzRank"
		}
	}
	r.stated(ofAll(byMAP...), "BoltzRank's objective can be any other IR measure, such as MAP", "trained for MAP alone, less the best single feature: %s", strings.Join(ofMAP, "; ")).Paper = "BoltzRank"
	r.note("A linear g(r_j − r_k) and its sign give the same energies but for a factor of the query, m/2 with alpha held: Σ_k (r_j − r_k) = m (r_j − (m+1)/2) and Σ_k sign(r_j − r_k) = 2 (r_j − (m+1)/2). All pairs are one row for both.")
}

// publishedLead compares the numbers that the two papers published for a set. It returns "" if
// there are none.
func publishedLead(set string) string {
	published := publishedFigure3(set)
	if published.of(energyPairNet, "map") > 0 {
		return fmt.Sprintf("; published MAP %.3f on cleaned data against %.3f as published", published.of(energyConvex, "map"), published.of(energyPairNet, "map"))
	}
	return ""
}

// The rows of boltzRankObjective. They vary the weight λ of expected NDCG against cross entropy,
// for NDCG@10 and for NDCG@1, and the number of sampled rankings.
const (
	boltzBoth      = "NDCG@10 and cross entropy"
	boltzGain      = "NDCG@10 alone"
	boltzBothTop   = "NDCG@1 and cross entropy"
	boltzGainTop   = "NDCG@1 alone"
	boltzEntropy   = "cross entropy alone"
	boltzFewDraws  = "20 rankings"
	boltzManyDraws = "1000 rankings"
)

// boltzRankObjective tests the slides' statements about the objective and its sample. The linear
// scorer is trained to the minimum, so that optimization has no influence.
func boltzRankObjective() study {
	grid := func(lambda, samples string) map[string][]string {
		g := map[string][]string{"C": {"0.3", "1", "3"}, "lambda": {lambda}, "samples": {samples}}
		if lambda == "1" { // gradients are small without the cross entropy
			g["C"] = append(g["C"], "10", "30")
		}
		return g
	}
	return study{
		convention: letor3,
		Experiment: Experiment{
			Name:  "boltzrank-objective",
			Paper: "BoltzRank",
			Title: "BoltzRank's objective: expected NDCG, cross entropy and the number of rankings",
			Shows: "whether the cross entropy helps expected NDCG, and more than 100 rankings help",
			Data:  "--data, any of " + strings.Join(boltzRankSets, ", "),
			Reads: true,
		},
		data:  letorSets.only(boltzRankSets...),
		sizes: letorSets,
		rows: []row{
			{name: boltzBoth, method: "boltzrank1", grid: grid("0.5", "100")},
			{name: boltzGain, method: "boltzrank1", grid: grid("1", "100")},
			{name: boltzBothTop, method: "boltzrank1", training: "ndcg@1", grid: grid("0.5", "100")},
			{name: boltzGainTop, method: "boltzrank1", training: "ndcg@1", grid: grid("1", "100")},
			{name: boltzEntropy, method: "boltzrank1", grid: grid("0", "100")},
			{name: boltzFewDraws, method: "boltzrank1", grid: grid("0.5", "20")},
			{name: boltzManyDraws, method: "boltzrank1", grid: grid("0.5", "1000")},
		},
		alone:    true,
		seeds:    boltzRankFewSeeds,
		chosenBy: "map",
		measures: append(ndcgUpTo(5), "map"),
		records:  "{set}/{row}/seed{seed}",
		parts: []part{
			says{"source", boltzRankSource},
			command,
			says{"seeds", fmt.Sprintf("%d, the first being --seed", boltzRankFewSeeds)},
			conventions, setSizes, notFound,
			says{"rows", "linear scorer at the minimum of the risk; what a row does not name is 100 rankings, λ=0.5 and NDCG@10; alone: λ=1, without NDCG: λ=0"},
			says{"chosen by", "validation MAP, C alone"},
			says{"numbers", "means over folds and seeds, each of which draws other rankings"},
			says{"margin", fmt.Sprintf("more rankings bring no improvement if the 95 %% intervals of the differences lie below +%v", gainMargin)},
			blocks{title: func(c *column, _ *view) string { return c.name }},
			numberSheet{bySeed: true, fields: []field{
				dataField, methodField, seedField, measureField, {"mean", func(p *place) any { return p.number().mean }}, neutralField, pooledField,
			}},
			differences{
				title: overQueries, name: "differences", measures: boltzFewMeasures, main: true,
				pairs: []pair{{boltzBoth, boltzGain}, {boltzBothTop, boltzGainTop}, {boltzBoth, boltzEntropy}, {boltzManyDraws, boltzBoth}, {boltzBoth, boltzFewDraws}},
			},
			grids, chosen,
			ndcgCurves{title: "BoltzRank1, linear, on %s: NDCG@k by objective", x: "k", y: "NDCG@k, mean over folds and seeds"},
			partFunc(boltzObjectiveNotes),
			edgeNotes,
		},
	}
}

// boltzObjectiveNotes judges the slides' statements about the objective.
func boltzObjectiveNotes(s *results, r *Report) {
	for _, c := range s.columns {
		if c.about != "" {
			continue
		}
		v := &c.views[0]
		rises := func(row, than string) (FindVerdict, string) {
			return s.rises(v, s.rowNamed(row), s.rowNamed(than), boltzFewMeasures...)
		}
		verdict, figure := rises(boltzBoth, boltzEntropy)
		r.stated(verdict, "Optimising NDCG improves performance on "+c.name+": expected NDCG@10 with the cross entropy above the cross entropy alone (our reading)", "%s", figure)
		top, atTop := rises(boltzBothTop, boltzGainTop)
		verdict, figure = rises(boltzBoth, boltzGain)
		r.stated(ofAll(top, verdict), "The cross entropy helps expected NDCG on "+c.name, "for NDCG@1: %s; for NDCG@10: %s", atTop, figure)
		gain := func(with, without string) [][]float64 {
			return lessRuns(v.runs(s.rowNamed(with), "ndcg@1"), v.runs(s.rowNamed(without), "ndcg@1"))
		}
		more := contrastOf("", gain(boltzBothTop, boltzGainTop), gain(boltzBoth, boltzGain))
		verdict = ClaimUndecided
		if more.Interval.Low > 0 || more.Interval.High < 0 {
			verdict = holdsIf(more.Mean > 0)
		}
		r.stated(verdict, "The cross entropy helps above all where NDCG is trained for at the top (our reading), on "+c.name, "what it adds to NDCG@1 if that is trained for, less what it adds if NDCG@10 is: %+.4f (%+.4f … %+.4f)", more.Mean, more.Interval.Low, more.Interval.High)
		verdict, figure = s.noGain(v, s.rowNamed(boltzManyDraws), s.rowNamed(boltzBoth), boltzFewMeasures...)
		r.stated(verdict, "More than 100 rankings bring no significant improvement on "+c.name, "1000 less 100: %s", figure)
	}
}
