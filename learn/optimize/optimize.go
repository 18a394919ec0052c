// Package optimize minimises functions of many variables.
//
// A solver sees an [Objective], its value and its gradient. It does not see queries, losses and scorers,
// so that any solver can train any of them. Start reading at [LBFGS], the standard solver for smooth
// objectives, and [Multistart], which runs it from several starts. [Newton] is faster if there is a
// Hessian. [CuttingPlane], [NSlack] and [Smoothing] minimise functions with kinks. [Descent] follows the
// gradients (or other λ) of the [Terms] of a sum one after the other, as the papers on networks do. Runs
// of L-BFGS and descent can be interrupted and resumed to the same bits ([Resumption]). The [State] of any
// solver has one file format ([AppendCheckpoint], [ReadCheckpoint]).
//
// The package must not depend on queries, losses, scorers or files.
package optimize

import (
	"errors"
	"fmt"
)

// Objective is a function to be minimised.
type Objective interface {
	// Dim is the number of variables.
	Dim() int

	// Eval returns the value at x and overwrites grad with the gradient there, or with any subgradient at a
	// kink. Both slices have Dim elements. It must be deterministic, leave x unchanged and keep neither
	// slice. Outside the domain it may return ±Inf or NaN; the solvers then step back.
	Eval(x, grad []float64) float64
}

// ErrStop is returned by an observer to end the run without an error.
var ErrStop = errors.New("stop")

// Iteration describes an iterate to an observer.
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

	// Gap bounds how far F is above the minimum. It is +Inf without a modulus of strong convexity.
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
	// SearchStalled: no step along the search direction or the negative gradient lowers the value, or many
	// in a row lowered it only by rounding. Smooth objectives end so if the tolerances are below the
	// rounding. Objectives with kinks usually end so.
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
