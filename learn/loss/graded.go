package loss

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
)

// normalGains returns the gain of every document divided by the ideal DCG@k (k = 0 means no cutoff), so
// that
//
//	NDCG = Σ_i gain_i · discount(rank of i).
//
// At least one grade must be above 0. Grades whose gain overflows are allowed.
func normalGains(c measure.Convention, grades []float64, k int) []float64 {
	g, top := make([]float64, len(grades)), slices.Max(grades)
	highest := c.Gain(top)
	for i, l := range grades {
		switch {
		case highest <= 1e300:
			g[i] = c.Gain(l) / highest
		case c.Gain(2) == 2: // linear
			g[i] = l / top
		default: // 2^l − 1
			g[i] = elementary.Exp2(l - top)
		}
	}
	ideal := slices.Clone(g)
	slices.Sort(ideal)
	slices.Reverse(ideal)
	if k > 0 {
		ideal = ideal[:min(k, len(ideal))]
	}
	var best float64
	for i, v := range ideal {
		best += float64(v * c.Discount(i+1))
	}
	for i := range g {
		g[i] /= best
	}
	return g
}

// realDiscount extends a convention's discount from ranks to the real numbers from 1 on:
//
//	D(x) = 1/log2(max(x + offset, 2))
//
// offset is 1 for the discount 1/log2(1 + r), where the maximum has no effect. It is 0 for LETOR's
// discount 1, 1, 1/log2 3, …, which has a kink at rank 2.
type realDiscount struct{ offset float64 }

func newRealDiscount(c measure.Convention) realDiscount {
	if c.Discount(2) < c.Discount(1) {
		return realDiscount{1}
	}
	return realDiscount{0}
}

func (d realDiscount) smooth() bool { return d.offset == 1 }

// at returns D(x) and its derivative, which at a kink is the right derivative.
func (d realDiscount) at(x float64) (value, slope float64) {
	if x += d.offset; x < 2 {
		return 1, 0
	}
	value = math.Ln2 / elementary.Log(x)
	return value, -value * value / (x * math.Ln2)
}

// positiveOrZero returns an error unless v is positive and finite, or 0, which means the default.
func positiveOrZero(name string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s %v, expected a positive finite number", name, v)
	}
	return nil
}

// orDefault returns v, or otherwise if v is 0.
func orDefault(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}
