package paper

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A claim on a mean is judged by the interval of the queries' mean, moved to the mean
// over folds; a published number in it is reproduced, one outside says better or worse
// by its side.
func TestClaimMeanVerdicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 100)
	sum := 0.0
	for i := range values {
		values[i] = rng.Float64()
		sum += values[i]
	}
	ours := sum/100 + 0.002 // over folds
	half := 1.96 * sd(values) / 10
	for _, c := range []struct {
		published float64
		less      bool
		want      Verdict
	}{
		{ours, false, Reproduced},
		{ours + 0.8*half, false, Reproduced},
		{ours - 0.8*half, false, Reproduced},
		{ours + 1.3*half, false, Worse},
		{ours - 1.3*half, false, Better},
		{ours + 1.3*half, true, Better},
		{ours - 1.3*half, true, Worse},
	} {
		var r Report
		r.claim(Claim{Published: c.published, Ours: ours, less: c.less}, overQueries(ours, values, 1))
		got := r.Claims[0]
		if got.Verdict != c.want {
			t.Errorf("%v published, ours %v from %v to %v: %s, expected %s", c.published, ours, got.Low, got.High, got.Verdict, c.want)
		}
		if off := math.Abs((got.Low+got.High)/2 - ours); off > 0.1*half {
			t.Errorf("the interval from %v to %v is not around %v", got.Low, got.High, ours)
		}
	}
}

// What cannot be judged says why; what was not published is no claim.
func TestClaimsWithoutVerdict(t *testing.T) {
	var r Report
	r.claim(Claim{Published: math.NaN(), Ours: 1}, overQueries(1, []float64{1, 2}, 1))
	r.claim(Claim{Published: math.NaN(), Ours: 1}, incomparable("other data"))
	if len(r.Claims) != 0 {
		t.Fatalf("found %v for numbers that were not published", r.Claims)
	}
	_, oneDraw := overDraws([]float64{1})
	for _, e := range []evidence{overQueries(1, []float64{1}, 1), oneDraw, incomparable("other data")} {
		r.claim(Claim{Published: 1, Ours: 1}, e)
	}
	for _, c := range r.Claims {
		if c.Verdict != NotComparable || c.Why == "" {
			t.Errorf("found %+v, expected a number that is not comparable, with the reason", c)
		}
	}
	if got, want := countsText(r.Claims), "0 reproduced, 0 better, 0 worse, 3 not comparable"; got != want {
		t.Errorf("counts: %s, expected %s", got, want)
	}
}

// A queries' mean that was published is called reproduced as often as the interval
// says, whichever queries there are.
func TestVerdictsHoldTheirLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const trials = 200
	hits := 0
	values := make([]float64, 106) // OHSUMED's
	for trial := range trials {
		sum := 0.0
		for i := range values {
			values[i] = math.Pow(rng.Float64(), 2) // mean 1/3
			sum += values[i]
		}
		var r Report
		ours := sum / float64(len(values))
		r.claim(Claim{Published: 1.0 / 3, Ours: ours}, overQueries(ours, values, uint64(trial)))
		if r.Claims[0].Verdict == Reproduced {
			hits++
		}
	}
	if share := float64(hits) / trials; share < 0.90 || share > 0.99 {
		t.Errorf("the truth is reproduced in %.3f of the trials, expected .95", share)
	}
}
