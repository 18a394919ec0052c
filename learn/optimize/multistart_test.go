package optimize

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// doubleWell is Σ (x² − 1)² + 0.3x + 1.5: each variable has a minimum near 1 and a lower
// one near −1.
func doubleWell(n int) function {
	return function{n, func(x, grad []float64) float64 {
		f := 0.0
		for i, v := range x {
			f += (v*v-1)*(v*v-1) + 0.3*v + 1.5
			grad[i] = 4*v*(v*v-1) + 0.3
		}
		return f
	}}
}

// fourStarts begin in other wells each; the third start is in the lowest.
func fourStarts() Multistart {
	starts := [][]float64{{0.7, 0.8}, {0.9, -0.6}, {-0.4, -1.6}, {-0.9, 1.3}}
	return Multistart{
		Solver: LBFGS{FunctionTolerance: -1},
		Starts: 4,
		Init:   func(start int, x []float64) { copy(x, starts[start]) },
	}
}

func minimizeFrom(t testing.TB, m Multistart) *Result {
	t.Helper()
	r, err := m.Minimize(context.Background(), doubleWell(2))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: the result is that of the start with the lowest minimum, as L-BFGS alone finds it
// from there, and the observer learns which values are the lowest so far.
func TestMultistartKeepsTheLowest(t *testing.T) {
	m := fourStarts()
	lowest, starts := math.Inf(1), 0
	m.Observe = func(start int, it Iteration, best bool) error {
		if it.Number == 0 {
			starts++
		}
		if best != (it.F < lowest) || start != starts-1 {
			t.Errorf("start %d, value %v after %v: best %v", start, it.F, lowest, best)
		}
		lowest = min(lowest, it.F)
		return nil
	}
	got := minimizeFrom(t, m)
	x0 := make([]float64, 2)
	m.Init(2, x0)
	want := minimize(t, m.Solver, doubleWell(2), x0)
	if diff := cmp.Diff(want, got); diff != "" || starts != 4 || got.F != lowest {
		t.Errorf("%d starts, lowest %v (-want +got):\n%s", starts, lowest, diff)
	}
	if one := minimizeFrom(t, Multistart{Solver: m.Solver}); math.Abs(one.X[0]) > 2 || one.F < got.F {
		t.Errorf("one start from 0 ends at %+v", one)
	}
}

// multistartStates runs m and returns the result and the checkpoints.
func multistartStates(t testing.TB, m Multistart) (*Result, [][]byte) {
	t.Helper()
	var states [][]byte
	m.Checkpoint = func(st *MultistartState) error {
		states = append(states, marshal(t, st))
		return nil
	}
	return minimizeFrom(t, m), states
}

func sampleMultistart(t testing.TB) *MultistartState {
	_, states := multistartStates(t, fourStarts())
	return unmarshal[MultistartState](t, states[len(states)-1])
}

// Claim: a run interrupted in any iteration of any start and resumed from the checkpoint
// gives the result and the checkpoints of the uninterrupted run, bit by bit, and leaves
// the state it went on from as it was.
func TestResumedMultistartIsBitIdentical(t *testing.T) {
	want, states := multistartStates(t, fourStarts())
	if len(states) < 20 {
		t.Fatalf("only %d states", len(states))
	}
	for k, b := range states {
		m := fourStarts()
		m.Resume = unmarshal[MultistartState](t, b)
		got, rest := multistartStates(t, m)
		if diff := cmp.Diff(want, got); diff != "" || !slices.EqualFunc(rest, states[k+1:], bytes.Equal) {
			t.Fatalf("resumed after %d of %d, then %d (-uninterrupted +resumed):\n%s", k+1, len(states), len(rest), diff)
		}
		if !bytes.Equal(marshal(t, m.Resume), b) {
			t.Fatalf("resumed after %d: the state was changed", k+1)
		}
	}
}

// Claim: a run cancelled in any evaluation hands out a state that leads to the bits of the
// uninterrupted run.
func TestCancelledMultistartResumes(t *testing.T) {
	want := minimizeFrom(t, fourStarts())
	for after := 1; after < 1000; after++ {
		ctx, cancel := context.WithCancel(context.Background())
		evaluations := 0
		well := doubleWell(2)
		counted := function{2, func(x, grad []float64) float64 {
			if evaluations++; evaluations == after {
				cancel()
			}
			return well.Eval(x, grad)
		}}
		m := fourStarts()
		m.CheckpointEvery = 1 << 30
		var last *MultistartState
		m.Checkpoint = func(st *MultistartState) error { last = st.Clone(); return nil }
		_, err := m.Minimize(ctx, counted)
		cancel()
		if err == nil {
			if evaluations < 20 {
				t.Errorf("ends after %d evaluations", evaluations)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || last == nil {
			t.Fatalf("cancelled in evaluation %d: state %v, error %v", after, last, err)
		}
		m = fourStarts()
		m.Resume = last
		if diff := cmp.Diff(want, minimizeFrom(t, m)); diff != "" {
			t.Fatalf("cancelled in evaluation %d (-uninterrupted +resumed):\n%s", after, diff)
		}
	}
	t.Error("it does not end")
}

// Claim: callbacks' errors end the run, ErrStop with the best so far; settings and states
// that do not fit are refused.
func TestMultistartEnds(t *testing.T) {
	full := errors.New("disk full")
	stopAt := func(at int, err error) func(int, Iteration, bool) error {
		return func(start int, it Iteration, _ bool) error {
			if start == at && it.Number == 1 {
				return err
			}
			return nil
		}
	}
	m := fourStarts()
	m.Observe = stopAt(3, ErrStop)
	if r := minimizeFrom(t, m); r.F != minimizeFrom(t, fourStarts()).F {
		t.Errorf("stopped in the last start: %+v", r)
	}
	sample := sampleMultistart(t)
	for want, change := range map[string]func(*Multistart){
		"disk full":              func(m *Multistart) { m.Observe = stopAt(1, full) },
		"checkpoint: disk full":  func(m *Multistart) { m.Checkpoint = func(*MultistartState) error { return full } },
		"-1 starts":              func(m *Multistart) { m.Starts = -1 },
		"checkpoint interval -1": func(m *Multistart) { m.CheckpointEvery = -1 },
		"start: x[0] is NaN":     func(m *Multistart) { m.Init = func(_ int, x []float64) { x[0] = math.NaN() } },
		"state is of start 3, expected one from 0": func(m *Multistart) { m.Starts, m.Resume = 3, sample },
		"resumed state: start 0, expected a best":  func(m *Multistart) { m.Resume = sample.Clone(); m.Resume.Start = 0 },
	} {
		m := fourStarts()
		change(&m)
		var unfit *StateError
		_, err := m.Minimize(context.Background(), doubleWell(2))
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &unfit) != strings.Contains(want, "state") {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// Claim: errors say what is impossible about a state, and it is not read either.
func TestImpossibleMultistartState(t *testing.T) {
	good := sampleMultistart(t)
	for want, change := range map[string]func(*MultistartState){
		"start -1, expected":                 func(st *MultistartState) { st.Start = -1 },
		"start 0, expected a best":           func(st *MultistartState) { st.Start = 0 },
		"start 3, expected a best":           func(st *MultistartState) { st.best = nil },
		"lowest value NaN":                   func(st *MultistartState) { st.lowest = math.NaN() },
		"lowest value 100":                   func(st *MultistartState) { st.lowest = 100 },
		"a best result of 1 variables":       func(st *MultistartState) { st.best.X = st.best.X[:1] },
		"the value NaN":                      func(st *MultistartState) { st.best.F = math.NaN() },
		"gradient norm +Inf":                 func(st *MultistartState) { st.best.GradNorm = math.Inf(1) },
		"of -1 iterations":                   func(st *MultistartState) { st.best.Iterations = -1 },
		"that ended with cancelled":          func(st *MultistartState) { st.best.Status = Cancelled },
		"that ended with status 0, expected": func(st *MultistartState) { st.best.Status = 0 },
		"iterations with":                    func(st *MultistartState) { st.Run.Iteration = -1 },
	} {
		st := good.Clone()
		change(st)
		checkImpossible(t, st, new(MultistartState), want)
	}
	if err := good.validate(); err != nil {
		t.Errorf("the state cloned from was changed: %v", err)
	}
}
