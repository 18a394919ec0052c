package papers

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/optimize"
)

func restartsExperiment() Experiment {
	return Experiment{
		Name:      "logrank-restarts",
		Paper:     "LogRank",
		Title:     "LogRank, section 2.2: local optima and restarts of the objectives that are not convex",
		Shows:     "whether the restarts find the lowest optimum that many more starts find",
		Data:      sweepData,
		Reads:     true,
		Untrained: "starts of the optimiser are compared; those that lower no objective are never adequate",
		Run:       withHP2004Shape(restarts{size: hp2004Size, starts: 21, iterations: 500, samples: 500}.run),
	}
}

// restarts minimizes objectives from many starts. The first start is w = 0, and the others are
// drawn from the normal distribution.
type restarts struct {
	size       govSize
	starts     int
	iterations int
	samples    int
}

// usualStarts is the default number of starts of the methods.
const usualStarts = 6

// enough is the largest share of the objective's decrease by which the best of few starts may fall
// short.
const enough = 0.01

// convexControl is an objective with one optimum. Every start must find it.
const convexControl = "ConvexLoss_NDCG"

// convexLThree is convex, too, because Δ ≤ 1. It provides no evidence about restarts.
const convexLThree = "L_3_NDCG"

func (e restarts) objectives() []objectiveOf {
	sampled := func(skew string) map[string]string {
		return map[string]string{"form": "sampled", "samples": strconv.Itoa(e.samples), "C": "0.1", "levels": "11", "skew": skew}
	}
	logLoss := sampled("0")
	logLoss["f"] = "identity"
	return []objectiveOf{
		{"ExpGain_AUC", "expgain", "auc", map[string]string{"form": "factored", "C": "0.1"}},
		{"ExpGain_MAP", "expgain", "map", sampled("0")},
		{"ExpGain_NDCG", "expgain", "ndcg@10", sampled("0")},
		{"L_2_NDCG", "l2", "ndcg@10", sampled("0")},
		{"LogLoss_NDCG", "exploss", "ndcg@10", logLoss},
		{convexLThree, "l3", "ndcg@10", sampled("-5")},
		{convexControl, "convexloss", "ndcg@10", sampled("-5")},
	}
}

// started contains the minimizations of an objective on a fold. Each field has one element for
// every start.
type started struct {
	zero  float64 // the objective at w = 0
	value []float64
	ended []bool      // stopped at a tolerance, not at the limit of iterations
	each  [][]float64 // average precision on the test queries
}

// best returns the start with the lowest objective among the first k.
func (s *started) best(k int) int {
	best := 0
	for i := range s.value[:k] {
		if s.value[i] < s.value[best] {
			best = i
		}
	}
	return best
}

// lacks returns the difference between the best of the first k starts and the lowest value of all
// starts. The difference is a share of the decrease from w = 0, and 1 if no start decreases the
// objective.
func (s *started) lacks(k int) float64 {
	lowest := s.value[s.best(len(s.value))]
	if !(lowest < s.zero) {
		return 1
	}
	return (s.value[s.best(k)] - lowest) / (s.zero - lowest)
}

// reach returns the share of starts that come within enough of the lowest value.
func (s *started) reach() float64 {
	n, lowest := 0, s.value[s.best(len(s.value))]
	for _, v := range s.value {
		if v-lowest <= enough*(s.zero-lowest) {
			n++
		}
	}
	return float64(n) / float64(len(s.value))
}

