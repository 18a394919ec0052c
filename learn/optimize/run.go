package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// run is one minimisation by LBFGS. All its memory is made before the first
// iteration. What the next iteration depends on is in st, complete between
// iterations; the rest is derived from it or is working memory.
type run struct {
	ctx context.Context
	set LBFGS // with defaults filled in
	obj Objective
	st  LBFGSState

	gradNorm float64   // ‖st.Grad‖
	rho      []float64 // rho[i] = 1/sᵢᵀyᵢ of pair i
	alpha    []float64 // of the two-loop recursion
	dir      []float64 // the search direction
	step     float64   // the multiple of dir last taken
	keep     keeper[LBFGSState]

	// The point last evaluated in the line search, st.X + trial.step·dir.
	trial     point
	trialX    []float64
	trialGrad []float64
	trialNorm float64 // ‖trialGrad‖
	trials    int     // evaluations in this search

	interrupted bool // the context ended in mid-search
}

func newRun(ctx context.Context, set LBFGS, obj Objective) *run {
	n, m := obj.Dim(), set.Memory
	vectors := make([]float64, (2*m+7)*n)
	next := func() []float64 {
		v := vectors[:n:n]
		vectors = vectors[n:]
		return v
	}
	r := &run{ctx: ctx, set: set, obj: obj}
	r.keep = keeper[LBFGSState]{set.Resumption, &r.st, -1}
	r.st.X, r.st.Grad = next(), next()
	r.dir, r.trialX, r.trialGrad = next(), next(), next()
	// The pairs beyond the slices' lengths are memory for those to come; there
	// is one more than pairs to be kept.
	r.st.s, r.st.y = make([][]float64, m+1), make([][]float64, m+1)
	for i := range m + 1 {
		r.st.s[i], r.st.y[i] = next(), next()
	}
	r.st.s, r.st.y = r.st.s[:0], r.st.y[:0]
	r.rho, r.alpha = make([]float64, 0, m+1), make([]float64, m)
	r.st.recent = make([]float64, 0, window+1)
	r.st.strongConvexity = set.StrongConvexity
	r.st.lower, r.st.bestF, r.st.bestGrad = math.Inf(-1), math.Inf(1), math.Inf(1)
	return r
}

// begin evaluates the objective at x0.
func (r *run) begin(x0 []float64) error {
	if err := takeStart(r.st.X, x0); err != nil {
		return err
	}
	f := r.obj.Eval(r.st.X, r.st.Grad)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("the objective is %v at the start, expected a finite number", f)
	}
	if i := notFinite(r.st.Grad); i >= 0 {
		return fmt.Errorf("gradient[%d] is %v at the start, expected a finite number", i, r.st.Grad[i])
	}
	r.gradNorm = norm(r.st.Grad)
	if math.IsInf(r.gradNorm, 1) {
		return errors.New("the gradient at the start is so long that its square overflows")
	}
	r.st.F = f
	r.st.Evaluations = 1
	r.arrived()
	return nil
}

// resume takes over a state after checking that it fits.
func (r *run) resume(from *LBFGSState) error {
	if err := from.validate(); err != nil {
		return unfit("resumed state: %w", err)
	}
	if err := sameSize(from.X, r.st.X); err != nil {
		return err
	}
	if from.strongConvexity != r.set.StrongConvexity {
		return unfit("resumed state is for strong convexity %v, expected %v", from.strongConvexity, r.set.StrongConvexity)
	}
	st := &r.st
	copy(st.X, from.X)
	copy(st.Grad, from.Grad)
	st.F, st.Iteration, st.Evaluations, st.lower = from.F, from.Iteration, from.Evaluations, from.lower
	st.bestF, st.bestGrad, st.idle = from.bestF, from.bestGrad, from.idle
	st.recent = append(st.recent, from.recent...)
	for i := max(0, len(from.s)-r.set.Memory); i < len(from.s); i++ {
		s, y := r.spare()
		copy(s, from.s[i])
		copy(y, from.y[i])
		st.s, st.y = append(st.s, s), append(st.y, y)
		r.rho = append(r.rho, 1/kernel.Dot(s, y))
	}
	r.gradNorm = norm(st.Grad)
	r.keep.saved = st.Iteration
	return nil
}

// advance does one iteration and returns 0. If there is no better point to be
// found, or the context ended, it returns that and leaves the state's point and
// pairs as they were.
func (r *run) advance() Status {
	evaluations := r.st.Evaluations
	slope := r.direction()
	first := 1.0
	if len(r.st.s) == 0 {
		first = 1 / r.gradNorm
	}
	found := slope < 0 && r.searched(first, slope)
	if !found && len(r.st.s) > 0 && !r.interrupted {
		// The pairs mislead, by rounding or by kinks they bridge.
		slope = r.steepest()
		if found = r.searched(1/r.gradNorm, slope); found {
			r.forget()
		}
	}
	switch {
	case r.interrupted:
		r.st.Evaluations = evaluations // as the resumed run will count them
		return Cancelled
	case !found:
		return SearchStalled
	}
	r.accept()
	return 0
}

// searched is search, which finds nothing if the context ended: the objective may have
// broken off its last evaluation.
func (r *run) searched(first, slope float64) bool {
	found := r.search(first, slope)
	if r.ctx.Err() != nil {
		r.interrupted = true
	}
	return found && !r.interrupted
}

// accept moves to the trial point.
func (r *run) accept() {
	r.remember()
	st := &r.st
	st.X, r.trialX = r.trialX, st.X
	st.Grad, r.trialGrad = r.trialGrad, st.Grad
	st.F, r.gradNorm, r.step = r.trial.f, r.trialNorm, r.trial.step
	st.Iteration++
	r.arrived()
}

// arrived updates the progress and the lower bound on the minimum at a new iterate.
func (r *run) arrived() {
	st := &r.st
	scale := math.Max(1, math.Abs(st.F))
	if st.F < st.bestF-float64(noise*scale) || r.gradNorm < 0.9*st.bestGrad {
		st.bestF, st.bestGrad = math.Min(st.bestF, st.F), math.Min(st.bestGrad, r.gradNorm)
		st.idle = 0
	} else {
		st.idle++
	}
	if len(st.recent) == window+1 {
		copy(st.recent, st.recent[1:])
		st.recent = st.recent[:window]
	}
	st.recent = append(st.recent, st.F)
	if mu := r.set.StrongConvexity; mu > 0 {
		st.lower = math.Max(st.lower, st.F-r.gradNorm*r.gradNorm/(2*mu))
	}
}

// gap bounds how far st.F is above the minimum. Less than the rounding of F
// itself is not claimed.
func (r *run) gap() float64 {
	return math.Max(r.st.F-r.st.lower, 0x1p-52*math.Abs(r.st.F))
}

// norm returns ‖x‖, +Inf if its square overflows.
func norm(x []float64) float64 { return math.Sqrt(kernel.Dot(x, x)) }

// notFinite returns the index of the first element that is not finite, or −1.
func notFinite(x []float64) int {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return i
		}
	}
	return -1
}
