package optimize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
)

// Multistart minimises a function that may have several minima. It runs [LBFGS] from several starts, one after the
// other, and returns the lowest result, the first one among equals.
//
// The same objective, settings and starts give the same bits, with or without interruptions.
type Multistart struct {
	// Solver runs from every start. Multistart sets its callbacks and its state to resume.
	Solver LBFGS

	// Starts is the number of starts; 0 means 1.
	Starts int

	// Init sets x, which is all 0, to the point of the start with the given index. It must be deterministic. If Init
	// is nil, every start is 0.
	Init func(start int, x []float64)

	// Observe, if not nil, is called at the beginning of every start and after every iteration. lowest reports
	// whether the value is the lowest so far, over all starts. An error ends the run. Minimize returns the error,
	// except for ErrStop.
	Observe func(start int, it Iteration, lowest bool) error

	// Resumption defines how the run is interrupted and resumed, between two iterations.
	Resumption[MultistartState]
}

// MultistartState is the [State] of a [Multistart] between two iterations.
type MultistartState struct {
	Start int        // index of the current start
	Run   LBFGSState // state of the current start

	best   *Result // best result of the earlier starts; nil at the first start
	lowest float64 // lowest value so far
}

// Minimize searches for the lowest minimum of obj. The error is about invalid settings, an invalid start or state, an
// objective that is not finite at a start, a failed callback, or a cancelled ctx. A tolerance that was not reached is
// no error: see Result.Status. The result has the numbers of iterations and evaluations of the best start.
func (m Multistart) Minimize(ctx context.Context, obj Objective) (*Result, error) {
	if m.Starts < 0 {
		return nil, fmt.Errorf("optimize: %d starts, expected a positive number or 0 for one", m.Starts)
	}
	defaultTo(&m.Starts, 1)
	st := &MultistartState{lowest: math.Inf(1)}
	if m.Resume != nil {
		if err := m.fits(m.Resume); err != nil {
			return nil, fmt.Errorf("optimize: %w", err)
		}
		*st = *m.Resume
	}
	resume := m.Resume != nil
	for ; st.Start < m.Starts; st.Start++ {
		result, err := m.start(ctx, obj, st, resume)
		if err != nil {
			return nil, err
		}
		if st.best == nil || result.F < st.best.F {
			st.best = result
		}
		if result.Status == Stopped {
			break
		}
		resume = false
	}
	return st.best, nil
}

// start runs the solver from the current start, or from the state if resume is set.
func (m *Multistart) start(ctx context.Context, obj Objective, st *MultistartState, resume bool) (*Result, error) {
	solver, x0 := m.Solver, []float64(nil)
	if resume {
		solver.Resume = &st.Run
	} else {
		x0 = make([]float64, obj.Dim())
		if m.Init != nil {
			m.Init(st.Start, x0)
		}
	}
	solver.CheckpointEvery = m.CheckpointEvery
	if m.Checkpoint != nil {
		solver.Checkpoint = func(run *LBFGSState) error {
			now := *st
			now.Run = *run
			return m.Checkpoint(&now)
		}
	}
	solver.Observe = func(it Iteration) error {
		lowest := it.F < st.lowest
		st.lowest = min(st.lowest, it.F)
		if m.Observe == nil {
			return nil
		}
		return m.Observe(st.Start, it, lowest)
	}
	return solver.Minimize(ctx, obj, x0)
}

func (m *Multistart) fits(st *MultistartState) error {
	if err := st.validate(); err != nil {
		return unfit("resumed state: %w", err)
	}
	if st.Start >= m.Starts {
		return unfit("resumed state is of start %d, expected one from 0 to %d", st.Start, m.Starts-1)
	}
	return nil
}

var _ State = (*MultistartState)(nil)

// Kind returns "L-BFGS from several starts".
func (st *MultistartState) Kind() string { return "L-BFGS from several starts" }

// AppendBinary implements [State].
func (st *MultistartState) AppendBinary(b []byte) ([]byte, error) {
	return binarystate.Append(b, st.code), nil
}

// UnmarshalBinary implements [State].
func (st *MultistartState) UnmarshalBinary(data []byte) error { return readState(data, st) }

// code writes or reads the best result so far, then the state of the current start.
func (st *MultistartState) code(c *binarystate.Codec) {
	known := 0
	if st.best != nil {
		known = 1
	}
	c.Ints(&st.Start, &known)
	c.Floats(&st.lowest)
	switch {
	case known == 1 && c.Reading():
		st.best = new(Result)
	case known != 0 && known != 1:
		c.Fail(fmt.Errorf("found %d best results, expected none or one", known))
	}
	if best := st.best; best != nil {
		n, status := len(best.X), int(best.Status)
		c.Ints(&n, &best.Iterations, &best.Evaluations, &status)
		c.Floats(&best.F, &best.GradNorm, &best.Gap)
		c.Vectors(n, &best.X)
		best.Status = Status(status)
	}
	st.Run.code(c)
}

// validate returns an error if st cannot be the state of a run.
func (st *MultistartState) validate() error {
	if st.Start < 0 || (st.best == nil) != (st.Start == 0) {
		return fmt.Errorf("start %d, expected a best result before it except at 0", st.Start)
	}
	if math.IsNaN(st.lowest) || st.lowest > st.Run.F {
		return fmt.Errorf("lowest value %v, expected at most the last, %v", st.lowest, st.Run.F)
	}
	if b := st.best; b != nil {
		switch {
		case len(b.X) != len(st.Run.X):
			return fmt.Errorf("a best result of %d variables, expected %d", len(b.X), len(st.Run.X))
		case notFinite(b.X) >= 0 || !finite(b.F) || !finite(b.GradNorm) || math.IsNaN(b.Gap):
			return fmt.Errorf("a best result with the value %v and gradient norm %v, expected finite numbers", b.F, b.GradNorm)
		case b.Iterations < 0 || b.Evaluations < 0 || b.Status < GapReached || b.Status > SearchStalled:
			return fmt.Errorf("a best result of %d iterations that ended with %v, expected one that ended by itself", b.Iterations, b.Status)
		}
	}
	return st.Run.validate()
}

// Clone returns a copy that shares no memory with st.
func (st *MultistartState) Clone() *MultistartState {
	c := *st
	c.Run = *st.Run.Clone()
	if st.best != nil {
		best := *st.best
		best.X = slices.Clone(best.X)
		c.best = &best
	}
	return &c
}