func (e restarts) run(ctx context.Context, o Options) (*Report, error) {
	s := &study{convention: letor3, measures: []string{"map"}}
	found, folds, err := s.onHP2004(o, e.size, asPublished, false)
	if err != nil {
		return nil, err
	}
	j, err := (&view{convention: letor3, measures: s.measures}).judge(folds)
	if err != nil {
		return nil, err
	}
	objectives := e.objectives()
	all := make([][]started, len(objectives))
	for i := range all {
		all[i] = make([]started, len(folds))
	}
	err = onFolds(ctx, o, "minimising", folds, len(objectives), func(fold, at int) error {
		risk, err := objectives[at].risk(folds[fold].Train, o.Seed, 1)
		if err != nil {
			return err
		}
		one := &all[at][fold]
		w := make([]float64, risk.Dim())
		one.zero = risk.Eval(w, make([]float64, len(w)))
		solver := optimize.LBFGS{Memory: 50, MaxIterations: e.iterations, FunctionTolerance: 1e-8}
		for start := range e.starts {
			if start > 0 {
				gaussian(w, random.Stream(o.Seed, "restarts", strconv.Itoa(start)))
			}
			best, err := solver.Minimize(ctx, risk, w)
			if err != nil {
				return err
			}
			result, err := j.fold(fold, linearModel(best.X))
			if err != nil {
				return err
			}
			one.value, one.ended, one.each = append(one.value, best.F), append(one.ended, best.Status.Converged()), append(one.each, result.PerQuery(j.measures[0]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.report(found, objectives, all), nil
}

func (e restarts) report(found *results, objectives []objectiveOf, all [][]started) *Report {
	x, data := restartsExperiment(), found.columns[0]
	r := found.begin(x)
	r.add(found, ofSet, logRankFacts, seed)
	r.fact("minimised", "by L-BFGS on the training queries of every fold, C = 0.1, %d rankings a query, from w = 0 and %d normal starts", e.samples, e.starts-1)
	r.fact("lacks", "share of the objective's decrease, from w = 0 to the lowest value of all starts, that the best of the first starts lacks: mean over folds, in brackets the largest")
	r.fact("enough", "the best of %d starts, the methods' default, is adequate if it lacks at most %v", usualStarts, enough)
	few := min(usualStarts, e.starts)
	t := Table{Title: "starts of L-BFGS", Left: 1, Main: true, Columns: []string{"objective", "converged", "starts at the lowest", "1 start lacks", fmt.Sprintf("%d starts lack", few), "MAP from w = 0", fmt.Sprintf("best of %d", few), fmt.Sprintf("best of %d", e.starts), "difference"}}
	sheet := Sheet{Columns: []string{"data", "objective", "fold", "start", "at_zero", "value", "map"}}
	p := chart.Plot{Title: x.Title + " — " + data.name, X: chart.Axis{Label: "starts", Log: true}, Y: chart.Axis{Label: "share of the decrease that the best lacks, mean over folds"}}
	within, alone, cases, control := 0, 0, 0, true
	for i, l := range objectives {
		var first, usual, one, some, many []float64
		reached, ended, minimised := 0.0, 0, 0
		for fold := range all[i] {
			s := &all[i][fold]
			reached += s.reach() / float64(len(all[i]))
			first, usual = append(first, s.lacks(1)), append(usual, s.lacks(few))
			one, some, many = append(one, s.each[0]...), append(some, s.each[s.best(few)]...), append(many, s.each[s.best(e.starts)]...)
			for k, v := range s.value {
				if minimised++; s.ended[k] {
					ended++
				}
				sheet.Rows = append(sheet.Rows, []any{data.name, l.name, data.names[fold], k, s.zero, v, mean(s.each[k])})
			}
			if l.name == convexControl {
				control = control && s.reach() == 1
				continue
			}
			if l.name == convexLThree {
				continue
			}
			if cases++; s.lacks(few) <= enough {
				within++
			}
			if s.lacks(1) <= enough {
				alone++
			}
		}
		d, _ := stats.Paired(many, some, nil)
		t.Rows = append(t.Rows, []string{
			l.name, fmt.Sprintf("%d of %d", ended, minimised), fmt.Sprintf("%.0f %%", 100*reached), fmt.Sprintf("%.4f (%.4f)", mean(first), slices.Max(first)), fmt.Sprintf("%.4f (%.4f)", mean(usual), slices.Max(usual)),
			fmt.Sprintf("%.4f", mean(one)), fmt.Sprintf("%.4f", mean(some)), fmt.Sprintf("%.4f", mean(many)), fmt.Sprintf("%+.4f (%+.4f … %+.4f)", d.Mean, d.Interval.Low, d.Interval.High),
		})
		curve := chart.Series{Name: l.name, Kind: chart.Line}
		for k := 1; k <= e.starts; k++ {
			lack := 0.0
			for fold := range all[i] {
				lack += all[i][fold].lacks(k) / float64(len(all[i]))
			}
			curve.X, curve.Y = append(curve.X, float64(k)), append(curve.Y, lack)
		}
		p.Series = append(p.Series, curve)
	}
	r.Tables, r.Sheets, r.Plots = []Table{t}, []Sheet{sheet}, []Plot{{Plot: p}}
	r.stated(adequate(within, alone, cases, control), "the restarting strategies were adequate (2.2)",
		"%s: the best of %d starts is within %v of the lowest of %d for %d of %d objectives and folds, the start at w = 0 alone for %d", data.name, few, enough, e.starts, within, cases, alone).Rule = "all cases; half of them or fewer fail it"
	r.note("MAP is over all test queries. %s is convex: all starts must reach one optimum. %s is not counted either, as its sum is convex where Δ ≤ 1.", convexControl, convexLThree)
	aboutData.add(found, r)
	return r
}

// adequate returns the verdict on the claim that few restarts find the lowest optimum. within is
// the number of cases in which they do, and alone the number in which a single start does. control
// reports whether all starts agree for the convex objective. Otherwise the minimization is
// unreliable, and the claim is undecided. If a single start suffices in all cases, the claim is not
// informative.
func adequate(within, alone, cases int, control bool) FindVerdict {
	switch {
	case control && alone == cases:
		return ClaimTrivial
	case !control:
		return ClaimUndecided
	case 2*within <= cases:
		return ClaimFailed
	}
	return ofCases(within, cases)
}
