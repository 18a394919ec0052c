package stats

import (
	"math"
	"math/big"
	"testing"
)

// binomialTail is P(X ≤ k) of n throws with the probability q, by summing exactly.
func binomialTail(n, k int, q float64) float64 {
	one := big.NewRat(1, 1)
	p := new(big.Rat).SetFloat64(q)
	not := new(big.Rat).Sub(one, p)
	sum := new(big.Rat)
	for i := 0; i <= k; i++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		for range i {
			term.Mul(term, p)
		}
		for range n - i {
			term.Mul(term, not)
		}
		sum.Add(sum, term)
	}
	v, _ := sum.Float64()
	return v
}

// Claim: the p value is the sum of the binomial probabilities, and the ends of the interval are
// where the tails are half of Alpha.
func TestSign(t *testing.T) {
	for n := range 25 {
		for k := 0; k <= n; k++ {
			p, share := Sign(k, n-k)
			want := math.Min(1, 2*binomialTail(n, min(k, n-k), 0.5))
			if math.Abs(p-want) > 1e-12 {
				t.Errorf("%d of %d: p %v, want %v", k, n, p, want)
			}
			if k < n && math.Abs(binomialTail(n, k, share.High)-Alpha/2) > 1e-7 || k == n && share.High != 1 {
				t.Errorf("%d of %d: up to %v", k, n, share.High)
			}
			if k > 0 && math.Abs(1-binomialTail(n, k-1, share.Low)-Alpha/2) > 1e-7 || k == 0 && share.Low != 0 {
				t.Errorf("%d of %d: from %v", k, n, share.Low)
			}
		}
	}
	if p, share := Sign(500_000, 501_000); p < 0.2 || p > 0.4 || share.Low > 0.5 || share.High < 0.499 {
		t.Errorf("of a million: %v, %v", p, share)
	}
}
