package optimize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// script runs d for as many epochs as there are costs, which are the epochs'
// training costs, and returns what was observed.
func script(t testing.TB, d Descent, costs ...float64) ([]Epoch, *DescentResult) {
	t.Helper()
	var seen []Epoch
	if d.MaxEpochs == 0 {
		d.MaxEpochs = len(costs)
	}
	next := 0
	d.Cost = func([]float64) (float64, error) { next++; return costs[next-1], nil }
	d.Observe = func(e Epoch) error {
		e.X = slices.Clone(e.X)
		seen = append(seen, e)
		return nil
	}
	if d.Init == nil {
		d.Init = func(int, []float64) {}
	}
	r := descend(t, d, slope(2, 1), nil)
	return seen, r
}

func rates(epochs []Epoch) (r []float64) {
	for _, e := range epochs {
		r = append(r, e.Rate)
	}
	return r
}

func restarts(epochs []Epoch) (r []int) {
	for _, e := range epochs {
		r = append(r, e.Restart)
	}
	return r
}

// Claim: the rate is multiplied by Decay for the epoch after one whose cost rose
// above that of the epoch before it, not when it stays or falls, even if it is
// still above the lowest.
func TestRateDecaysWhenTheCostRises(t *testing.T) {
	for _, c := range []struct {
		decay, factor float64
	}{{0, 0.8}, {0.5, 0.5}, {1, 1}} {
		seen, _ := script(t, Descent{Rate: 1, Decay: c.decay}, 5, 4, 6, 5.5, 5.5, 7, 8, 1)
		f := c.factor
		if want := []float64{1, 1, 1, f, f, f, f * f, f * f * f}; !slices.Equal(rates(seen), want) {
			t.Errorf("rates %v, expected %v", rates(seen), want)
		}
	}
}

// Claim: the step of an epoch is made with the rate it reports.
func TestRateIsUsed(t *testing.T) {
	seen, _ := script(t, Descent{Rate: 1}, 1, 2, 3, 4)
	for _, e := range seen {
		if math.Abs(e.Step-2*e.Rate) > 1e-15 {
			t.Errorf("epoch %d: step %v with rate %v", e.Number, e.Step, e.Rate)
		}
	}
}

// Claim: after Patience epochs without a cost below the lowest of this start the
// next epoch begins from Init's weights of the next restart, with the first rate,
// and the costs of earlier starts count no more for rate and patience.
func TestRestartAfterPatience(t *testing.T) {
	var asked []int
	d := Descent{Rate: 1, Patience: 3, Init: func(restart int, x []float64) {
		if x[0] != 0 {
			t.Errorf("restart %d: x not 0 before Init", restart)
		}
		asked = append(asked, restart)
		x[0] = 100 * float64(restart+1)
	}}
	seen, r := script(t, d,
		5, 4, 6, 4, 5, // the lowest in epoch 2; 3 epochs later a restart
		20, 19, 19.5, 18, 18, 18.5, 18, // starting high is neither a rise nor a lack of reduction
		30)
	if want := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2}; !slices.Equal(restarts(seen), want) {
		t.Errorf("restarts %v, expected %v", restarts(seen), want)
	}
	f := 0.8
	if want := []float64{1, 1, 1, f, f, 1, 1, 1, f, f, f, f * f, 1}; !slices.Equal(rates(seen), want) {
		t.Errorf("rates %v, expected %v", rates(seen), want)
	}
	if !slices.Equal(asked, []int{0, 1, 2}) || r.Restarts != 2 || r.Epochs != 13 {
		t.Errorf("Init asked for %v, result %+v", asked, r)
	}
	for _, k := range []int{0, 5, 12} {
		if want := 100*float64(seen[k].Restart+1) - 2; seen[k].X[0] != want || seen[k].Step != 2 {
			t.Errorf("epoch %d: x %v after a step of %v, expected %v after 2", k+1, seen[k].X, seen[k].Step, want)
		}
	}
	// The best epoch is that of all starts.
	if r.Epoch != 2 || r.TrainingCost != 4 || r.X[0] != 100-4 || r.Validation != 0 {
		t.Errorf("best %+v", r)
	}
}

