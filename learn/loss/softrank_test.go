package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// softRankByEnumeration is SoftRank with the law of every document's rank summed
// over all 2^(n−1) outcomes of its comparisons.
func softRankByEnumeration(gains []float64, discount func(r int) float64, sigma float64) func(s []float64) float64 {
	return func(s []float64) float64 {
		n := len(s)
		value := 1.0
		for j, g := range gains {
			var others []float64
			for i := range s {
				if i != j {
					others = append(others, 0.5*(1+math.Erf((s[i]-s[j])/(2*sigma))))
				}
			}
			for outcome := range 1 << (n - 1) {
				p, rank := 1.0, 1
				for i, above := range others {
					if outcome>>i&1 == 1 {
						p *= above
						rank++
					} else {
						p *= 1 - above
					}
				}
				value -= g * p * discount(rank)
			}
		}
		return value
	}
}

// TestSoftRankAgainstEnumeration: value and gradient under discounts, cutoffs and
// deviations of several kinds.
func TestSoftRankAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"letor3", "standard", "trec"} {
		c := standard(t, name)
		for _, grades := range [][]float64{{0, 1}, {2, 0, 1, 0, 4, 0.5, 1}, {1, 1, 0, 1}} {
			for _, k := range []int{0, 1, 2, 4, 50} {
				const sigma = 0.8
				b := mustBind(t, SoftRank{Convention: c, Sigma: sigma, Cutoff: k}, grades, 1)
				f := softRankByEnumeration(normalGains(c, grades, k), func(r int) float64 {
					if k > 0 && r > k {
						return 0
					}
					return c.Discount(r)
				}, sigma)
				for _, s := range scoresOf(rng, len(grades)) {
					againstReference(t, fmt.Sprintf("%s, cutoff %d, %v", name, k, grades), b, f, s)
				}
			}
		}
	}
}

// TestSoftRankApproaches: with certain scores it is 1 − NDCG@k; a pair of documents
// has the probability that simulated scores give.
func TestSoftRankApproaches(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	grades := []float64{2, 0, 1, 0, 4, 0, 1, 3}
	for _, k := range []int{0, 3} {
		c := standard(t, "standard")
		s := distinct(rng, len(grades), 1)
		v, _ := evaluated(mustBind(t, SoftRank{Convention: c, Sigma: 1e-4, Cutoff: k}, grades, 1), s)
		if want := 1 - ndcgOf(c, grades, ranksOf(s), k); !near(v, want, 1e-12) {
			t.Errorf("cutoff %d: %v, 1 − NDCG is %v", k, v, want)
		}
	}
	// For two documents the law is exact: NDCG is D(2) where the bad one is above.
	const rounds = 200000
	above := 0
	for range rounds {
		if 0.9*rng.NormFloat64() > 0.9*rng.NormFloat64()+0.5 {
			above++
		}
	}
	b := mustBind(t, SoftRank{Convention: standard(t, "standard"), Sigma: 0.9}, []float64{0, 1}, 1)
	v, _ := evaluated(b, []float64{0, 0.5})
	p := v / (1 - 1/math.Log2(3))
	if got := float64(above) / rounds; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/rounds) {
		t.Errorf("the bad document stands above in %v of simulations, the loss says %v", got, p)
	}
}

// TestSoftRankOfLongLists: value and gradient keep their digits in sums over
// hundreds of documents, of which differences know the value.
func TestSoftRankOfLongLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	grades := make([]float64, 300)
	for i := range 4 {
		grades[i*50] = float64(i + 1)
	}
	for _, spread := range []float64{0.01, 1, 20} {
		s := normals(rng, len(grades), spread)
		b := mustBind(t, SoftRank{Convention: standard(t, "standard")}, grades, 1)
		var scratch Scratch
		_, grad := evaluated(b, s)
		for _, i := range []int{0, 50, 77, 150} {
			at := func(d float64) float64 {
				x := append([]float64(nil), s...)
				x[i] += d
				return b.Eval(x, nil, &scratch)
			}
			const h = 1e-3
			want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			if math.Abs(grad[i]-want) > 1e-10 {
				t.Errorf("spread %v: derivative %v with respect to score %d, differences say %v", spread, grad[i], i, want)
			}
		}
	}
}
