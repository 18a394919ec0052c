package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Architecture makes a scorer for data with the given number of features. A scorer of another package must register
// its kind for model files ([scorer.Register]). A nil Architecture means Linear. Learners for linear scorers only
// have no Architecture.
type Architecture func(features int) scorer.Scorer

// Linear is the Architecture of linear scorers, w·x.
func Linear(features int) scorer.Scorer { return scorer.Linear{Features: features} }

// FM returns the Architecture of factorization machines with the given number of factors.
func FM(factors int) Architecture {
	return func(features int) scorer.Scorer { return scorer.FM{Features: features, Factors: factors} }
}

// Network returns the Architecture of networks with one hidden layer of the given number of units.
func Network(hidden int, activation scorer.Activation) Architecture {
	return func(features int) scorer.Scorer {
		return scorer.Network{Features: features, Hidden: hidden, Activation: activation}
	}
}

// PairNetwork returns the Architecture of networks over pairs of documents, with the given numbers of hidden units
// for documents and for pairs.
func PairNetwork(hidden, pairHidden int, activation scorer.Activation) Architecture {
	return func(features int) scorer.Scorer {
		return scorer.PairNetwork{Features: features, Hidden: hidden, PairHidden: pairHidden, Activation: activation}
	}
}

// new returns a scorer; a may be nil.
func (a Architecture) new(features int) scorer.Scorer {
	if a == nil {
		return Linear(features)
	}
	return a(features)
}

func isLinear(s scorer.Scorer) bool {
	_, ok := s.(scorer.Linear)
	return ok
}

// setStart sets w to the i-th starting point of a member of a bag. w must be all 0. Networks start from random
// weights. Linear scorers start from 0 first, and later from standard Gaussian vectors.
func setStart(w []float64, s scorer.Scorer, seed uint64, member, i int) {
	switch {
	case !isLinear(s):
		s.Init(w, random.Stream(seed, "init", numberOf(member, i)))
	case i > 0:
		rng := random.Stream(seed, "start", numberOf(member, i))
		for j := range w {
			w[j] = random.Normal(rng)
		}
	}
}

