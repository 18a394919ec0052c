package optimize

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkpoints runs l on obj and returns the result and the marshalled state after
// every iteration.
func checkpoints(t testing.TB, l LBFGS, obj Objective, x0 []float64) (*Result, [][]byte) {
	t.Helper()
	var states [][]byte
	l.Checkpoint = func(st *LBFGSState) error {
		if st.Iteration != len(states)+1 {
			t.Errorf("state of iteration %d after %d states", st.Iteration, len(states))
		}
		states = append(states, marshal(t, st))
		return nil
	}
	return minimize(t, l, obj, x0), states
}

func resumable() map[string]struct {
	obj function
	l   LBFGS
	x0  []float64
} {
	rng := rand.New(rand.NewPCG(4, 4))
	a, b := make([][]float64, 8), normals(rng, 8)
	for i := range a {
		a[i] = normals(rng, 4)
	}
	type problem = struct {
		obj function
		l   LBFGS
		x0  []float64
	}
	return map[string]problem{
		"rosenbrock": {rosenbrock(12), LBFGS{Memory: 3}, make([]float64, 12)},
		"logistic":   {randomLogistic(3, 60, 9, 1), LBFGS{StrongConvexity: 2}, make([]float64, 9)},
		"kinks":      {kinked(a, b, 0.1), LBFGS{FunctionTolerance: -1}, make([]float64, 4)},
		"stall":      {randomLogistic(5, 60, 5, 1), LBFGS{FunctionTolerance: -1, GradientTolerance: -1}, make([]float64, 5)},
	}
}

// Claim: a run interrupted after any iteration and resumed from the marshalled
// state ends with the bits of the uninterrupted run, having written the same
// states on the way.
func TestResumedRunIsBitIdentical(t *testing.T) {
	for name, p := range resumable() {
		t.Run(name, func(t *testing.T) {
			want, states := checkpoints(t, p.l, p.obj, p.x0)
			if len(states) != want.Iterations || len(states) < 15 {
				t.Fatalf("%d states of %d iterations", len(states), want.Iterations)
			}
			t.Logf("%v after %d iterations", want.Status, want.Iterations)
			for k, b := range states {
				l := p.l
				l.Resume = unmarshal[LBFGSState](t, b)
				next := k + 1
				l.Checkpoint = func(st *LBFGSState) error {
					if !bytes.Equal(marshal(t, st), states[next]) {
						t.Errorf("resumed after %d: other state after %d", k+1, next+1)
					}
					next++
					return nil
				}
				got := minimize(t, l, p.obj, nil)
				if diff := cmp.Diff(want, got); diff != "" || next != len(states) {
					t.Fatalf("resumed after %d, %d states (-uninterrupted +resumed):\n%s", k+1, next, diff)
				}
			}
		})
	}
}

// Claim: a cancelled run, even in the middle of a line search, returns the last
// complete iteration, hands out its state, and resumes to the same bits.
func TestCancelledRunResumes(t *testing.T) {
	cause := errors.New("interrupted by the user")
	for name, p := range resumable() {
		t.Run(name, func(t *testing.T) {
			want := minimize(t, p.l, p.obj, p.x0)
			for after := 1; after <= want.Evaluations; after += 1 + want.Evaluations/150 {
				ctx, cancel := context.WithCancelCause(context.Background())
				evaluations := 0
				counted := function{p.obj.dim, func(x, grad []float64) float64 {
					if evaluations++; evaluations == after {
						cancel(cause)
					}
					return p.obj.Eval(x, grad)
				}}
				l := p.l
				var last *LBFGSState
				l.CheckpointEvery = 1 << 30
				l.Checkpoint = func(st *LBFGSState) error { last = st.Clone(); return nil }
				r, err := l.Minimize(ctx, counted, p.x0)
				if err == nil && r.Status != Cancelled {
					continue // the evaluation was the run's last
				}
				if !errors.Is(err, cause) || r.Status != Cancelled || last == nil || last.Iteration != r.Iterations || !slices.Equal(last.X, r.X) {
					t.Fatalf("cancelled in evaluation %d: %+v, error %v, state %+v", after, r, err, last)
				}
				l.Checkpoint, l.Resume = nil, last
				if diff := cmp.Diff(want, minimize(t, l, p.obj, nil)); diff != "" {
					t.Fatalf("cancelled in evaluation %d (-uninterrupted +resumed):\n%s", after, diff)
				}
			}
		})
	}
}

// Claim: a run cancelled before it starts evaluates the start only.
func TestCancelledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := LBFGS{}.Minimize(ctx, rosenbrock(2), []float64{-1.2, 1})
	if !errors.Is(err, context.Canceled) || r.Status != Cancelled || r.Evaluations != 1 || r.Iterations != 0 {
		t.Errorf("%+v, error %v", r, err)
	}
}

