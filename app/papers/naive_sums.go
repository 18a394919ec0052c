package papers

import (
	"context"
	"math/rand/v2"
	"sync/atomic"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// naiveLoss is LogRank's sampled ConvexLoss as a plain sum of exponentials, without subtracting the
// largest exponent. The sum overflows at exponents above 709. If all exponents are below −745, the
// sum is 0, its logarithm is infinite, and there is no gradient. naiveLoss draws the same rankings
// as logrank.ConvexLoss from the same stream.
type naiveLoss struct{ logrank.Options }

// Bind implements [loss.Loss].
func (l naiveLoss) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	pairs := bipartite.Split(grades, l.Threshold)
	if pairs.Pairs() == 0 {
		return loss.Nothing, nil
	}
	set, err := sample.Draw(pairs, l.Gain, l.Sampler, rng)
	if err != nil {
		return nil, err
	}
	return &naiveSum{set: set, beta: l.Beta, scale: 2 * l.Kappa.Scale(pairs)}, nil
}

// Traits implements [loss.Loss].
func (naiveLoss) Traits() loss.Traits {
	return loss.Traits{Convex: true, ShiftInvariant: true, Smooth: true}
}

// naiveSum is the loss of a query. Its sample is not thinned.
type naiveSum struct {
	set         *sample.Set
	beta, scale float64
}

// Eval implements [loss.QueryLoss].
func (n *naiveSum) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	s, walks := n.set, n.set.Walks
	p, starts := scratch.Floats(s.Len()), scratch.Floats(len(s.Restarts))
	for k, coefficients := range s.Restarts {
		starts[k] = 0
		for i, c := range coefficients {
			starts[k] += float64(n.scale * c * scores[i])
		}
	}
	for w := range walks {
		p[w] = starts[s.Start[w]]
	}
	for t := range s.Plus {
		p[t+walks] = p[t] + float64(n.scale*(scores[s.Plus[t]]-scores[s.Minus[t]]))
	}
	if s.Ideal {
		p[s.Len()-1] = 0
	}
	sum := 0.0
	for y := range p {
		e := p[y] + float64(n.beta*(1-s.Gain[y]))
		if s.LogWeight != nil {
			e += s.LogWeight[y]
		}
		p[y] = elementary.Exp(e)
		sum += p[y]
	}
	if lambda != nil {
		clear(starts)
		n.back(lambda, p, starts, sum)
	}
	return elementary.Log(sum / s.Total)
}

// back sets lambda to −Σ_y p_y ∂e_y/∂s. p contains the terms p_y times sum, and starts contains
// zeros for the restarts. back overwrites both.
func (n *naiveSum) back(lambda, p, starts []float64, sum float64) {
	clear(lambda)
	s, walks := n.set, n.set.Walks
	for t := len(s.Plus) - 1; t >= 0; t-- {
		v := n.scale * p[t+walks] / sum
		lambda[s.Plus[t]] -= v
		lambda[s.Minus[t]] += v
		p[t] += p[t+walks]
	}
	for w := range walks {
		starts[s.Start[w]] += p[w]
	}
	for k, coefficients := range s.Restarts {
		for i, c := range coefficients {
			lambda[i] -= n.scale * c * starts[k] / sum
		}
	}
}

// unguarded is L-BFGS as in the method convexloss, but it does not step back from points where the
// objective is not finite. A program that takes such a step gets NaN weights and a meaningless
// ranking. unguarded returns 0 as weights.
type unguarded struct {
	C          float64
	Iterations int
	Tolerance  float64
}

// Learn implements [train.Learner].
func (l unguarded) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	s := train.Linear(t.Data.Features)
	risk, err := t.Risk(s, t.Loss, l.C)
	if err != nil {
		return nil, err
	}
	watched := &watchedRisk{Risk: risk}
	solver := optimize.LBFGS{Memory: 50, MaxIterations: l.Iterations, StrongConvexity: risk.StrongConvexity(), GapTolerance: l.Tolerance}
	solver.Observe = func(optimize.Iteration) error {
		if watched.broken.Load() {
			return optimize.ErrStop
		}
		return nil
	}
	result, err := solver.Minimize(ctx, watched, make([]float64, risk.Dim()))
	if err != nil {
		return nil, err
	}
	converged, w := result.Status.Converged(), result.X
	if watched.broken.Load() {
		converged, w = false, make([]float64, risk.Dim())
	}
	return &train.Learned{Scorer: s, Params: w, Used: risk.Queries(), Training: model.Training{
		Converged: &converged, Objective: risk.Eval(w, make([]float64, len(w))), Iterations: result.Iterations, Evaluations: result.Evaluations, Status: result.Status.String(),
	}}, nil
}

// watchedRisk records whether a value or derivative was not finite.
type watchedRisk struct {
	*objective.Risk
	broken atomic.Bool
}

// Eval implements [optimize.Objective].
func (r *watchedRisk) Eval(w, grad []float64) float64 {
	v := r.Risk.Eval(w, grad)
	sum := v - v
	for _, g := range grad {
		sum += g - g
	}
	if sum != 0 {
		r.broken.Store(true)
	}
	return v
}

// naiveSums returns the loss and the learner for a row of ConvexLoss with plain sums. The learner
// is the usual optimizer if guarded is set, and otherwise an optimizer without guard. Near the
// overflow the usual optimizer needs dozens of evaluations for an iteration, so both are limited to
// few iterations.
func naiveSums(guarded bool) func(map[string]any) (loss.Loss, train.Learner, error) {
	return func(settings map[string]any) (loss.Loss, train.Learner, error) {
		config, _, err := method.LogRankOf(&model.Model{Method: "convexloss", Hyperparameters: settings, Measure: "ndcg@10", Convention: letor3.Name()})
		if err != nil {
			return nil, nil, err
		}
		lbfgs := train.LBFGS{Architecture: train.Linear, C: settings["C"].(float64), Iterations: 15, Tolerance: 1e-6}
		if !guarded {
			return naiveLoss{config}, unguarded{lbfgs.C, lbfgs.Iterations, lbfgs.Tolerance}, nil
		}
		return naiveLoss{config}, lbfgs, nil
	}
}
