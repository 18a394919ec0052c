package random

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Claim: the draws are those of math/rand/v2 from the same stream, one by one, but for the last
// digits of those from the tails, so that models trained before are trained again.
func TestDrawsAreThoseOfTheStandardLibrary(t *testing.T) {
	for _, c := range []struct {
		name  string
		own   func(*rand.Rand) float64
		other func(*rand.Rand) float64
		tail  float64
	}{
		{"normal", Normal, (*rand.Rand).NormFloat64, normalTail},
		{"exponential", Exponential, (*rand.Rand).ExpFloat64, exponentialTail},
	} {
		a, b := Stream(5, "draws", "1"), Stream(5, "draws", "1")
		beyond := 0
		for i := range 3_000_000 {
			got, want := c.own(a), c.other(b)
			if math.Abs(want) > c.tail {
				beyond++
				if math.Abs(got-want) > 1e-14*math.Abs(want) {
					t.Fatalf("%s draw %d is %v, want %v", c.name, i, got, want)
				}
			} else if got != want {
				t.Fatalf("%s draw %d is %v, want %v", c.name, i, got, want)
			}
		}
		if beyond < 100 {
			t.Errorf("%s: %d draws from the tail, want some 1,500", c.name, beyond)
		}
	}
}

// Claim: shares of normal and exponential draws are those of the distributions, to four
// standard deviations.
func TestDrawsFollowTheirDistributions(t *testing.T) {
	const n = 1_000_000
	rng := Stream(9, "shares", "")
	for _, at := range []float64{0.1, 0.5, 1, 2, 3} {
		within, below := 0, 0
		for range n {
			if math.Abs(Normal(rng)) < at {
				within++
			}
			if Exponential(rng) < at {
				below++
			}
		}
		for _, c := range []struct {
			name  string
			count int
			p     float64
		}{{"normal", within, math.Erf(at / math.Sqrt2)}, {"exponential", below, 1 - math.Exp(-at)}} {
			if off := math.Abs(float64(c.count)/n - c.p); off > 4*math.Sqrt(c.p*(1-c.p)/n) {
				t.Errorf("%s: a share of %v is below %v, want %v", c.name, float64(c.count)/n, at, c.p)
			}
		}
	}
}
