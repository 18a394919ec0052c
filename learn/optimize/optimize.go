// Package optimize minimises functions of many variables.
//
// A solver here sees an [Objective], its value and its gradient, and nothing of
// the queries, losses and scorers behind it; so any of them can be trained with
// any solver. Start reading at [LBFGS], the workhorse for smooth objectives, and
// [Multistart], which goes through several starts with it; [Newton] is faster where there is
// a Hessian, and [CuttingPlane], [NSlack] and [Smoothing] minimise what has kinks. [Descent]
// follows the gradients (or other λ) of the [Terms] of a sum one after the other, as
// the papers on networks do. Runs of L-BFGS and descent can be interrupted and resumed to
// the same bits ([Resumption]), from a [State] that has one form in files, whosever it is
// ([AppendCheckpoint], [ReadCheckpoint]). The package must not depend on queries, losses,
// scorers or files.
package optimize

import (
	"errors"
	"fmt"
)

// Objective is a function to be minimised.
type Objective interface {
	// Dim is the number of variables.
	Dim() int

	// Eval returns the value at x and overwrites grad with the gradient there
	// (any subgradient where the function has a kink); both have Dim elements.
	// It must be deterministic, leave x unchanged and keep neither slice. At a
	// point outside the domain it may return ±Inf or NaN: the solvers step back.
	Eval(x, grad []float64) float64
}

// ErrStop is returned by an observer that wants the run to end without an error.
var ErrStop = errors.New("stop")

// Iteration is what an observer learns of an iterate.
type Iteration struct {
	Number      int       // 0 is the start
	F           float64   // the value
	GradNorm    float64   // the Euclidean norm of the gradient
	Gap         float64   // the bound of [Result.Gap]
	Step        float64   // the multiple of the search direction that was taken; 0 at the start
	Evaluations int       // evaluations of the objective so far
	X           []float64 // the iterate; to be read, and only until the observer returns
}

// Result is the outcome of a minimisation.
type Result struct {
	X        []float64 // the last iterate
	F        float64   // its value
	GradNorm float64   // the Euclidean norm of the gradient there

	// Gap bounds how far F is above the minimum; +Inf where nothing is known,
	// that is, if the solver was not told a modulus of strong convexity.
	Gap float64

	Iterations  int // including those before a resumed state
	Evaluations int // of the objective, likewise
	Status      Status
}

// Status says why a minimisation ended.
type Status int

// The reasons to end.
const (
	// GapReached: the certified bound on F − min F is within the tolerance.
	GapReached Status = iota + 1
	// GradientSmall: the norm of the gradient is within the tolerance.
	GradientSmall
	// DecreaseSmall: the last iterations together lowered the value by less
	// than the tolerance.
	DecreaseSmall
	// IterationLimit: the allowed number of iterations is used up.
	IterationLimit
	// SearchStalled: no step along the search direction nor along the negative
	// gradient lowers the value, or many in a row lowered it by no more than
	// rounding. Smooth objectives end so when the tolerances ask for more than
	// rounding leaves; objectives with kinks usually end so.
	SearchStalled
	// Stopped: a callback returned an error, [ErrStop] for instance.
	Stopped
	// Cancelled: the context was cancelled.
	Cancelled
	// EpochLimit: the allowed number of epochs is used up.
	EpochLimit
	// NoBetterEpoch: the last epochs brought no better validation value.
	NoBetterEpoch
	// Diverged: a number became infinite or NaN.
	Diverged
)

// String returns the status as a phrase for the user.
func (s Status) String() string {
	switch s {
	case GapReached:
		return "certified gap reached"
	case GradientSmall:
		return "gradient small"
	case DecreaseSmall:
		return "decrease small"
	case IterationLimit:
		return "iteration limit reached"
	case SearchStalled:
		return "line search could not improve"
	case Stopped:
		return "stopped"
	case Cancelled:
		return "cancelled"
	case EpochLimit:
		return "epoch limit reached"
	case NoBetterEpoch:
		return "no better epoch"
	case Diverged:
		return "diverged"
	}
	return fmt.Sprintf("status %d", int(s))
}

// Converged reports whether a tolerance was met.
func (s Status) Converged() bool {
	return s == GapReached || s == GradientSmall || s == DecreaseSmall
}