// Claim: patience is 50 epochs by default, and a negative one never ends, nor
// does any without Init.
func TestPatience(t *testing.T) {
	same := make([]float64, 120)
	for _, c := range []struct{ patience, first int }{{0, 51}, {7, 8}, {-1, -1}} {
		seen, _ := script(t, Descent{Patience: c.patience}, same...)
		if got := slices.Index(restarts(seen), 1); got != c.first {
			t.Errorf("patience %d: first restart after %d epochs, expected %d", c.patience, got, c.first)
		}
	}
	d := Descent{Patience: 3, MaxEpochs: 20, Cost: func([]float64) (float64, error) { return 1, nil }}
	if r := descend(t, d, slope(1, 1), []float64{0}); r.Restarts != 0 || r.Epochs != 20 {
		t.Errorf("without Init: %+v", r)
	}
}

// Claim: a restart forgets past gradients: its epochs are those of a fresh run
// from its weights.
func TestRestartIsAFreshStart(t *testing.T) {
	terms, _, _ := randomBowls(stream(6, 6), 5, 3)
	for _, rule := range []Rule{Plain, Momentum, Adam} {
		d := Descent{Rule: rule, Rate: 0.05, Patience: 4, Init: gaussianInit(1)}
		seen, _ := unmoved(t, d, terms, nil, 10)
		if seen[5].Restart != 1 {
			t.Fatalf("restarts %v", restarts(seen))
		}
		x0 := make([]float64, 3)
		d.Init(1, x0)
		d.Init = nil
		fresh, _ := unmoved(t, d, terms, x0, 5)
		for k, e := range fresh {
			if again := seen[5+k]; !slices.Equal(again.X, e.X) || again.Step != e.Step {
				t.Errorf("%v: epoch %d after the restart at %v, from scratch %v", rule, k+1, again.X, e.X)
			}
		}
	}
}

// unmoved runs d on given terms for some epochs whose training cost stays the
// same, and returns what was observed.
func unmoved(t testing.TB, d Descent, terms Terms, x0 []float64, epochs int) (seen []Epoch, r *DescentResult) {
	t.Helper()
	d.MaxEpochs = epochs
	d.Cost = func([]float64) (float64, error) { return 1, nil }
	d.Observe = func(e Epoch) error {
		e.X = slices.Clone(e.X)
		seen = append(seen, e)
		return nil
	}
	return seen, descend(t, d, terms, x0)
}

// Claim: the result is the first epoch with the highest validation value, the
// observer learns which epochs are better than all before, and Stall epochs
// without a better one end the run.
func TestBestEpochAndEarlyStopping(t *testing.T) {
	values := []float64{0.3, 0.2, 0.5, 0.5, 0.4, 0.45, 0.6, 0.6, 0.1, 0.6, 0.59, 0.3, 0.9}
	d := Descent{Rate: 1, MaxEpochs: 100, Stall: 5, Patience: 2}
	d.Validate = func(epoch int, x []float64) (float64, error) {
		if epoch == 1 && x[0] != -2 {
			t.Errorf("validated x %v", x)
		}
		return values[epoch-1], nil
	}
	seen, r := script(t, d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
	// 0.6 of epoch 7 is followed by five epochs that are no better.
	want := &DescentResult{X: seen[6].X, Epoch: 7, TrainingCost: 7, Validation: 0.6, Epochs: 12, Restarts: r.Restarts, Status: NoBetterEpoch}
	if diff := cmp.Diff(want, r); diff != "" || r.Restarts == 0 {
		t.Errorf("%d restarts (-want +got):\n%s", r.Restarts, diff)
	}
	for k, e := range seen {
		if want := k == 0 || k == 2 || k == 6; e.Best != want || e.Validation != values[k] {
			t.Errorf("epoch %d: %+v", k+1, e)
		}
	}
}

// Claim: for any values and costs the best epoch is the argmax of the validation
// values, or without them the argmin of the costs, the first of equals, among the
// epochs up to the stop.
func TestBestEpochIsTheFirstBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-3, 3).Draw(t, "level")) })
		costs := rapid.SliceOfN(level, 1, 30).Draw(t, "costs")
		values := rapid.SliceOfN(level, len(costs), len(costs)).Draw(t, "values")
		d := Descent{MaxEpochs: len(costs), Patience: 3, Stall: rapid.IntRange(0, 8).Draw(t, "stall"), Init: gaussianInit(1)}
		quality := make([]float64, len(costs))
		for i, c := range costs {
			quality[i] = -c
		}
		if rapid.Bool().Draw(t, "validate") {
			quality = values
			d.Validate = func(epoch int, _ []float64) (float64, error) { return values[epoch-1], nil }
		}
		epochs := 0
		d.Cost = func([]float64) (float64, error) { epochs++; return costs[epochs-1], nil }
		r, err := d.Minimize(context.Background(), slope(1, 1, 2), nil)
		if err != nil {
			t.Fatal(err)
		}
		best := slices.Index(quality, slices.Max(quality[:r.Epochs]))
		if r.Epoch != best+1 || r.TrainingCost != costs[best] || r.Epochs != epochs {
			t.Fatalf("%+v, expected epoch %d", r, best+1)
		}
		stalled := d.Stall > 0 && r.Epochs-r.Epoch >= d.Stall
		if stalled != (r.Status == NoBetterEpoch) || (stalled && r.Epochs-r.Epoch > d.Stall) || (!stalled && r.Epochs < len(costs)) {
			t.Fatalf("%+v with a stall of %d", r, d.Stall)
		}
	})
}

