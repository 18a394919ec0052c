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

type descentProblem struct {
	d     Descent
	terms sum
	x0    []float64
}

// resumableDescents are runs with decays, restarts, early stopping, batches and
// every rule.
func resumableDescents() map[string]descentProblem {
	terms, _, _ := randomBowls(stream(4, 4), 11, 4)
	closeTo := func(target []float64) func(int, []float64) (float64, error) {
		return func(_ int, x []float64) (float64, error) { return -distance(x, target), nil }
	}
	return map[string]descentProblem{
		"plain":    {Descent{Rate: 0.4, MaxEpochs: 25, Shuffle: shuffled(1)}, terms, make([]float64, 4)},
		"momentum": {Descent{Rule: Momentum, Rate: 0.05, Batch: 3, C: 2, MaxEpochs: 25, Shuffle: shuffled(2), Validate: closeTo(make([]float64, 4))}, terms, make([]float64, 4)},
		"adam":     {Descent{Rule: Adam, Rate: 0.3, Batch: 4, C: 9, MaxEpochs: 25, Shuffle: shuffled(3)}, terms, make([]float64, 4)},
		"restarts": {Descent{Rule: Adam, Rate: 1.5, Patience: 2, MaxEpochs: 30, Shuffle: shuffled(4), Init: gaussianInit(5), Validate: closeTo([]float64{1, 0, -1, 0})}, terms, nil},
		"stall":    {Descent{Rule: Momentum, Rate: 0.1, Stall: 20, Patience: 3, MaxEpochs: 90, Shuffle: shuffled(6), Init: gaussianInit(7), Validate: closeTo([]float64{0, 0, 0, 1})}, terms, nil},
	}
}

// descentStates runs d and returns the result, the marshalled states and the
// learning curve.
func descentStates(t testing.TB, p descentProblem, d Descent, x0 []float64) (*DescentResult, [][]byte, []Epoch) {
	t.Helper()
	var states [][]byte
	var curve []Epoch
	d.Observe = func(e Epoch) error {
		e.X = slices.Clone(e.X)
		curve = append(curve, e)
		return nil
	}
	d.Checkpoint = func(st *DescentState) error {
		states = append(states, marshal(t, st))
		return nil
	}
	return descend(t, d, p.terms, x0), states, curve
}

// Claim: a run interrupted after any epoch and resumed from the marshalled state
// gives the result, the learning curve and the states of the uninterrupted run,
// bit by bit.
func TestResumedDescentIsBitIdentical(t *testing.T) {
	for name, p := range resumableDescents() {
		t.Run(name, func(t *testing.T) {
			want, states, curve := descentStates(t, p, p.d, p.x0)
			if len(states) != want.Epochs || want.Epochs < 20 || len(curve) != len(states) {
				t.Fatalf("%d states of %+v", len(states), want)
			}
			t.Logf("%v after %d epochs and %d restarts, last rate %v of %v", want.Status, want.Epochs, want.Restarts, curve[len(curve)-1].Rate, p.d.Rate)
			if p.d.Init != nil && want.Restarts < 2 {
				t.Errorf("%d restarts, expected several", want.Restarts)
			}
			for k, b := range states {
				d := p.d
				d.Resume = unmarshal[DescentState](t, b)
				got, rest, again := descentStates(t, p, d, nil)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("resumed after %d (-uninterrupted +resumed):\n%s", k+1, diff)
				}
				if !slices.EqualFunc(rest, states[k+1:], bytes.Equal) {
					t.Fatalf("resumed after %d: other states", k+1)
				}
				if len(again) > 0 || k+1 < len(curve) {
					if diff := cmp.Diff(curve[k+1:], again); diff != "" {
						t.Fatalf("resumed after %d: other curve:\n%s", k+1, diff)
					}
				}
				if !bytes.Equal(marshal(t, d.Resume), b) {
					t.Fatalf("resumed after %d: the state was changed", k+1)
				}
			}
		})
	}
}

// Claim: a run cancelled within any epoch returns what the epochs before it gave,
// hands out their state, and resumes to the bits of the uninterrupted run.
func TestCancelledDescentResumes(t *testing.T) {
	cause := errors.New("interrupted by the user")
	for name, p := range resumableDescents() {
		t.Run(name, func(t *testing.T) {
			p.d.Workers = 1
			want := descend(t, p.d, p.terms, p.x0)
			for after := 1; after <= want.Epochs*p.terms.terms; after += 5 {
				ctx, cancel := context.WithCancelCause(context.Background())
				evaluations := 0
				counted := p.terms
				counted.eval = func(i int, x, grad []float64) float64 {
					if evaluations++; evaluations == after {
						cancel(cause)
					}
					return p.terms.eval(i, x, grad)
				}
				d := p.d
				var last *DescentState
				d.CheckpointEvery = 1 << 30
				d.Checkpoint = func(st *DescentState) error { last = st.Clone(); return nil }
				r, err := d.Minimize(ctx, counted, p.x0)
				if err == nil && r.Status != Cancelled {
					continue // the evaluation belonged to the last update
				}
				if !errors.Is(err, cause) || r.Status != Cancelled || (last == nil) != (r.Epochs == 0) || (r.X == nil) != (r.Epochs == 0) {
					t.Fatalf("cancelled in evaluation %d: %+v, error %v, state %+v", after, r, err, last)
				}
				if last == nil {
					continue
				}
				d.Checkpoint, d.Resume = nil, last
				if diff := cmp.Diff(want, descend(t, d, p.terms, nil)); diff != "" || last.Epoch != r.Epochs {
					t.Fatalf("cancelled in evaluation %d (-uninterrupted +resumed):\n%s", after, diff)
				}
			}
		})
	}
}

