// Package optimize minimises functions of many variables.
//
// A solver sees an [Objective], with its value and its gradient. It does not see queries, losses and scorers, so any
// solver can train any of them. Start reading at [LBFGS], the standard solver for smooth objectives, and
// [Multistart], which runs it from several starts. [Newton] is faster if the Hessian is known. [CuttingPlane],
// [NSlack] and [Smoothing] minimise functions with kinks. [Descent] follows the gradients (or other λ) of the [Terms]
// of a sum one after the other, as the papers on networks do. Runs of L-BFGS and descent can be interrupted and
// resumed to the same bits ([Resumption]). The [State] of every solver has the same file format ([AppendCheckpoint],
// [ReadCheckpoint]).
//
// The package must not depend on queries, losses, scorers or files.
package optimize

import (
	"errors"
	"fmt"
)

// Objective is a function to be minimised.
type Objective interface {
	// Dim returns the number of variables.
	Dim() int

	// Eval returns the value at x and overwrites grad with the gradient there, or with any subgradient at a kink.
	// Both slices have Dim elements. Eval must be deterministic, leave x unchanged and keep neither slice. Outside
	// the domain it may return ±Inf or NaN. The solvers then step back.
	Eval(x, grad []float64) float64
}

// ErrStop is returned by an observer to end the run without an error.
var ErrStop = errors.New("stop")

// Iteration describes an iterate to an observer.
type Iteration struct {
	Number      int       // number of the iteration; 0 is the start
	F           float64   // value of the objective
	GradNorm    float64   // Euclidean norm of the gradient
	Gap         float64   // bound as in [Result.Gap]
	Step        float64   // step as a multiple of the search direction; 0 at the start
	Evaluations int       // number of evaluations of the objective so far
	X           []float64 // iterate; read-only, and valid until the observer returns
}

// Result is the outcome of a minimisation.
type Result struct {
	X        []float64 // last iterate
	F        float64   // value at X
	GradNorm float64   // Euclidean norm of the gradient at X

	// Gap bounds the difference between F and the minimum. It is +Inf if no bound is known.
	Gap float64

	Iterations  int // number of iterations, including iterations before a resumed state
	Evaluations int // number of evaluations, including evaluations before a resumed state
	Status      Status
}

// Status is the reason for the end of a minimisation.
type Status int

// The reasons for the end.
const (
	// GapReached: the certified bound on F − min F is within the tolerance.
	GapReached Status = iota + 1
	// GradientSmall: the norm of the gradient is within the tolerance.
	GradientSmall
	// DecreaseSmall: the last iterations together decreased the value by less than the tolerance.
	DecreaseSmall
	// IterationLimit: the limit of iterations is reached.
	IterationLimit
	// SearchStalled: no step along the search direction or the negative gradient decreases the value, or many
	// consecutive steps decreased it only by rounding. The minimisation of a smooth objective ends so if the
	// tolerances are smaller than rounding errors. For objectives with kinks this is the usual end.
	SearchStalled
	// Stopped: a callback returned an error, for instance [ErrStop].
	Stopped
	// Cancelled: the context was cancelled.
	Cancelled
	// EpochLimit: the limit of epochs is reached.
	EpochLimit
	// NoBetterEpoch: the last epochs did not improve the validation value.
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
