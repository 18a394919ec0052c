package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

func redrawnExperiment() Experiment {
	return Experiment{
		Name:      "logrank-redrawn",
		Paper:     "LogRank",
		Title:     "LogRank, section 4: L-BFGS with a sample that is drawn once or redrawn",
		Shows:     "whether the line search fails if rankings are redrawn during the minimisation",
		Data:      sweepData,
		Reads:     true,
		Untrained: "the line search is looked at; one that always fails decides nothing",
		Run:       redrawn{size: hp2004Size, iterations: 25, samples: 200}.run,
	}
}

// redrawn minimizes sampled objectives. Rankings are drawn once or repeatedly.
type redrawn struct {
	size       govSize
	iterations int
	samples    int
}

// redrawing determines when rankings are drawn.
type redrawing int

const (
	drawnOnce redrawing = iota
	drawnByIteration
	drawnByEvaluation
)

var redrawings = []redrawing{drawnOnce, drawnByIteration, drawnByEvaluation}

func (d redrawing) String() string {
	return [...]string{"once", "every iteration", "every evaluation"}[d]
}

// objectives returns the sampled objectives of Figure 3, and one more: the expected loss over rankings
// that a Metropolis walk draws from the distribution at the current scores.
func (e redrawn) objectives() []objectiveOf {
	set := func(more ...string) map[string]string {
		s := map[string]string{"form": "sampled", "samples": strconv.Itoa(e.samples), "C": "1"}
		for i := 0; i < len(more); i += 2 {
			s[more[i]] = more[i+1]
		}
		return s
	}
	return []objectiveOf{
		{"MLE", "mle", "", set()},
		{"ConvexLoss_NDCG", "convexloss", "ndcg@10", set()},
		{"ExpGain_NDCG", "expgain", "ndcg@10", set("levels", "11", "skew", "0")},
		{"L_2_NDCG, MCMC", "", "ndcg@10", set()},
	}
}

// redrawnRun is the result of one minimization.
type redrawnRun struct {
	status                  optimize.Status
	iterations, evaluations int
	fell                    float64 // decrease of the objective over another sample, from the start to the end
	ndcg, ap                float64 // means over the test queries
}