// Claim: checkpoints come at the given interval, and an error of theirs ends the
// run with it.
func TestCheckpointInterval(t *testing.T) {
	var at []int
	l := LBFGS{MaxIterations: 35}
	l.CheckpointEvery = 10
	l.Checkpoint = func(st *LBFGSState) error { at = append(at, st.Iteration); return nil }
	minimize(t, l, rosenbrock(20), make([]float64, 20))
	if !slices.Equal(at, []int{10, 20, 30}) {
		t.Errorf("checkpoints at %v", at)
	}
	full := errors.New("disk full")
	l.Checkpoint = func(*LBFGSState) error { return full }
	r, err := l.Minimize(context.Background(), rosenbrock(20), make([]float64, 20))
	if !errors.Is(err, full) || r == nil || r.Iterations != 10 || r.Status != Stopped {
		t.Errorf("%+v, error %v", r, err)
	}
}

// Claim: a resumed run may go on with other tolerances and less memory, from the
// state it was given, which stays unchanged.
func TestResumeWithOtherSettings(t *testing.T) {
	obj := rosenbrock(12)
	_, states := checkpoints(t, LBFGS{MaxIterations: 20}, obj, make([]float64, 12))
	st := unmarshal[LBFGSState](t, states[19])
	for _, memory := range []int{3, 10, 30} {
		l := LBFGS{Memory: memory, FunctionTolerance: -1}
		l.Resume = st
		r := minimize(t, l, obj, nil)
		if r.Status != GradientSmall || r.Iterations <= 20 || r.F > 1e-12 {
			t.Errorf("memory %d: %+v", memory, r)
		}
	}
	if !bytes.Equal(marshal(t, st), states[19]) {
		t.Error("the state was changed")
	}
}

// Claim: a state of another problem is refused with an error that says what differs.
func TestResumeChecksTheProblem(t *testing.T) {
	_, states := checkpoints(t, LBFGS{StrongConvexity: 1, MaxIterations: 3}, rosenbrock(5), make([]float64, 5))
	st := unmarshal[LBFGSState](t, states[2])
	for _, c := range []struct {
		l    LBFGS
		n    int
		want string
	}{
		{LBFGS{StrongConvexity: 1}, 6, "5 variables, expected the objective's 6"},
		{LBFGS{StrongConvexity: 2}, 5, "strong convexity 1, expected 2"},
	} {
		c.l.Resume = st
		var unfit *StateError
		if _, err := c.l.Minimize(context.Background(), rosenbrock(c.n), nil); !errors.As(err, &unfit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, expected %q", err, c.want)
		}
	}
	var l LBFGS
	l.Resume = &LBFGSState{}
	if _, err := l.Minimize(context.Background(), rosenbrock(0), nil); err == nil {
		t.Error("an empty state is accepted")
	}
}

func sampleLBFGS(t testing.TB) *LBFGSState {
	_, states := checkpoints(t, LBFGS{Memory: 3, StrongConvexity: 0.5, MaxIterations: 8}, rosenbrock(4), make([]float64, 4))
	return unmarshal[LBFGSState](t, states[len(states)-1])
}

// Claim: errors say what is impossible about a state, and it is not read either.
func TestImpossibleLBFGSState(t *testing.T) {
	good := sampleLBFGS(t)
	for want, change := range map[string]func(*LBFGSState){
		"iterations with":        func(st *LBFGSState) { st.Evaluations = st.Iteration },
		"gradient of length":     func(st *LBFGSState) { st.Grad = st.Grad[1:] },
		"value NaN":              func(st *LBFGSState) { st.F = math.NaN() },
		"gradient of norm":       func(st *LBFGSState) { st.Grad[1] = math.Inf(1) },
		"strong convexity -1":    func(st *LBFGSState) { st.strongConvexity = -1 },
		"lower bound NaN":        func(st *LBFGSState) { st.lower = math.NaN() },
		"x[2] is NaN":            func(st *LBFGSState) { st.X[2] = math.NaN() },
		"recent values":          func(st *LBFGSState) { st.recent = append(st.recent, 0) },
		"iterations ago":         func(st *LBFGSState) { st.idle = 1000 },
		"pair 1 of lengths":      func(st *LBFGSState) { st.s[1] = nil },
		"pair 2 has no positive": func(st *LBFGSState) { clear(st.y[2]) },
	} {
		st := good.Clone()
		change(st)
		checkImpossible(t, st, new(LBFGSState), want)
	}
	uneven := good.Clone() // has no binary form
	uneven.s = uneven.s[1:]
	if err := uneven.validate(); err == nil || !strings.Contains(err.Error(), "2 steps with 3") {
		t.Errorf("error %v, expected that the pairs are uneven", err)
	}
	if err := good.validate(); err != nil {
		t.Errorf("the state cloned from was changed: %v", err)
	}
}
