package propensity

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/testing/long"
)

// Claim: the methods recover the examination of a simulation within four of their own standard errors and the
// errors of a simulation in Python plus 20 %. Ordinary tests have fewer pages.
func TestRecovery(t *testing.T) {
	pages, scale := simPages/5, math.Sqrt(5)
	if long.Enabled() {
		pages, scale = simPages, 1
	}
	w := newWorld(2)
	arms := &Log{KeepClicked: true}
	w.arms(t, arms, pages, 3, pbm)
	shuffled, swaps, pairs := &Log{Interventions: true}, &Log{Interventions: true}, &Log{Interventions: true}
	w.shuffled(t, shuffled, pages/4)
	w.swaps(t, swaps, pages, 0.3)
	w.pairs(t, pairs, pages, 0.5)
	for _, c := range []struct {
		name  string
		log   *Log
		o     Options
		most  float64
		exact bool // unbiased, so that the error is within its standard errors
	}{
		{"shuffled", shuffled, Options{}, 0.0065, true},
		{"swapped", swaps, Options{}, 0.011, true},
		{"pairs", pairs, Options{}, 0.011, true},
		{"harvested", arms, Options{Resamples: 20}, 0.0055, true},
		{"least squares", arms, Options{Method: Harvest, Squares: true, Resamples: 20}, 0.0057, true},
		{"published weights", arms, Options{Method: Harvest, Published: true}, 0.0057, false},
		{"regression", arms, Options{Method: Regress, Features: w.features}, 0.005, false},
	} {
		e := estimate(t, c.log, c.o)
		if off, most := worst(e), 1.2*c.most*scale; off > most && (long.Enabled() || !c.exact) {
			t.Errorf("%s: found an error of %.4f, expected at most %.4f", c.name, off, most)
		}
		for k, s := range e.Slots[1:] {
			if c.exact && math.Abs(s.Theta-examination(k+1)) > 4**s.SE {
				t.Errorf("%s: slot %s has propensity %.4f ± %.4f, expected %.4f", c.name, s.Slot, s.Theta, *s.SE, examination(k+1))
			}
		}
	}
	squares, likelihood := estimate(t, arms, Options{Method: Harvest, Squares: true}), estimate(t, arms, Options{Method: Harvest})
	for k, s := range squares.Slots {
		if off := math.Abs(s.Theta - likelihood.Slots[k].Theta); off > 0.0005*scale*scale {
			t.Errorf("slot %s: least squares and maximum likelihood differ by %v", s.Slot, off)
		}
	}
	if c := estimate(t, arms, Options{Resamples: 50}).Check; c == nil || c.P < 0.001 || c.Pairs != 45 {
		t.Errorf("found check %+v, expected 45 pairs of slots that a position-based model fits", c)
	}
}

// Claim: one ranker without interventions tells no propensities, and the refusal names the slots and what would tell
// them. Regression on features does.
func TestRefusal(t *testing.T) {
	w := newWorld(3)
	l := &Log{}
	w.arms(t, l, 5000, 1, pbm)
	_, err := l.Estimate(t.Context(), Options{})
	if err == nil {
		t.Fatal("found propensities, expected a refusal")
	}
	for _, want := range []string{
		"shuffle: found no shuffled pages, and slots 2, 3, 4, 5, 6, 7, 8, 9, 10 are not connected to slot 1 by 10 clicks in both",
		"swap: found no pages with exchanges drawn by chance", "harvest: found 0 of 3000 documents in two slots or more", "--explore", "regression: found no features",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	for _, m := range []Method{Shuffle, Swap, Harvest, Regress, Dual, Trust} {
		_, err := l.Estimate(t.Context(), Options{Method: m})
		if r, ok := errors.AsType[*Refusal](err); !ok || r.Method != m {
			t.Errorf("%s: found %v, expected a refusal", m, err)
		}
	}
	if e := estimate(t, l, Options{Features: w.features}); e.Method != Regress || !strings.Contains(e.Reason, "not harvest: 0 of 3000 documents in two slots or more, which") || worst(e) > 0.1 {
		t.Errorf("found %s since %s with an error of %.4f", e.Method, e.Reason, worst(e))
	}
	if e := estimate(t, l, Options{Method: EM}); len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "biased where documents are in one slot only, which is true of 100 %") {
		t.Errorf("found notes %q, expected a warning of bias", e.Notes)
	}
}

// Claim: where slots are not connected, Tell estimates those that are, as Estimate does with them alone, and says why not
// the others.
func TestTell(t *testing.T) {
	w, l := newWorld(5), &Log{}
	for range 3000 {
		q := w.rng.IntN(simQueries)
		order := slices.Clone(w.rankers[0][q])
		p := &click.Page{Shuffled: 3}
		w.rng.Shuffle(3, func(i, j int) { order[i], order[j] = order[j], order[i] })
		add(t, l, w.page(q, order, p, pbm))
	}
	told, err := l.Tell(t.Context(), Options{Method: Shuffle, Top: 5})
	if err != nil || told.Estimate == nil || told.Lacks == nil || !strings.Contains(told.Lacks.Reason(), "slots 4, 5 are not connected to slot 1") {
		t.Fatalf("found %+v, %v", told, err)
	}
	if want := estimate(t, l, Options{Method: Shuffle, Top: 3}); !reflect.DeepEqual(told.Estimate.Slots, want.Slots) {
		t.Errorf("found %+v, expected %+v", told.Estimate.Slots, want.Slots)
	}
	if told, err := l.Tell(t.Context(), Options{Method: Shuffle, Top: 3}); err != nil || told.Lacks != nil || len(told.Estimate.Slots) != 3 {
		t.Errorf("found %+v, %v", told, err)
	}
	if told, err := l.Tell(t.Context(), Options{Method: Swap}); err != nil || told.Estimate != nil || told.Lacks.Found != "no pages with exchanges drawn by chance" {
		t.Errorf("found %+v, %v", told, err)
	}
	if told, err := new(Log).Tell(t.Context(), Options{Method: Swap}); err != nil || told.Lacks.Reason() != "found no clicks on 0 pages; expected pages with clicks" {
		t.Errorf("found %+v, %v", told, err)
	}
}
