package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/tune"
)

func gainExperiment() Experiment {
	return Experiment{
		Name:      "logrank-gain",
		Paper:     "LogRank",
		Title:     "LogRank, section 2.1: the logarithm of the gain against that of the loss",
		Shows:     "whether the gain is numerically more sensitive than the loss, and trains better",
		Data:      sweepData,
		Reads:     true,
		Untrained: "two objectives are compared; weights that stay at the start decide nothing",
		Run:       withHP2004Shape(gainOrLoss{size: hp2004Size, iterations: 40}.run),
	}
}

// gainOrLoss minimizes three objectives in exact form: the expected loss (4), its logarithm (5),
// and the negative logarithm of the expected gain (6).
type gainOrLoss struct {
	size       govSize
	iterations int
}

// gainScales are the standard deviations of the initial weights.
var gainScales = []float64{0, 1, 10}

var gainMeasures = []string{"auc", "ndcg@10"}

// gainObjectives returns the three objectives for a measure, the gain first.
func gainObjectives(training string) []objectiveOf {
	factored := map[string]string{"form": "factored", "C": "1"}
	return []objectiveOf{
		{"ExpGain (6)", "expgain", training, factored},
		{"LogLoss (5)", "exploss", training, map[string]string{"form": "factored", "C": "1", "f": "identity"}},
		{"L_2 (4)", "l2", training, factored},
	}
}

// sensitivity contains the expected losses of a data set's queries at some weights, and the ratios
// of gradients.
type sensitivity struct {
	loss  []float64 // E[Δ]
	ratio []float64 // ‖∇ log E[G]‖ / ‖∇ log E[Δ]‖; NaN if both gradients vanish
}

// above1 is the limit for ratios above 1. It allows for rounding.
const above1 = 1 + 1e-9

// vanishing is the norm below which a gradient with respect to the scores counts as 0.
const vanishing = 1e-9

// sensitivityAt evaluates the gain and the loss of every query with a linear scorer.
func sensitivityAt(d *dataset.Dataset, training string, w []float64) (sensitivity, error) {
	var s sensitivity
	gain, err := additive(training)
	if err != nil {
		return s, err
	}
	options := logrank.Options{Gain: gain}
	var scratch loss.Scratch
	for _, q := range rankable(d) {
		scores, lambda := make([]float64, q.query.Len()), make([]float64, q.query.Len())
		linearScores(scores, &dataset.Dataset{Queries: []dataset.Query{*q.query}, Features: d.Features}, w)
		norm := func(l loss.Loss) (value, size float64, err error) {
			bound, err := l.Bind(q.query.Grades, nil)
			if err != nil {
				return 0, 0, err
			}
			value = bound.Eval(scores, lambda, &scratch)
			return value, math.Sqrt(inner(lambda, lambda)), nil
		}
		_, logGain, err := norm(logrank.ExpGain{Options: options})
		if err != nil {
			return s, err
		}
		expected, size, err := norm(logrank.L2{Options: options})
		if err != nil {
			return s, err
		}
		ratio := math.NaN()
		if logLoss := size / expected; max(logGain, logLoss) > vanishing {
			ratio = logGain / logLoss
		}
		s.loss, s.ratio = append(s.loss, expected), append(s.ratio, ratio)
	}
	return s, nil
}

// randomLoss returns E[Δ] of every query under a random order of its documents. This is the
// distribution over interleavings at equal scores.
func randomLoss(d *dataset.Dataset, training string) ([]float64, error) {
	gain, err := additive(training)
	if err != nil {
		return nil, err
	}
	var all []float64
	var scratch loss.Scratch
	for _, q := range rankable(d) {
		bound, err := logrank.L2{Options: logrank.Options{Gain: gain, Form: logrank.Lattice}}.Bind(q.query.Grades, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, bound.Eval(make([]float64, q.query.Len()), nil, &scratch))
	}
	return all, nil
}

// gainRun is the minimization of an objective on a fold from one start.
type gainRun struct {
	iterations int
	start, end sensitivity
	random     []float64    // E[Δ] under random orders
	each       [2][]float64 // NDCG@10 and average precision on the test queries
	course     []float64    // mean E[Δ] after each iteration; for the first fold only
}

