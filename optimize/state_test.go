package optimize

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
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
	l.Checkpoint = func(st *State) error {
		if st.Iteration != len(states)+1 {
			t.Errorf("state of iteration %d after %d states", st.Iteration, len(states))
		}
		b, err := st.MarshalBinary()
		states = append(states, b)
		return err
	}
	return minimize(t, l, obj, x0), states
}

func unmarshal(t testing.TB, b []byte) *State {
	t.Helper()
	var st State
	if err := st.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	return &st
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
		"rosenbrock": {rosenbrock(12), LBFGS{Memory: 3, Fingerprint: "rosenbrock"}, make([]float64, 12)},
		"logistic":   {randomLogistic(3, 60, 9, 1), LBFGS{StrongConvexity: 2, Fingerprint: "C=1"}, make([]float64, 9)},
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
				l.Resume = unmarshal(t, b)
				next := k + 1
				l.Checkpoint = func(st *State) error {
					b, err := st.MarshalBinary()
					if !bytes.Equal(b, states[next]) {
						t.Errorf("resumed after %d: other state after %d", k+1, next+1)
					}
					next++
					return err
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
				var last *State
				l.CheckpointEvery = 1 << 30
				l.Checkpoint = func(st *State) error { last = st.Clone(); return nil }
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
	l := LBFGS{CheckpointEvery: 10, MaxIterations: 35}
	l.Checkpoint = func(st *State) error { at = append(at, st.Iteration); return nil }
	minimize(t, l, rosenbrock(20), make([]float64, 20))
	if !slices.Equal(at, []int{10, 20, 30}) {
		t.Errorf("checkpoints at %v", at)
	}
	full := errors.New("disk full")
	l.Checkpoint = func(*State) error { return full }
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
	st := unmarshal(t, states[19])
	for _, memory := range []int{3, 10, 30} {
		r := minimize(t, LBFGS{Resume: st, Memory: memory, FunctionTolerance: -1}, obj, nil)
		if r.Status != GradientSmall || r.Iterations <= 20 || r.F > 1e-12 {
			t.Errorf("memory %d: %+v", memory, r)
		}
	}
	if b, _ := st.MarshalBinary(); !bytes.Equal(b, states[19]) {
		t.Error("the state was changed")
	}
}

// Claim: a state of another problem is refused with an error that names both.
func TestResumeChecksTheProblem(t *testing.T) {
	_, states := checkpoints(t, LBFGS{Fingerprint: "one", StrongConvexity: 1, MaxIterations: 3}, rosenbrock(5), make([]float64, 5))
	st := unmarshal(t, states[2])
	for _, c := range []struct {
		l    LBFGS
		n    int
		want string
	}{
		{LBFGS{Fingerprint: "two", StrongConvexity: 1}, 5, `problem "one", expected "two"`},
		{LBFGS{Fingerprint: "one", StrongConvexity: 1}, 6, "5 variables, expected the objective's 6"},
		{LBFGS{Fingerprint: "one", StrongConvexity: 2}, 5, "strong convexity 1, expected 2"},
	} {
		c.l.Resume = st
		if _, err := c.l.Minimize(context.Background(), rosenbrock(c.n), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, expected %q", err, c.want)
		}
	}
	if _, err := (LBFGS{Resume: &State{}}).Minimize(context.Background(), rosenbrock(0), nil); err == nil {
		t.Error("an empty state is accepted")
	}
}

func sampleState(t testing.TB) ([]byte, *State) {
	_, states := checkpoints(t, LBFGS{Memory: 3, Fingerprint: "sample", StrongConvexity: 0.5, MaxIterations: 8}, rosenbrock(4), make([]float64, 4))
	b := states[len(states)-1]
	return b, unmarshal(t, b)
}

// Claim: every single damaged bit and every truncation or extension is noticed.
func TestDamagedStateIsRefused(t *testing.T) {
	data, _ := sampleState(t)
	var st State
	for i := range data {
		for bit := range 8 {
			bad := slices.Clone(data)
			bad[i] ^= 1 << bit
			if err := st.UnmarshalBinary(bad); err == nil {
				t.Fatalf("bit %d of byte %d: no error", bit, i)
			}
		}
		if err := st.UnmarshalBinary(data[:i]); err == nil {
			t.Fatalf("truncated to %d bytes: no error", i)
		}
	}
	if err := st.UnmarshalBinary(append(slices.Clone(data), 0)); err == nil {
		t.Error("a byte too many: no error")
	}
	if diff := cmp.Diff(&State{}, &st, cmp.AllowUnexported(State{})); diff != "" {
		t.Errorf("a failed UnmarshalBinary changed the state:\n%s", diff)
	}
}

// Claim: errors say what is wrong with the bytes or with the state in them.
func TestStateErrors(t *testing.T) {
	data, good := sampleState(t)
	version := slices.Clone(data)
	version[len(stateMagic)] = 9
	for want, bad := range map[string][]byte{
		"does not begin with": []byte("{}"),
		"ends after":          data[:20],
		"format version 9":    version,
		"checksum":            data[:len(data)-1],
	} {
		var st State
		if err := st.UnmarshalBinary(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	for want, change := range map[string]func(*State){
		"iterations with":        func(st *State) { st.Evaluations = st.Iteration },
		"gradient of length":     func(st *State) { st.Grad = st.Grad[1:] },
		"value NaN":              func(st *State) { st.F = math.NaN() },
		"gradient of norm":       func(st *State) { st.Grad[1] = math.Inf(1) },
		"strong convexity -1":    func(st *State) { st.strongConvexity = -1 },
		"lower bound NaN":        func(st *State) { st.lower = math.NaN() },
		"x[2] is NaN":            func(st *State) { st.X[2] = math.NaN() },
		"recent values":          func(st *State) { st.recent = append(st.recent, 0) },
		"iterations ago":         func(st *State) { st.idle = 1000 },
		"2 steps with 3":         func(st *State) { st.s = st.s[1:] },
		"pair 1 of lengths":      func(st *State) { st.s[1] = nil },
		"pair 2 has no positive": func(st *State) { clear(st.y[2]) },
	} {
		st := good.Clone()
		change(st)
		if err := st.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	if err := good.validate(); err != nil {
		t.Errorf("the state cloned from was changed: %v", err)
	}
}

// Claim: the binary form keeps every bit and MarshalBinary sizes it exactly.
func TestStateRoundTrip(t *testing.T) {
	data, st := sampleState(t)
	st.X[0], st.X[1] = math.Copysign(0, -1), math.SmallestNonzeroFloat64
	st.lower = math.Inf(-1)
	b, _ := st.MarshalBinary()
	if len(b) != len(data) || cap(b) != len(b) {
		t.Errorf("%d bytes in %d, expected %d", len(b), cap(b), len(data))
	}
	back := unmarshal(t, b)
	if diff := cmp.Diff(st, back, cmp.AllowUnexported(State{})); diff != "" || !math.Signbit(back.X[0]) {
		t.Errorf("(-want +got):\n%s", diff)
	}
	prefixed, _ := st.AppendBinary([]byte("prefix"))
	if !bytes.Equal(prefixed, append([]byte("prefix"), b...)) {
		t.Error("AppendBinary after a prefix gives other bytes")
	}
}

// FuzzUnmarshalBinary: no bytes make UnmarshalBinary panic or take memory out of
// proportion, and what it accepts is a possible state that marshals to the same
// bytes. The checksum is also put right, so that the fuzzer gets behind it.
func FuzzUnmarshalBinary(f *testing.F) {
	data, _ := sampleState(f)
	f.Add(data)
	f.Add(data[:len(data)-16])
	_, one := checkpoints(f, LBFGS{}, rosenbrock(2), []float64{0, 0})
	f.Add(one[0])
	f.Fuzz(func(t *testing.T, data []byte) {
		candidates := [][]byte{data}
		if n := len(data) - stateTrailer; n >= 0 {
			sum := crc64.Checksum(data[:n], stateTable)
			candidates = append(candidates, binary.LittleEndian.AppendUint64(slices.Clone(data[:n]), sum))
		}
		for _, b := range candidates {
			var st State
			if st.UnmarshalBinary(b) != nil {
				continue
			}
			if err := st.validate(); err != nil {
				t.Fatal(err)
			}
			if again, _ := st.MarshalBinary(); !bytes.Equal(again, b) {
				t.Fatalf("%d bytes accepted, marshalled to %d others", len(b), len(again))
			}
		}
	})
}

// The usual way to save states: marshalled in the callback, resumed from bytes.
func ExampleState() {
	obj := rosenbrock(2)
	var saved []byte
	first := LBFGS{Fingerprint: "rosenbrock, 2 variables", MaxIterations: 10}
	first.Checkpoint = func(st *State) (err error) {
		saved, err = st.MarshalBinary() // to be written to a file
		return err
	}
	r, _ := first.Minimize(context.Background(), obj, []float64{-1.2, 1})
	fmt.Println(r.Status)

	var st State
	if err := st.UnmarshalBinary(saved); err != nil {
		fmt.Println(err)
	}
	second := LBFGS{Fingerprint: first.Fingerprint, Resume: &st}
	r, _ = second.Minimize(context.Background(), obj, nil)
	fmt.Printf("%v at %.3f\n", r.Status, r.X)
	// Output:
	// iteration limit reached
	// gradient small at [1.000 1.000]
}