// Claim: by default the training cost is the sum of the values met on the way.
func TestTrainingCostIsTheSumOfValuesMet(t *testing.T) {
	// x goes 10, 9, 8 within the first epoch, whose terms have the value x.
	r := descend(t, Descent{Rate: 1, MaxEpochs: 1}, slope(2, 1), []float64{10})
	if r.TrainingCost != 10+9 {
		t.Errorf("training cost %v, expected 19", r.TrainingCost)
	}
	r = descend(t, Descent{Rate: 1, MaxEpochs: 1, Batch: 2}, slope(2, 1), []float64{10})
	if r.TrainingCost != 10+10 {
		t.Errorf("batch of 2: training cost %v, expected 20", r.TrainingCost)
	}
}

// Claim: NaN or an infinity in a term's value or gradient, in x, in the training
// cost or in the validation value ends the run with an error that names epoch,
// restart, term and place; the result is that of the epochs before.
func TestNotFiniteIsNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	at := func(fault func(grad []float64) float64) sum {
		calls := 0
		return sum{3, 6, func(i int, _, grad []float64) float64 {
			if calls++; calls > 6 && i == 4 { // from the second epoch on
				return fault(grad)
			}
			return 1
		}}
	}
	good := at(func([]float64) float64 { return 1 })
	for name, c := range map[string]struct {
		d     Descent
		terms Terms
		want  NotFinite
	}{
		"value":      {Descent{}, at(func([]float64) float64 { return nan }), NotFinite{2, 0, 4, "value", nan}},
		"infinite":   {Descent{Batch: 4}, at(func([]float64) float64 { return -inf }), NotFinite{2, 0, 4, "value", -inf}},
		"gradient":   {Descent{}, at(func(g []float64) float64 { g[1] = nan; return 1 }), NotFinite{2, 0, 4, "gradient[1]", nan}},
		"batch":      {Descent{Batch: 6}, at(func(g []float64) float64 { g[2] = inf; return 1 }), NotFinite{2, 0, 4, "gradient[2]", inf}},
		"long":       {Descent{Batch: 3}, at(func(g []float64) float64 { g[2] = 1e200; return 1 }), NotFinite{2, 0, 4, "squared length of the gradient", inf}},
		"sum":        {Descent{Batch: 6}, slope(6, 1e154, 0, 0), NotFinite{1, 0, -1, "sum of a batch's values or gradients", inf}},
		"x":          {Descent{Rate: 1e300}, at(func(g []float64) float64 { g[0] = -1e10; return 1 }), NotFinite{2, 0, 4, "x[0] after its update", inf}},
		"x, a batch": {Descent{Rate: 1e300, Batch: 2}, at(func(g []float64) float64 { g[0] = -1e10; return 1 }), NotFinite{2, 0, -1, "x[0] after its update", inf}},
		"far":        {Descent{Rate: 1e170}, at(func(g []float64) float64 { g[0] = -1e10; return 1 }), NotFinite{2, 0, 4, "squared length of x after its update", inf}},
		"leap": {Descent{Rate: 2.4e144, Patience: -1, Init: func(_ int, x []float64) { x[1] = 1.2e154 }},
			at(func(g []float64) float64 { g[1] = 1e10; return 1 }), NotFinite{2, 0, -1, "squared length of the epoch's step", inf}},
		"validation":  {Descent{Validate: func(e int, _ []float64) (float64, error) { return 1 / float64(2-e), nil }}, good, NotFinite{2, 0, -1, "validation value", inf}},
		"cost":        {Descent{Cost: onSecondCall(nan)}, good, NotFinite{2, 0, -1, "training cost", nan}},
		"a restart's": {Descent{Patience: 1, Init: gaussianInit(2), Cost: onSecondCall(1)}, atEpoch3(), NotFinite{3, 1, 0, "value", nan}},
	} {
		var x0 []float64
		if c.d.Init == nil {
			x0 = make([]float64, 3)
		}
		if c.d.Workers = 1; c.want.Epoch == 1 {
			c.d.MaxEpochs = 1
		}
		r, err := c.d.Minimize(context.Background(), c.terms, x0)
		var got *NotFinite
		if !errors.As(err, &got) || r == nil || r.Status != Diverged || r.Epochs != c.want.Epoch-1 || (r.X == nil) != (r.Epochs == 0) {
			t.Errorf("%s: %+v, error %v", name, r, err)
			continue
		}
		// NaN is the one value that differs from itself.
		same := got.Found == c.want.Found || math.IsNaN(got.Found) && math.IsNaN(c.want.Found)
		if got.Found, c.want.Found = 0, 0; !same || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, expected %+v", name, *got, c.want)
		}
	}
}

