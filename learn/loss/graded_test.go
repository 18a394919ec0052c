package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// ndcgOf returns NDCG@k (k = 0 for no cutoff) under a convention's gain and
// discount, of documents at the given ranks, counted from 1.
func ndcgOf(c measure.Convention, grades []float64, ranks []int, k int) float64 {
	discount := func(r int) float64 {
		if k > 0 && r > k {
			return 0
		}
		return c.Discount(r)
	}
	sorted := slices.Sorted(slices.Values(grades))
	slices.Reverse(sorted)
	var dcg, ideal float64
	for i, l := range grades {
		dcg += c.Gain(l) * discount(ranks[i])
		ideal += c.Gain(sorted[i]) * discount(i+1)
	}
	return dcg / ideal
}

// ranksOf returns ranks by descending score, no two of them equal.
func ranksOf(s []float64) []int {
	ranks := make([]int, len(s))
	for i := range s {
		ranks[i] = 1
		for j := range s {
			if s[j] > s[i] {
				ranks[i]++
			}
		}
	}
	return ranks
}

// distinct returns scores of which no two are nearer than spread/(2n).
func distinct(rng *rand.Rand, n int, spread float64) []float64 {
	s := make([]float64, n)
	for i, place := range rng.Perm(n) {
		s[i] = spread * (float64(place) + rng.Float64()/2) / float64(n)
	}
	return s
}

// TestNormalGains: gains and discounts make NDCG, as the measure has it, for every
// convention and grades of any size.
func TestNormalGains(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range measure.Conventions() {
		for _, grades := range [][]float64{{0, 1, 0, 2, 4, 1, 0}, {0, 0.25, 3.5, 31}, {0, 1000, 1003, 1002, 1001}, {1e307, 1.5e308, 1.7e308, 0}} {
			for _, k := range []int{0, 1, 3} {
				name := "ndcg"
				if k > 0 {
					name = fmt.Sprintf("ndcg@%d", k)
				}
				m, err := measure.Parse(name, c, measure.Options{})
				if err != nil {
					t.Fatal(err)
				}
				g, s := normalGains(c, grades, k), distinct(rng, len(grades), 1)
				ranks, ranked := ranksOf(s), make([]float64, len(grades))
				var ndcg float64
				for i, r := range ranks {
					ranked[r-1] = grades[i]
					if k == 0 || r <= k {
						ndcg += g[i] * c.Discount(r)
					}
				}
				if want, _ := m.Value(ranked); !near(ndcg, want, 1e-12) {
					t.Errorf("%s, %s of %v: %v, want %v", name, c.Name(), ranked, ndcg, want)
				}
			}
		}
	}
}

// TestRealDiscount: at whole ranks it is the convention's; between them it falls,
// with the slope it says.
func TestRealDiscount(t *testing.T) {
	for _, c := range measure.Conventions() {
		d := newRealDiscount(c)
		for r := 1; r < 200; r++ {
			if v, _ := d.at(float64(r)); !near(v, c.Discount(r), 1e-15) {
				t.Errorf("%s: discount %v at rank %d, want %v", c.Name(), v, r, c.Discount(r))
			}
			x := float64(r) + 0.37
			const h = 1e-5
			_, slope := d.at(x)
			before, _ := d.at(x - h)
			after, _ := d.at(x + h)
			if want := (after - before) / (2 * h); math.Abs(slope-want) > 1e-9 {
				t.Errorf("%s: slope %v at %v, want %v", c.Name(), slope, x, want)
			}
		}
		if d.smooth() == (c.Discount(2) == 1) {
			t.Errorf("%s: smooth is %v", c.Name(), d.smooth())
		}
	}
}