func (e gainOrLoss) run(ctx context.Context, o Options) (*Report, error) {
	s := &study{convention: letor3, measures: []string{"ndcg@10", "map"}}
	found, folds, err := s.onHP2004(o, e.size, asPublished, false)
	if err != nil {
		return nil, err
	}
	j, err := (&view{convention: letor3, measures: s.measures}).judge(folds)
	if err != nil {
		return nil, err
	}
	var cases []gainCase
	for _, training := range gainMeasures {
		for _, scale := range gainScales {
			for _, l := range gainObjectives(training) {
				cases = append(cases, gainCase{l, scale, make([]gainRun, len(folds))})
			}
		}
	}
	err = onFolds(ctx, o, "minimising", folds, len(cases), func(fold, at int) error {
		c := &cases[at]
		one, w, err := e.minimize(ctx, c, &folds[fold], o.Seed, fold == 0)
		if err != nil {
			return err
		}
		result, err := j.fold(fold, linearModel(w))
		if err != nil {
			return err
		}
		for k, m := range j.measures {
			one.each[k] = result.PerQuery(m)
		}
		c.runs[fold] = *one
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.report(found, cases), nil
}

// gainCase is an objective with a scale of the initial weights, and its run on every fold.
type gainCase struct {
	objectiveOf
	scale float64
	runs  []gainRun
}

func (e gainOrLoss) minimize(ctx context.Context, c *gainCase, fold *tune.Fold, seed uint64, follow bool) (*gainRun, []float64, error) {
	risk, err := c.risk(fold.Train, seed, 1)
	if err != nil {
		return nil, nil, err
	}
	w := make([]float64, risk.Dim())
	gaussian(w, random.Stream(seed, "gain start", fold.Name))
	for i := range w {
		w[i] *= c.scale
	}
	one := &gainRun{}
	if one.start, err = sensitivityAt(fold.Train, c.training, w); err != nil {
		return nil, nil, err
	}
	if one.random, err = randomLoss(fold.Train, c.training); err != nil {
		return nil, nil, err
	}
	solver := optimize.LBFGS{Memory: 50, MaxIterations: e.iterations, FunctionTolerance: 1e-6}
	solver.Observe = func(it optimize.Iteration) error {
		if !follow {
			return nil
		}
		now, err := sensitivityAt(fold.Train, c.training, it.X)
		one.course = append(one.course, mean(now.loss))
		return err
	}
	best, err := solver.Minimize(ctx, risk, w)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.name, err)
	}
	one.iterations = best.Iterations
	one.end, err = sensitivityAt(fold.Train, c.training, best.X)
	return one, best.X, err
}

// over concatenates a list of every run.
func (c *gainCase) over(of func(*gainRun) []float64) []float64 {
	var all []float64
	for i := range c.runs {
		all = append(all, of(&c.runs[i])...)
	}
	return all
}

func (c *gainCase) starts() []float64 {
	return c.over(func(r *gainRun) []float64 { return r.start.loss })
}
func (c *gainCase) ends() []float64 { return c.over(func(r *gainRun) []float64 { return r.end.loss }) }

// shareAbove returns the share of values above a limit. NaN values do not count.
func shareAbove(values []float64, limit float64) float64 {
	above, known := 0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			known++
		}
		if v > limit {
			above++
		}
	}
	return float64(above) / float64(known)
}

