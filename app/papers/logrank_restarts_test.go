package papers

import (
	"context"
	"math"
	"testing"
)

// Every start of the convex objective ends at one value, which no start of any objective at w = 0
// is below, and three jobs give the bytes of one.
func TestRestarts(t *testing.T) {
	e := restarts{size: govSize{queries: 15, docs: 30}, starts: 4, iterations: 60, samples: 60}
	r, err := e.run(context.Background(), Options{Seed: 1, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(r.Sheets[0].Rows), 5*len(e.objectives())*e.starts; got != want {
		t.Errorf("%d minimisations, expected %d", got, want)
	}
	control := map[any]float64{}
	for _, row := range r.Sheets[0].Rows {
		fold, zero, value := row[2], row[4].(float64), row[5].(float64)
		if row[3] == 0 && !(value < zero) {
			t.Errorf("%v: L-BFGS does not fall below %v", row, zero)
		}
		if row[1] == convexControl {
			if row[3] == 0 {
				control[fold] = value
			}
			if math.Abs(value-control[fold]) > 1e-3*math.Abs(zero-control[fold]) {
				t.Errorf("%v: the convex objective ends at %v from another start", row, control[fold])
			}
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

// Restarts are adequate only where the objective falls and few starts come near the lowest value:
// not for equal scores, which is w = 0, nor for a single lucky start among many.
func TestAdequate(t *testing.T) {
	for _, c := range []struct {
		value []float64
		lacks float64
		reach float64
	}{
		{[]float64{10, 10, 10}, 1, 1}, {[]float64{11, 12, 10}, 1, 1.0 / 3}, {[]float64{6, 4, 2}, 0.25, 1.0 / 3}, {[]float64{2, 2, 2.05}, 0, 1}, {[]float64{9, 9, 2}, 7.0 / 8, 1.0 / 3},
	} {
		s := started{zero: 10, value: c.value}
		if got := s.lacks(2); math.Abs(got-c.lacks) > 1e-15 {
			t.Errorf("%v: two starts lack %v, expected %v", c.value, got, c.lacks)
		}
		if got := s.reach(); math.Abs(got-c.reach) > 1e-15 {
			t.Errorf("%v: %v of the starts reach the lowest value, expected %v", c.value, got, c.reach)
		}
	}
	for within, want := range map[int]FindVerdict{10: ClaimHeld, 6: ClaimMixed, 5: ClaimFailed, 0: ClaimFailed} {
		if got := adequate(within, 5, 10, true); got != want {
			t.Errorf("%d of 10: %s, expected %s", within, got, want)
		}
		if got := adequate(within, 5, 10, false); got != ClaimUndecided {
			t.Errorf("%d of 10 where convex minimisations end apart: %s", within, got)
		}
	}
	if got := adequate(10, 10, 10, true); got != ClaimTrivial {
		t.Errorf("one start suffices: %s", got)
	}
}
