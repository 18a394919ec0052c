package papers

import (
	"fmt"
	"strings"
)

// The rows of boltzRankObjective by what is varied: the weight λ of expected NDCG against the
// cross entropy, under NDCG@10 and under NDCG@1, and the number of rankings.
const (
	boltzBoth      = "NDCG@10 and cross entropy"
	boltzGain      = "NDCG@10 alone"
	boltzBothTop   = "NDCG@1 and cross entropy"
	boltzGainTop   = "NDCG@1 alone"
	boltzEntropy   = "cross entropy alone"
	boltzFewDraws  = "20 rankings"
	boltzManyDraws = "1000 rankings"
)

// boltzRankObjective varies what the slides say of the objective and of its sample, with the
// linear scorer, whose training ends at a minimum and so depends on nothing else.
func boltzRankObjective() study {
	grid := func(lambda, samples string) map[string][]string {
		g := map[string][]string{"C": {"0.3", "1", "3"}, "lambda": {lambda}, "samples": {samples}}
		if lambda == "1" { // without the cross entropy gradients are small
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
				title: func(c *column, _ *view) string {
					return "differences over the test queries of " + c.name + ", with 95 % intervals; * significant at 5 % after Holm's correction"
				},
				name: "differences", measures: boltzFewMeasures, main: true,
				pairs: []pair{{boltzBoth, boltzGain}, {boltzBothTop, boltzGainTop}, {boltzBoth, boltzEntropy}, {boltzManyDraws, boltzBoth}, {boltzBoth, boltzFewDraws}},
			},
			grids, chosen,
			ndcgCurves{title: "BoltzRank1, linear, on %s: NDCG@k by objective", x: "k", y: "NDCG@k, mean over folds and seeds"},
			partFunc(boltzObjectiveNotes),
			edgeNotes,
		},
	}
}

// boltzObjectiveNotes hold the slides' statements on the objective.
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
		r.stated(verdict, "Optimising NDCG improves performance on "+c.name+": expected NDCG@10 with the cross entropy above the cross entropy alone", "%s", figure)
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
		r.stated(verdict, "The cross entropy helps above all where NDCG is trained for at the top, on "+c.name, "what it adds to NDCG@1 if that is trained for, less what it adds if NDCG@10 is: %+.4f (%+.4f … %+.4f)", more.Mean, more.Interval.Low, more.Interval.High)
		verdict, figure = s.noGain(v, s.rowNamed(boltzManyDraws), s.rowNamed(boltzBoth), boltzFewMeasures...)
		r.stated(verdict, "More than 100 rankings bring no significant improvement on "+c.name, "1000 less 100: %s", figure)
	}
}