// medianKnown returns the median of the values that are not NaN.
func medianKnown(values []float64) float64 {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

func (e gainOrLoss) report(found *results, cases []gainCase) *Report {
	x, data := gainExperiment(), found.columns[0]
	r := found.begin(x)
	r.add(found, ofSet, logRankFacts, seed)
	r.fact("minimised", "in the factored form, C = 1, on the training queries of every fold, from w = 0 and from normal weights; at most %d iterations of L-BFGS", e.iterations)
	r.fact("ratio", "of the norms of the gradients of log E[G] and log E[Δ] by the scores: above 1 the gain is the more sensitive")
	at := Table{Title: "training queries at the starts and at the end from w = 0", Left: 2, Main: true, Columns: []string{"measure", "weights", "mean E[Δ]", "E[Δ] > .9", "median ratio", "ratio > 1", "both vanish"}}
	ends := Table{Title: "minimisations", Left: 3, Main: true, Columns: []string{"measure", "start", "objective", "iterations", "E[Δ] at the start", "at the end", "test NDCG@10", "MAP"}}
	sheet := Sheet{Columns: []string{"data", "measure", "scale", "objective", "iterations", "loss_start", "loss_end", "ratio_start", "ratio_end", "ndcg@10", "map"}}
	p := chart.Plot{Title: "E[Δ] for NDCG@10 by iteration — " + data.name, X: chart.Axis{Label: "iteration of L-BFGS"}, Y: chart.Axis{Label: "mean E[Δ] over the first fold's training queries", Min: 0, Max: 1}}
	line := func(measure, weights string, loss, ratio []float64) {
		vanish := 0
		for _, v := range ratio {
			if math.IsNaN(v) {
				vanish++
			}
		}
		at.Rows = append(at.Rows, []string{measure, weights, fmt.Sprintf("%.3f", mean(loss)), fmt.Sprintf("%.0f %%", 100*shareAbove(loss, 0.9)), four("%.3g", medianKnown(ratio)), fmt.Sprintf("%.0f %%", 100*shareAbove(ratio, above1)), fmt.Sprintf("%.0f %%", 100*float64(vanish)/float64(len(ratio)))})
	}
	for i := range cases {
		c := &cases[i]
		m := title(c.training)
		start := "w = 0"
		if c.scale > 0 {
			start = fmt.Sprintf("normal, %v", c.scale)
		}
		ratioAt := c.over(func(r *gainRun) []float64 { return r.start.ratio })
		ratioEnd := c.over(func(r *gainRun) []float64 { return r.end.ratio })
		if c.method == "expgain" {
			line(m, start, c.starts(), ratioAt)
		}
		if c.scale == 0 {
			line(m, "trained by "+c.name, c.ends(), ratioEnd)
		}
		iterations := 0.0
		for k := range c.runs {
			iterations += float64(c.runs[k].iterations) / float64(len(c.runs))
		}
		ndcg, ap := mean(c.test(0)), mean(c.test(1))
		ends.Rows = append(ends.Rows, []string{m, start, c.name, fmt.Sprintf("%.1f", iterations), fmt.Sprintf("%.3f", mean(c.starts())), fmt.Sprintf("%.3f", mean(c.ends())), fmt.Sprintf("%.4f", ndcg), fmt.Sprintf("%.4f", ap)})
		sheet.Rows = append(sheet.Rows, []any{data.name, c.training, c.scale, c.name, iterations, mean(c.starts()), mean(c.ends()), finiteOrNil(medianKnown(ratioAt)), finiteOrNil(medianKnown(ratioEnd)), ndcg, ap})
		if c.training == "ndcg@10" && c.scale != 1 {
			curve := chart.Series{Name: c.name + ", " + start, Kind: chart.Line, Y: c.runs[0].course}
			for k := range curve.Y {
				curve.X = append(curve.X, float64(k))
			}
			p.Series = append(p.Series, curve)
		}
	}
	r.Tables, r.Sheets, r.Plots = []Table{at, ends}, []Sheet{sheet}, []Plot{{Plot: p}}
	gainFindings(r, data.name, cases)
	aboutData.add(found, r)
	return r
}

// finiteOrNil returns a number as the cell of a sheet. It returns nil for NaN, and for a ratio to a
// gradient that underflows to 0.
func finiteOrNil(v float64) any {
	if math.IsInf(v, 0) {
		return nil
	}
	return orNil(v)
}

// test returns the k-th measure of every test query of all folds.
func (c *gainCase) test(k int) []float64 {
	return c.over(func(r *gainRun) []float64 { return r.each[k] })
}

// gainFindings judges section 2.1's statements on the loss and the gain, for each measure.
func gainFindings(r *Report, data string, cases []gainCase) {
	of := func(training string, scale float64, k int) *gainCase {
		i := slices.IndexFunc(cases, func(c gainCase) bool { return c.training == training && c.scale == scale })
		return &cases[i+k]
	}
	once := r.once
	defer func() { r.once = once }()
	for _, training := range gainMeasures {
		m, symmetry := title(training), ""
		byGain, byLoss := of(training, 0, 0), of(training, 0, 2)
		random := byGain.over(func(r *gainRun) []float64 { return r.random })
		labelings, orders := shareAbove(byGain.starts(), 0.9), shareAbove(random, 0.9)
		if training == "auc" {
			r.once, symmetry = false, "; by symmetry it is .5 on any data"
		}
		r.stated(ofAll(holdsIf(labelings > 0.5), holdsIf(orders > 0.5)), "at w = 0 the expected loss of a query is close to 1 (2.1), "+m,
			"%s: above .9 for %.0f %% of the training queries over all labelings of pairs, mean %.3f; for %.0f %% over all rankings, mean %.3f%s", data, 100*labelings, mean(byGain.starts()), 100*orders, mean(random), symmetry).Rule = "more than half of the queries, by both laws"
		r.once = once
		gains, losses := mean(byGain.starts())-mean(byGain.ends()), mean(byLoss.starts())-mean(byLoss.ends())
		verdict, stopped := fallsLittle(losses, gains), ""
		if byLoss.still() {
			verdict, stopped = ClaimUndecided, "; its minimisation makes no iteration"
		}
		r.stated(verdict, "minimising the expected loss lowers it by a very small quantity (2.1), "+m, "%s, C = 1, from w = 0: by %.3f%s, and by %.3f if the gain is maximised", data, losses, stopped, gains).Rule = "less than 0.1, and twice as much if the gain is maximised"
		ratios := byGain.over(func(r *gainRun) []float64 { return r.start.ratio })
		trained := byGain.over(func(r *gainRun) []float64 { return r.end.ratio })
		r.stated(holdsIf(shareAbove(ratios, above1) > 0.5), "the gain is numerically more sensitive than the loss where training begins (2.1), "+m,
			"%s: its logarithm has the larger gradient for %.0f %% of the training queries at w = 0, median ratio %.3g; for %.0f %% where training ends", data, 100*shareAbove(ratios, above1), medianKnown(ratios), 100*shareAbove(trained, above1)).Rule = "more than half of the queries"
		var figures []string
		var found severalDifferences
		for _, scale := range gainScales {
			if of(training, scale, 0).still() || of(training, scale, 1).still() {
				figures = append(figures, fmt.Sprintf("scale %v is not counted, as one of the two makes no iteration", scale))
				continue
			}
			for k, name := range []string{"NDCG@10", "MAP"} {
				d, err := stats.Paired(of(training, scale, 0).test(k), of(training, scale, 1).test(k), nil)
				if err != nil {
					d = stats.Difference{P: 1}
				}
				found = append(found, difference{Difference: d})
				figures = append(figures, fmt.Sprintf("scale %v %s %+.4f (%+.4f … %+.4f)", scale, name, d.Mean, d.Interval.Low, d.Interval.High))
			}
		}
		r.stated(byCounts(found.corrected().significant()), "training by the logarithm of the gain is above training by that of the loss (2.1), our reading, "+m, "%s, C = 1 alone, by the scale of the starts: %s", data, strings.Join(figures, ", "))
	}
}

// still reports whether no minimization made an iteration, so that nothing was learned.
func (c *gainCase) still() bool {
	return !slices.ContainsFunc(c.runs, func(r gainRun) bool { return r.iterations > 0 })
}

// fallsLittle returns the verdict on the claim that minimizing the expected loss reduces it very
// little. A decrease of .1 or more refutes the claim. The claim held if maximizing the gain reduces
// the loss at least twice as much, and by at least .02. Otherwise the claim is undecided.
func fallsLittle(byLoss, byGain float64) FindVerdict {
	switch {
	case byLoss >= 0.1:
		return ClaimFailed
	case byGain >= 2*max(byLoss, 0.01):
		return ClaimHeld
	}
	return ClaimUndecided
}
