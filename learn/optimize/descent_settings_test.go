package optimize

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Claim: settings and starts that make no sense are refused with an error that
// says which.
func TestDescentSettings(t *testing.T) {
	nan := math.NaN()
	for want, d := range map[string]Descent{
		"batch of -1":              {Batch: -1},
		"workers -2":               {Workers: -2},
		"epoch limit -1":           {MaxEpochs: -1},
		"stall -1":                 {Stall: -1},
		"checkpoint interval -1":   {Resumption: Resumption[DescentState]{CheckpointEvery: -1}},
		"rate -1":                  {Rate: -1},
		"rate NaN":                 {Rate: nan},
		"rate +Inf":                {Rate: math.Inf(1)},
		"beta1 1,":                 {Beta1: 1},
		"beta1 NaN":                {Beta1: nan},
		"beta2 1,":                 {Beta2: 1},
		"beta2 -0.1":               {Beta2: -0.1},
		"epsilon -1":               {Epsilon: -1},
		"decay 1.5":                {Decay: 1.5},
		"decay NaN":                {Decay: nan},
		"C = -1":                   {C: -1},
		"C = NaN":                  {C: nan},
		"C = 1e-309":               {C: 1e-309},
		"rule 4":                   {Rule: 4},
		"rule -1":                  {Rule: -1},
		"start of 0 variables":     {},
		"start: x[1] is NaN":       {Init: func(_ int, x []float64) { x[1] = nan }},
		"so far from 0":            {Init: func(_ int, x []float64) { x[1] = 1e200 }},
		"0 restarts in 0 epochs":   {Resumption: Resumption[DescentState]{Resume: &DescentState{Rule: Plain, Terms: 1}}},
		"0 terms, expected at":     {Resumption: Resumption[DescentState]{Resume: &DescentState{Rule: Plain}}},
		"restart 1: start: x[0] i": {Patience: 1, Init: func(k int, x []float64) { x[0] = float64(k) / (1 - float64(k)) }, Cost: func([]float64) (float64, error) { return 7, nil }},
	} {
		r, err := d.Minimize(context.Background(), slope(2, 1, 1), nil)
		if err == nil || !strings.Contains(err.Error(), want) || (r != nil) != strings.HasPrefix(want, "restart") {
			t.Errorf("%+v, error %v, expected %q", r, err, want)
		}
	}
	if _, err := (Descent{}).Minimize(context.Background(), slope(0, 1), []float64{0}); err == nil || !strings.Contains(err.Error(), "0 terms") {
		t.Errorf("no terms: error %v", err)
	}
}

// Claim: the zero value is plain descent, a term at a time in order, with rate
// 1e-3, 300 epochs and decay 0.8.
func TestDescentZeroValue(t *testing.T) {
	terms, _, _ := randomBowls(stream(5, 5), 6, 3)
	want := descend(t, Descent{Rule: Plain, Rate: 1e-3, Batch: 1, MaxEpochs: 300, Decay: 0.8, C: math.Inf(1)}, terms, make([]float64, 3))
	if diff := cmp.Diff(want, descend(t, Descent{}, terms, make([]float64, 3))); diff != "" || want.Epochs != 300 {
		t.Error(diff, want.Epochs)
	}
}

// Claim: Begin is called once before every epoch's terms, with its number, also
// when a run is resumed, and its error ends the run with the epochs before.
func TestDescentBegin(t *testing.T) {
	var calls []int
	terms := sum{1, 3, func(int, []float64, []float64) float64 { calls = append(calls, 0); return 1 }}
	refused := errors.New("refused")
	d := Descent{MaxEpochs: 2, Begin: func(epoch int) error {
		calls = append(calls, epoch)
		if epoch == 4 {
			return refused
		}
		return nil
	}}
	var saved DescentState
	d.Checkpoint = func(st *DescentState) error { saved = *st.Clone(); return nil }
	descend(t, d, terms, []float64{0})
	d.MaxEpochs, d.Resume = 5, &saved
	r, err := d.Minimize(context.Background(), terms, nil)
	if want := []int{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}; !slices.Equal(calls, want) {
		t.Errorf("calls and terms %v, expected %v", calls, want)
	}
	if !errors.Is(err, refused) || r.Epochs != 3 || r.Status != Stopped {
		t.Errorf("%+v, error %v", r, err)
	}
}
