package papers

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
)

// As ∇E[G] = −∇E[Δ], the ratio of the gradients of the logarithms is E[Δ]/E[G]. With one good
// document among n at w = 0 the expected AUC is ½.
func TestSensitivityAt(t *testing.T) {
	shape, err := synth.Lookup("gov1")
	if err != nil {
		t.Fatal(err)
	}
	options := shape.Defaults
	options.Queries, options.Docs, options.Seed = 4, 30, 3
	d, err := shape.Generate(options)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, d.Features)
	for _, training := range gainMeasures {
		for _, scale := range []float64{0, 0.1} {
			for i := range w {
				w[i] = scale * float64(i%3-1)
			}
			s, err := sensitivityAt(d, training, w)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.loss) != 4 {
				t.Fatalf("%d queries", len(s.loss))
			}
			for i, loss := range s.loss {
				if want := loss / (1 - loss); math.Abs(s.ratio[i]-want) > 1e-9*want {
					t.Errorf("%s, query %d: ratio %v, E[Δ]/E[G] = %v", training, i, s.ratio[i], want)
				}
				if training == "auc" && scale == 0 && math.Abs(loss-0.5) > 1e-12 {
					t.Errorf("query %d: E[Δ] = %v under AUC at w = 0", i, loss)
				}
			}
		}
	}
}

// The expected loss under random orders is the mean over all orders; under AUC it is ½.
func TestRandomLoss(t *testing.T) {
	d := &dataset.Dataset{Features: 1, Queries: []dataset.Query{{ID: "1", Grades: []float64{0, 1, 0, 1, 0, 0}}}}
	for _, training := range gainMeasures {
		gain, err := additive(training)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, 0
		permutations(6, func(order []int) {
			good, delta := 0, 1.0
			for r, i := range order {
				if d.Queries[0].Grades[i] > 0 {
					delta -= gain.GoodGain(good, r-good, 2, 4)
					good++
				}
			}
			sum, n = sum+delta, n+1
		})
		got, err := randomLoss(d, training)
		if want := sum / float64(n); err != nil || len(got) != 1 || math.Abs(got[0]-want) > 1e-12 || training == "auc" && math.Abs(want-0.5) > 1e-12 {
			t.Errorf("%s: %v, over all orders %v (%v)", training, got, want, err)
		}
	}
}

// The experiment gives the same bytes with any number of jobs, and every minimisation lowers the
// expected loss or, from saturated starts, leaves it.
func TestGainOrLoss(t *testing.T) {
	e := gainOrLoss{size: govSize{queries: 15, docs: 30}, iterations: 6}
	r, err := e.run(context.Background(), Options{Seed: 1, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(r.Sheets[0].Rows), 3*len(gainScales)*len(gainMeasures); got != want {
		t.Errorf("%d rows, expected %d", got, want)
	}
	for _, row := range r.Sheets[0].Rows {
		if start, end := row[5].(float64), row[6].(float64); !(end <= start+0.01) || row[2] == 0.0 && !(end < start) {
			t.Errorf("the expected loss goes from %v to %v: %v", start, end, row)
		}
	}
	again, err := e.run(context.Background(), Options{Seed: 1, Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	if everything(t, r) != everything(t, again) {
		t.Error("three jobs give another report than one")
	}
}

// Where an objective makes no iteration the comparison of both is not counted, and AUC's loss at
// w = 0 is no matter of the draw.
func TestGainFindings(t *testing.T) {
	var cases []gainCase
	for _, training := range gainMeasures {
		for _, scale := range gainScales {
			for k, l := range gainObjectives(training) {
				run := gainRun{iterations: k, start: sensitivity{loss: []float64{0.5}, ratio: []float64{1}}, end: sensitivity{loss: []float64{0.3}, ratio: []float64{1}}, random: []float64{0.5}}
				run.each = [2][]float64{{0.1, 0.2}, {0.1, 0.2}}
				cases = append(cases, gainCase{l, scale, []gainRun{run}})
			}
		}
	}
	r := &Report{once: true}
	gainFindings(r, "data", cases)
	if f := r.Findings[0]; f.Verdict != ClaimFailed || !strings.Contains(f.Figure, "by symmetry") || !r.once {
		t.Errorf("%+v", f)
	}
	if f := r.Findings[1]; f.Verdict != ClaimFailedOnce {
		t.Errorf("%+v", f)
	}
	if f := r.Findings[3]; f.Verdict != ClaimUndecided || !strings.Contains(f.Figure, "scale 0 is not counted") {
		t.Errorf("%+v", f)
	}
}

// Equal scores, whose expected loss never falls, decide nothing.
func TestFallsLittle(t *testing.T) {
	for _, c := range []struct {
		byLoss, byGain float64
		want           FindVerdict
	}{{0, 0, ClaimUndecided}, {0.05, 0.06, ClaimUndecided}, {0.001, 0.3, ClaimHeld}, {0.3, 0.3, ClaimFailed}, {0.001, 0.01, ClaimUndecided}} {
		if got := fallsLittle(c.byLoss, c.byGain); got != c.want {
			t.Errorf("falls by %v, and %v by the gain: %s, expected %s", c.byLoss, c.byGain, got, c.want)
		}
	}
}