func onSecondCall(v float64) func([]float64) (float64, error) {
	calls := 0
	return func([]float64) (float64, error) {
		if calls++; calls == 2 {
			return v, nil
		}
		return 1, nil
	}
}

// atEpoch3 is a sum of one term whose third evaluation, and all later ones, give
// NaN.
func atEpoch3() sum {
	calls := 0
	return sum{3, 1, func(int, []float64, []float64) float64 {
		if calls++; calls >= 3 {
			return math.NaN()
		}
		return 1
	}}
}

// Claim: the error's text gives the user the epoch, restart and term.
func TestNotFiniteText(t *testing.T) {
	for want, e := range map[string]NotFinite{
		"epoch 3, term 17: gradient[4] is NaN, expected a finite number":           {3, 0, 17, "gradient[4]", math.NaN()},
		"epoch 60 (restart 1): training cost is +Inf, expected a finite number":    {60, 1, -1, "training cost", math.Inf(1)},
		"epoch 60 (restart 1), term 0: value is -Inf, expected a finite number":    {60, 1, 0, "value", math.Inf(-1)},
		"epoch 1, term 0: x[2] after its update is +Inf, expected a finite number": {1, 0, 0, "x[2] after its update", math.Inf(1)},
	} {
		if e.Error() != want {
			t.Errorf("%q, expected %q", e.Error(), want)
		}
	}
}

// Claim: errors of callbacks end the run and are returned with the epoch they
// belong to; ErrStop of the observer ends it without one. The result is that of
// the complete epochs.
func TestDescentCallbackErrors(t *testing.T) {
	bad := errors.New("disk full")
	second := func(epoch int) error {
		if epoch == 2 {
			return bad
		}
		return nil
	}
	calls := 0
	for name, c := range map[string]struct {
		d      Descent
		text   string
		epochs int
	}{
		"observe":    {Descent{Observe: func(e Epoch) error { return second(e.Number) }}, "stopped after 2 epochs: disk full", 2},
		"checkpoint": {Descent{Resumption: Resumption[DescentState]{Checkpoint: func(st *DescentState) error { return second(st.Epoch) }}}, "checkpoint: disk full", 2},
		"validate":   {Descent{Validate: func(e int, _ []float64) (float64, error) { return 0, second(e) }}, "validation of epoch 2: disk full", 1},
		"cost":       {Descent{Cost: func([]float64) (float64, error) { calls++; return 0, second(calls) }}, "training cost of epoch 2: disk full", 1},
	} {
		r, err := c.d.Minimize(context.Background(), slope(3, 1), []float64{0})
		if !errors.Is(err, bad) || !strings.Contains(err.Error(), c.text) || r.Epochs != c.epochs || r.Status != Stopped {
			t.Errorf("%s: %+v, error %v", name, r, err)
		}
	}
	r := descend(t, Descent{Observe: func(e Epoch) error {
		if e.Number == 4 {
			return ErrStop
		}
		return nil
	}}, slope(3, 1), []float64{0})
	if r.Status != Stopped || r.Epochs != 4 || r.Epoch != 4 {
		t.Errorf("%+v", r)
	}
}

// Claim: Shuffle is asked once for every epoch from 1 on, over restarts.
func TestShuffleIsAskedOncePerEpoch(t *testing.T) {
	var asked []int
	d := Descent{Patience: 2, Shuffle: func(epoch int) *rand.Rand {
		asked = append(asked, epoch)
		return stream(1, epoch)
	}}
	if _, r := script(t, d, 1, 1, 1, 1, 1, 1); r.Restarts != 1 || !slices.Equal(asked, []int{1, 2, 3, 4, 5, 6}) {
		t.Errorf("asked for %v, %+v", asked, r)
	}
}
