package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Claim: the interval and p value of a mean by its influences equal the paired t test's. Lower at half of the
// interval's error probability is its lower end.
func TestLinearOfMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, zero, influence := make([]float64, 30), make([]float64, 30), make([]float64, 30)
	for i := range x {
		x[i] = 0.3 + rng.NormFloat64()
	}
	m := mean(x)
	for i, v := range x {
		influence[i] = (v - m) / float64(len(x))
	}
	want, err := Paired(x, zero, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := Linear(m, influence, 0)
	for _, pair := range [][2]float64{
		{got.Error, want.Error}, {got.DF, want.DF}, {got.P, want.P}, {got.Interval.Low, want.Interval.Low}, {got.Interval.High, want.Interval.High},
		{got.Lower(0.025), want.Interval.Low},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("found %v, expected %v", pair[0], pair[1])
		}
	}
	if more := Linear(m, influence, 0.09); math.Abs(more.Error*more.Error-got.Error*got.Error-0.09) > 1e-12 {
		t.Errorf("found the error %v with a further variance of 0.09 beside %v", more.Error, got.Error)
	}
	if one := Linear(m, influence[:1], 0); one.Interval != Unbounded || !math.IsInf(one.Lower(0.05), -1) {
		t.Errorf("found %+v of one unit, expected no interval", one)
	}
}