// numberOf names the i-th random stream of a member of a bag. The first member's streams are independent of the size
// of the bag.
func numberOf(member, i int) string {
	if member == 0 {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%d of %d", i, member)
}

// memory is the number of correction pairs of L-BFGS. Many pairs help if features are nearly dependent and C is
// large. On OHSUMED's fold 1, the factored MLE at C=1 is certified after 250 to 400 iterations with 40 to 60 pairs,
// and not within 500 iterations with 20 pairs. The pairs cost little compared with an evaluation of the objective.
const memory = 50

// LBFGS minimises the regularised empirical risk Σ loss + ‖w‖²/C. It minimises a convex risk once, from w = 0, to a
// certified gap. It minimises any other risk from several starting points, and returns the lowest minimum. The loss
// must have a gradient. The zero value trains a linear scorer with the defaults of the catalogue's methods (package
// method), but without a penalty: a good C depends on the loss.
type LBFGS struct {
	Architecture Architecture // makes the scorer; nil means linear
	C            float64      // of the penalty ‖w‖²/C: the larger, the weaker; 0 means no penalty
	Iterations   int          // largest number of iterations per start; 0 means 500
	Tolerance    float64      // relative gap (convex risk) or decrease (otherwise) at which to stop; 0 means 1e-6
	Restarts     int          // random starts after the first if the risk is not convex; 0 means 5, negative none
}

// Learn implements Learner. It writes checkpoints.
func (l LBFGS) Learn(ctx context.Context, t *Task) (*Learned, error) {
	s := l.Architecture.new(t.Inputs())
	risk, err := t.Risk(s, t.Loss, l.C)
	if err != nil {
		return nil, err
	}
	if t.Loss.Traits().NonGradient {
		return nil, BadProblem("the λ of the loss are not the gradient of its value, so a line search has nothing to go by; expected a descent")
	}
	m := &minimization{task: t, scorer: s, file: checkpointFile{t.Checkpoint, t.identityWith(s)}, first: math.NaN()}
	if t.observesIterations() {
		if m.valid, err = t.Validation(false); err != nil {
			return nil, err
		}
	}
	solver, err := m.solver(l, risk)
	if err != nil {
		return nil, err
	}
	best, err := solver.Minimize(ctx, risk)
	if err != nil {
		return nil, m.file.explain(err)
	}
	t.warnStuck(best, m.first)
	return &Learned{s, best.X, training(best), risk.Queries()}, m.file.remove()
}

// warnStuck warns of a minimisation that found no point lower than its start, although the gradient there is not 0.
// start is the objective at the start, NaN if it is unknown.
func (t *Task) warnStuck(best *optimize.Result, start float64) {
	minimum := best.Status == optimize.GapReached || best.Status == optimize.GradientSmall
	if !minimum && (best.Iterations == 0 || best.F >= start) {
		t.warnUnimproved(best.F, best.F)
	}
}

// training describes a minimisation.
func training(best *optimize.Result) model.Training {
	converged := best.Status.Converged()
	t := model.Training{
		Converged:   &converged,
		Objective:   best.F,
		GradNorm:    best.GradNorm,
		Iterations:  best.Iterations,
		Evaluations: best.Evaluations,
		Status:      best.Status.String(),
	}
	if !math.IsInf(best.Gap, 1) {
		t.Gap = &best.Gap
	}
	return t
}

// minimization is a training by L-BFGS that can be resumed.
type minimization struct {
	task   *Task
	scorer scorer.Scorer
	file   checkpointFile
	valid  *Validation // for the observer; nil without one
	first  float64     // objective at the first start; NaN if the start was before a checkpoint
}

// solver returns the optimiser with these settings, resumed from the checkpoint if there is one.
func (m *minimization) solver(l LBFGS, risk *objective.Risk) (optimize.Multistart, error) {
	t := m.task
	solver := l.solver(t.Problem, m.scorer, risk.StrongConvexity())
	solver.Observe = m.observe
	var err error
	solver.Resumption, err = resumable[optimize.MultistartState](m.file)
	return solver, err
}

// solver returns the optimiser for the loss of p and the scorer s. It uses strongConvexity, the risk's, only if the
// loss is convex in the parameters.
func (l LBFGS) solver(p *Problem, s scorer.Scorer, strongConvexity float64) optimize.Multistart {
	solver := optimize.Multistart{
		Solver: optimize.LBFGS{Memory: memory, MaxIterations: cmp.Or(l.Iterations, 500)},
		Starts: 1,
		Init:   func(start int, x []float64) { setStart(x, s, p.Seed, 0, start) },
	}
	if p.Loss.Traits().Convex && isLinear(s) {
		solver.Solver.StrongConvexity = strongConvexity
		solver.Solver.GapTolerance = cmp.Or(l.Tolerance, 1e-6)
	} else {
		solver.Solver.FunctionTolerance = cmp.Or(l.Tolerance, 1e-6)
		solver.Starts += max(0, cmp.Or(l.Restarts, 5))
	}
	return solver
}

// observe reports an iteration to the problem's observer.
func (m *minimization) observe(start int, it optimize.Iteration, lowest bool) error {
	if start == 0 && it.Number == 0 {
		m.first = it.F
	}
	if !m.task.observesIterations() {
		return nil
	}
	now := Iteration{Start: start, Number: it.Number, Objective: it.F, GradNorm: it.GradNorm, Best: lowest, Params: it.X}
	if m.valid != nil {
		var err error
		if now.Validation, err = m.valid.Value(m.scorer, it.X); err != nil {
			return err
		}
		now.Validated = true
	}
	m.task.Observe(now)
	return nil
}

// The learners below minimise ½‖w‖² + Σ loss over linear scorers. They certify the gap to the minimum, for which the
// loss must be convex. They write no checkpoints.

// HalfNorm is the c for which the penalty ‖w‖²/c equals ½‖w‖², the penalty of support vector machines.
const HalfNorm = 2.0

// Newton minimises convex losses with a Hessian (loss.SecondOrder) by truncated Newton.
type Newton struct {
	Tolerance  float64 // relative gap to the minimum at which to stop; 0 means 1e-6
	Iterations int     // largest number of iterations; 0 means 200
}

// Learn implements Learner.
func (n Newton) Learn(ctx context.Context, t *Task) (*Learned, error) {
	r, err := newCertified(t, HalfNorm)
	if err != nil {
		return nil, err
	}
	risk, err := r.risk.SecondOrder()
	if err != nil {
		return nil, BadProblem("loss %T: %w", t.Loss, err)
	}
	solver := optimize.Newton{
		StrongConvexity: risk.StrongConvexity(),
		GapTolerance:    n.Tolerance,
		MaxIterations:   n.Iterations,
		Observe:         t.observer(),
	}
	result, err := solver.Minimize(ctx, risk, make([]float64, risk.Dim()))
	return r.learned(result, err)
}

// Smoothing minimises convex losses with kinks, by Newton's method on smooth approximations. They must have a Hessian
// (loss.SecondOrder) and cutting planes of the loss (loss.CuttingPlane).
type Smoothing struct {
	Rounded    func(width float64) loss.Loss // returns the loss with kinks rounded off over a width; required
	Tolerance  float64                       // relative gap to the minimum at which to stop; 0 means 1e-6
	Iterations int                           // largest number of iterations; 0 means 1000
}

// Learn implements Learner.
func (m Smoothing) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if m.Rounded == nil {
		return nil, errors.New("found no stand-in, expected one: smoothing minimises the loss by rounding off its kinks")
	}
	r, err := newCertified(t, HalfNorm)
	if err != nil {
		return nil, err
	}
	solver := optimize.Smoothing{GapTolerance: m.Tolerance, MaxIterations: m.Iterations, Observe: t.observer()}
	standIn := func(width float64) (optimize.Rounded, error) {
		risk, err := objective.New(t.Normalized(), r.scorer, m.Rounded(width), objective.Options{C: HalfNorm, Seed: t.Seed, Workers: t.Workers, Done: t.done})
		if err != nil {
			return nil, err
		}
		if err := risk.CheckSupport(); err != nil {
			return nil, BadProblem("stand-in for %T: %w", t.Loss, err)
		}
		smooth, err := risk.SecondOrder()
		if err != nil {
			return nil, BadProblem("stand-in for %T: %w", t.Loss, err)
		}
		return smooth, nil
	}
	result, err := solver.Minimize(ctx, r.risk, standIn, make([]float64, r.risk.Dim()))
	return r.learned(result, err)
}