func (e redrawn) run(ctx context.Context, o Options) (*Report, error) {
	s := &study{convention: letor3, measures: []string{"ndcg@10", "map"}}
	found, folds, err := s.onHP2004(o, e.size, asPublished, false)
	if err != nil {
		return nil, err
	}
	objectives := e.objectives()
	cases := len(objectives) * len(redrawings)
	runs := make([][]redrawnRun, cases)
	for i := range runs {
		runs[i] = make([]redrawnRun, len(folds))
	}
	j, err := (&view{convention: letor3, measures: s.measures}).judge(folds)
	if err != nil {
		return nil, err
	}
	err = onFolds(ctx, o, "minimising", folds, cases, func(fold, at int) error {
		one, err := e.minimize(ctx, objectives[at/len(redrawings)], redrawings[at%len(redrawings)], &folds[fold], o.Seed)
		if err != nil {
			return err
		}
		result, err := j.fold(fold, linearModel(one.w))
		if err != nil {
			return err
		}
		one.ndcg, one.ap = result.Mean(j.measures[0]), result.Mean(j.measures[1])
		runs[at][fold] = one.redrawnRun
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.report(found, objectives, runs), nil
}

// minimized is a run with its final weights.
type minimized struct {
	redrawnRun
	w []float64
}

// minimize runs L-BFGS from w = 0. Only the gradient and the number of iterations stop it. It
// ignores the decrease of values, because values of different samples are not comparable.
func (e redrawn) minimize(ctx context.Context, l objectiveOf, d redrawing, fold *tune.Fold, seed uint64) (*minimized, error) {
	risk, err := l.redrawnRisk(fold, seed)
	if err != nil {
		return nil, err
	}
	obj := &redrawnRisk{Risk: risk, when: d}
	solver := optimize.LBFGS{Memory: 50, MaxIterations: e.iterations, GradientTolerance: 1e-4, FunctionTolerance: -1, GapTolerance: -1}
	solver.Observe = func(it optimize.Iteration) error {
		if d == drawnByIteration && it.Number > 0 {
			obj.redraw()
		}
		return obj.err
	}
	start := make([]float64, risk.Dim())
	best, err := solver.Minimize(ctx, obj, start)
	if err == nil {
		err = obj.err
	}
	if err != nil {
		return nil, fmt.Errorf("%s, rankings drawn %v: %w", l.name, d, err)
	}
	// Evaluate all runs on a sample that none of them used.
	if err := risk.Redraw(math.MaxInt32); err != nil {
		return nil, err
	}
	grad := make([]float64, risk.Dim())
	return &minimized{redrawnRun{
		status: best.Status, iterations: best.Iterations, evaluations: best.Evaluations,
		fell: risk.Eval(start, grad) - risk.Eval(best.X, grad),
	}, best.X}, nil
}

// redrawnRisk returns the risk of an objective. Without a method it is the risk of walksLoss.
func (l objectiveOf) redrawnRisk(fold *tune.Fold, seed uint64) (*objective.Risk, error) {
	if l.method != "" {
		return l.risk(fold.Train, seed, 1)
	}
	gain, err := additive(l.training)
	if err != nil {
		return nil, err
	}
	return objective.New(fold.Train, train.Linear(fold.Train.Features), walksLoss{gain, 50}, objective.Options{C: 1, Seed: seed, Workers: 1})
}

// redrawnRisk draws new rankings at the times that when determines.
type redrawnRisk struct {
	*objective.Risk
	when  redrawing
	round int
	err   error
}

func (r *redrawnRisk) redraw() {
	if r.round++; r.err == nil {
		r.err = r.Redraw(r.round)
	}
}

// Eval implements [optimize.Objective].
func (r *redrawnRisk) Eval(w, grad []float64) float64 {
	if r.when == drawnByEvaluation {
		r.redraw()
	}
	if r.err != nil {
		return math.NaN()
	}
	return r.Risk.Eval(w, grad)
}

// walksLoss is the expected loss E[Δ] over rankings that a Metropolis walk draws at the current
// scores. As in any MCMC sampler, Σ_y a_y Pr(y) is the mean of a_y over the walk. Bind draws the
// random numbers, so the loss is a function of the scores.
type walksLoss struct {
	gain  measure.Additive
	draws int // rankings of a walk; n proposals lie between two of them
}

// Bind implements [loss.Loss].
func (l walksLoss) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	classes := bipartite.Split(grades, 1)
	if classes.Pairs() == 0 {
		return loss.Nothing, nil
	}
	w := &walks{walksLoss: l, good: make([]bool, len(grades)), goods: len(classes.Good), seed: rng.Uint64()}
	for _, g := range classes.Good {
		w.good[g] = true
	}
	return w, nil
}

// Traits implements [loss.Loss].
func (walksLoss) Traits() loss.Traits { return loss.Traits{ShiftInvariant: true} }

type walks struct {
	walksLoss
	good  []bool
	goods int
	seed  uint64
}

// Eval implements [loss.QueryLoss]. The gradient is the covariance of Δ and the derivatives of
// w·φ(y) with κ = 1.
func (w *walks) Eval(scores, lambda []float64, _ *loss.Scratch) float64 {
	n := len(scores)
	bads := n - w.goods
	rng := random.Stream(w.seed, "walks", "")
	order := rng.Perm(n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var sum float64
	slopes, products := make([]float64, n), make([]float64, n)
	slope := make([]float64, n)
	for draw := -10; draw < w.draws; draw++ { // the first ten are burn-in
		for range n {
			i := rng.IntN(n - 1)
			above, below := order[i], order[i+1]
			if w.good[above] == w.good[below] || rng.Float64() < elementary.Exp(2*(scores[below]-scores[above])) {
				order[i], order[i+1] = below, above
			}
		}
		if draw < 0 {
			continue
		}
		delta, good, bad := 1.0, 0, 0
		for _, d := range order {
			if w.good[d] {
				slope[d] = float64(bads - 2*bad)
				delta -= w.gain.GoodGain(good, bad, w.goods, bads)
				good++
			} else {
				slope[d] = float64(w.goods - 2*good)
				bad++
			}
		}
		sum += delta
		for d, v := range slope {
			slopes[d] += v
			products[d] += float64(delta * v)
		}
	}
	m := float64(w.draws)
	for d := range lambda {
		lambda[d] = -(products[d]/m - float64(sum/m*slopes[d]/m))
	}
	return sum / m
}

// failed returns the number of runs in which the line search found no lower value.
func failed(runs []redrawnRun) int {
	n := 0
	for i := range runs {
		if runs[i].status == optimize.SearchStalled {
			n++
		}
	}
	return n
}

// meanOf returns the mean of a number over the runs.
func meanOf(runs []redrawnRun, of func(*redrawnRun) float64) float64 {
	var sum float64
	for i := range runs {
		sum += of(&runs[i])
	}
	return sum / float64(len(runs))
}

func (e redrawn) report(found *results, objectives []objectiveOf, runs [][]redrawnRun) *Report {
	x, data := redrawnExperiment(), found.columns[0]
	r := found.begin(x)
	r.add(found, ofSet, logRankFacts, seed)
	r.fact("minimised", "from w = 0 on the training queries of every fold, C = 1, %d rankings a query, at most %d iterations; a gradient of 1e-4 of the value ends a run", e.samples, e.iterations)
	r.fact("MCMC", "the expected loss over rankings that Metropolis walks draw at the current scores, whose acceptance depends on w; the other samples are walks of Figure 2, which do not")
	r.fact("fell", "decrease of the objective over a sample that no run has seen, as a share of the decrease with rankings drawn once")
	t := Table{Title: "runs by when rankings are drawn, one a fold", Left: 2, Main: true, Columns: []string{"objective", "drawn", "line search failed", "iterations", "evaluations an iteration", "fell", "NDCG@10", "MAP"}}
	sheet := Sheet{Columns: []string{"data", "objective", "drawn", "fold", "status", "iterations", "evaluations", "fell", "ndcg@10", "map"}}
	curves := make([]chart.Series, len(redrawings))
	p := chart.Plot{Title: x.Title + " — " + data.name, Y: chart.Axis{Label: "share of runs whose line search failed", Min: 0, Max: 1}}
	for i, l := range objectives {
		p.X.Ticks = append(p.X.Ticks, chart.Tick{Value: float64(i), Label: l.name})
		once := meanOf(runs[i*len(redrawings)], func(r *redrawnRun) float64 { return r.fell })
		for k, d := range redrawings {
			some := runs[i*len(redrawings)+k]
			curves[k].Name, curves[k].Kind = "drawn "+d.String(), chart.Scatter
			curves[k].X, curves[k].Y = append(curves[k].X, float64(i)), append(curves[k].Y, float64(failed(some))/float64(len(some)))
			t.Rows = append(t.Rows, []string{
				l.name, d.String(), fmt.Sprintf("%d of %d", failed(some), len(some)),
				strconv.FormatFloat(meanOf(some, func(r *redrawnRun) float64 { return float64(r.iterations) }), 'f', 1, 64),
				fmt.Sprintf("%.1f", meanOf(some, func(r *redrawnRun) float64 { return float64(r.evaluations) / float64(max(r.iterations, 1)) })),
				fmt.Sprintf("%.3f", meanOf(some, func(r *redrawnRun) float64 { return r.fell })/once),
				fmt.Sprintf("%.4f", meanOf(some, func(r *redrawnRun) float64 { return r.ndcg })),
				fmt.Sprintf("%.4f", meanOf(some, func(r *redrawnRun) float64 { return r.ap })),
			})
			for fold := range some {
				one := &some[fold]
				sheet.Rows = append(sheet.Rows, []any{data.name, l.name, d.String(), data.names[fold], one.status.String(), one.iterations, one.evaluations, one.fell, one.ndcg, one.ap})
			}
		}
	}
	p.X.Min, p.X.Max, p.Series = -0.5, float64(len(objectives))-0.5, curves
	r.Tables, r.Sheets, r.Plots = []Table{t}, []Sheet{sheet}, []Plot{{Plot: p}}
	for k, d := range redrawings[1:] {
		var once, again []redrawnRun
		for i := range objectives {
			once, again = append(once, runs[i*len(redrawings)]...), append(again, runs[i*len(redrawings)+k+1]...)
		}
		r.stated(searchFails(failed(once), failed(again), len(once)), fmt.Sprintf("the line search of L-BFGS fails if rankings are redrawn (section 4), %v", d),
			"%s: it fails in %d of %d runs, and in %d of %d with rankings drawn once", data.name, failed(again), len(again), failed(once), len(once)).Rule = "90 % of the runs, and at most 10 % with rankings drawn once"
	}
	aboutData.add(found, r)
	return r
}

// searchFails returns the verdict on the claim that line searches fail with redrawn rankings. There
// are as many runs of each kind as of states. once and redrawn are the numbers of failures with
// rankings drawn once, and with redrawn rankings. The claim needs few failures with rankings drawn
// once. Runs differ by objective and fold and are not a random sample, so similar numbers leave the
// claim undecided.
func searchFails(once, redrawn, of int) FindVerdict {
	switch {
	case 10*once <= of && 10*redrawn >= 9*of:
		return ClaimHeld
	case 10*once <= of && 2*redrawn > of:
		return ClaimPartly
	case 10*redrawn <= of:
		return ClaimFailed
	}
	return ClaimUndecided
}
