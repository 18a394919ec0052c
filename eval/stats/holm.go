package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns the p values of a family corrected by Holm's step-down procedure (Holm 1979,
// Scandinavian Journal of Statistics 6). The i-th smallest of m, counted from 1, is multiplied by m
// − i + 1. The result is at least the one before and at most 1. Rejecting all p ≤ α keeps the
// probability of any false rejection within α, under any dependence of the tests.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected := make([]float64, len(p))
	var running float64
	for rank, i := range order {
		running = max(running, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = running
	}
	return corrected
}

// CorrectTogether makes the pairs of all comparisons, such as those on parts of the queries, one family:
// p values are corrected by Holm's procedure over all of them. MaxT, which needs their joint
// distribution, becomes NaN.
func CorrectTogether(comparisons ...*Comparison) {
	var all []Pair
	for _, c := range comparisons {
		all = append(all, c.Pairs...)
	}
	correctAll(all)
	for _, c := range comparisons {
		n := copy(c.Pairs, all)
		for i := range c.Pairs {
			c.Pairs[i].Randomization.MaxT = math.NaN()
		}
		all = all[n:]
	}
}

// correctAll corrects the p values of all tests.
func correctAll(pairs []Pair) {
	correct(pairs, func(p *Pair) (float64, *float64) { return p.T.P, &p.T.Holm })
	correct(pairs, func(p *Pair) (float64, *float64) { return p.Randomization.P, &p.Randomization.Holm })
	correct(pairs, func(p *Pair) (float64, *float64) { return p.Bootstrap.P, &p.Bootstrap.Holm })
}

// correct applies Holm to one p value of every pair, which field returns with the
// place of its correction.
func correct(pairs []Pair, field func(*Pair) (float64, *float64)) {
	p := make([]float64, len(pairs))
	for i := range pairs {
		p[i], _ = field(&pairs[i])
	}
	for i, h := range Holm(p) {
		_, place := field(&pairs[i])
		*place = h
	}
}