// Planes minimises any convex loss by the cutting-plane method. The value and a subgradient of a convex loss are a
// cutting plane, at kinks too.
type Planes struct {
	PerQuery   bool    // cutting planes for each query's loss (n-slack) instead of their sum (1-slack)
	Tolerance  float64 // gap to the minimum, relative to max(1, objective), at which to stop; 0 means 1e-6
	Iterations int     // largest number of iterations; 0 means 10000
}

// Learn implements Learner.
func (p Planes) Learn(ctx context.Context, t *Task) (*Learned, error) {
	r, err := newCertified(t, 0)
	if err != nil {
		return nil, err
	}
	start := make([]float64, r.risk.Dim())
	if p.PerQuery {
		result, err := optimize.NSlack{
			GapTolerance: p.Tolerance, MaxIterations: p.Iterations, Workers: t.Workers, Observe: t.observer(),
		}.Minimize(ctx, r.risk, start)
		return r.learned(result, err)
	}
	result, err := optimize.CuttingPlane{GapTolerance: p.Tolerance, MaxIterations: p.Iterations, Observe: t.observer()}.Minimize(ctx, r.risk, start)
	return r.learned(result, err)
}

// certified is the common part of Newton, Smoothing and Planes.
type certified struct {
	task   *Task
	scorer scorer.Scorer
	risk   *objective.Risk
}

// newCertified binds the loss with the penalty ‖w‖²/c, or none if c is 0. It returns a *ProblemError if the loss is
// not convex, because the certified gap would be false.
func newCertified(t *Task, c float64) (*certified, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	s := Linear(t.Inputs())
	risk, err := t.Risk(s, t.Loss, c)
	if err != nil {
		return nil, err
	}
	if traits := t.Loss.Traits(); !traits.Convex || traits.NonGradient {
		return nil, BadProblem("loss %T: found one that is not convex, or whose λ is not its gradient, expected a convex one: the certificate of this learner would be false (LBFGS and Descent give none)", t.Loss)
	}
	return &certified{t, s, risk}, nil
}

func (r *certified) learned(result *optimize.Result, err error) (*Learned, error) {
	if err != nil {
		return nil, err
	}
	r.task.warnStuck(result, math.NaN())
	return &Learned{r.scorer, result.X, training(result), r.risk.Queries()}, nil
}

// observesIterations reports whether the problem's observer wants the iterations of a minimisation.
func (t *Task) observesIterations() bool { return t.Observe != nil && !t.EpochsAlone }

// observer returns a function that reports a solver's iterations to the problem's observer. It returns nil if the
// observer does not want them.
func (t *Task) observer() func(optimize.Iteration) error {
	observe := t.Observe
	if !t.observesIterations() {
		return nil
	}
	lowest := math.Inf(1)
	return func(it optimize.Iteration) error {
		better := it.F < lowest
		lowest = min(lowest, it.F)
		observe(Iteration{Number: it.Number, Objective: it.F, GradNorm: it.GradNorm, Best: better, Params: it.X})
		return nil
	}
}