// Claim: checkpoints come at the given interval.
func TestDescentCheckpointInterval(t *testing.T) {
	var at []int
	d := Descent{MaxEpochs: 35}
	d.CheckpointEvery = 10
	d.Checkpoint = func(st *DescentState) error { at = append(at, st.Epoch); return nil }
	descend(t, d, slope(2, 1), []float64{0})
	if !slices.Equal(at, []int{10, 20, 30}) {
		t.Errorf("checkpoints after %v", at)
	}
}

// Claim: a resumed run may have more epochs and other patience.
func TestResumeDescentWithOtherSettings(t *testing.T) {
	p := resumableDescents()["plain"]
	p.d.MaxEpochs = 40
	want := descend(t, p.d, p.terms, p.x0)
	p.d.MaxEpochs = 15
	_, states, _ := descentStates(t, p, p.d, p.x0)
	p.d.MaxEpochs, p.d.Resume = 40, unmarshal[DescentState](t, states[14])
	if diff := cmp.Diff(want, descend(t, p.d, p.terms, nil)); diff != "" {
		t.Error(diff)
	}
	p.d.MaxEpochs = 10
	if r := descend(t, p.d, p.terms, nil); r.Status != EpochLimit || r.Epochs != 15 {
		t.Errorf("with fewer epochs than done: %+v", r)
	}
}

// Claim: a state of another problem is refused with an error that says what differs.
func TestResumedDescentChecksTheProblem(t *testing.T) {
	st := sampleDescent(t)
	for want, c := range map[string]struct {
		d     Descent
		terms sum
	}{
		"3 variables, expected the objective's 2":        {Descent{Rule: Adam}, slope(7, 1, 2)},
		"7 terms, expected 8":                            {Descent{Rule: Adam}, slope(8, 1, 2, 3)},
		"of the rule adam, expected momentum":            {Descent{Rule: Momentum}, slope(7, 1, 2, 3)},
		"resumed state: rate -1, expected a finite non-": {Descent{Rule: Adam}, slope(7, 1, 2, 3)},
	} {
		c.d.Resume = st.Clone()
		if strings.Contains(want, "rate") {
			c.d.Resume.Rate = -1
		}
		var unfit *StateError
		if _, err := c.d.Minimize(context.Background(), c.terms, nil); !errors.As(err, &unfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

func sampleDescent(t testing.TB) *DescentState {
	p := descentProblem{terms: slope(7, 1, 2, 3)}
	d := Descent{Rule: Adam, MaxEpochs: 9, Patience: 3, Batch: 2, Workers: 1, Init: gaussianInit(1), Cost: func([]float64) (float64, error) { return 1, nil }}
	_, states, _ := descentStates(t, p, d, nil)
	return unmarshal[DescentState](t, states[len(states)-1])
}

// Claim: errors say what is impossible about a state, and it is not read either.
func TestImpossibleDescentState(t *testing.T) {
	good := sampleDescent(t)
	for want, change := range map[string]func(*DescentState){
		"rule 7":                      func(st *DescentState) { st.Rule = 7 },
		"rule -1":                     func(st *DescentState) { st.Rule = -1 },
		"0 terms":                     func(st *DescentState) { st.Terms = 0 },
		"9 restarts in 9 epochs":      func(st *DescentState) { st.Restart = 9 },
		"-1 restarts":                 func(st *DescentState) { st.Restart = -1 },
		"restarts in 0 epochs":        func(st *DescentState) { st.Epoch = 0 },
		"0 updates":                   func(st *DescentState) { st.Updates = 0 },
		"64 updates of 7 terms":       func(st *DescentState) { st.Updates = 64 },
		"rate -0.1":                   func(st *DescentState) { st.Rate = -0.1 },
		"rate NaN":                    func(st *DescentState) { st.Rate = math.NaN() },
		"lowest 1 9 epochs ago":       func(st *DescentState) { st.idle = 9 },
		"training cost NaN":           func(st *DescentState) { st.TrainingCost = math.NaN() },
		"lowest +Inf":                 func(st *DescentState) { st.lowest = math.Inf(1) },
		"with a lowest of 2":          func(st *DescentState) { st.lowest = 2 },
		"cost 3 with a lowest of 1":   func(st *DescentState) { st.TrainingCost, st.idle = 3, 0 },
		"x of norm NaN":               func(st *DescentState) { st.X[1] = math.NaN() },
		"x of norm +Inf":              func(st *DescentState) { st.X[1] = 1e200 },
		"1 vectors beside x":          func(st *DescentState) { st.moments = st.moments[1:] },
		"2 vectors beside x, expec":   func(st *DescentState) { st.Rule = Plain },
		"a moment of length 2":        func(st *DescentState) { st.moments[1] = st.moments[1][1:] },
		"moment's element 2 is -Inf":  func(st *DescentState) { st.moments[0][2] = math.Inf(-1) },
		"element 0, is -1":            func(st *DescentState) { st.moments[1][0] = -1 },
		"best epoch 10, expected 1":   func(st *DescentState) { st.Best.Epoch = 10 },
		"best epoch 0, expected 1":    func(st *DescentState) { st.Best.Epoch = 0 },
		"validation value NaN":        func(st *DescentState) { st.Best.Validation = math.NaN() },
		"epoch of training cost +Inf": func(st *DescentState) { st.Best.TrainingCost = math.Inf(1) },
		"best x of length 4":          func(st *DescentState) { st.Best.X = make([]float64, 4) },
		"best x[2] is NaN":            func(st *DescentState) { st.Best.X[2] = math.NaN() },
	} {
		st := good.Clone()
		change(st)
		checkImpossible(t, st, new(DescentState), want)
	}
	if err := good.validate(); err != nil {
		t.Errorf("the state cloned from was changed: %v", err)
	}
}
