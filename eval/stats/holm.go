package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns the p values of a family of tests, corrected by Holm's step-down procedure (Holm
// 1979, Scandinavian Journal of Statistics 6). It multiplies the i-th smallest of m values, counted
// from 1, by m − i + 1. In this order, a result is at least the previous result, and at most 1. If
// all hypotheses with a corrected p ≤ α are rejected, the probability of any false rejection is at
// most α, whatever the dependence of the tests.
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

// CorrectTogether corrects the p values of several comparisons, for example on different subsets of
// the queries, as one family. It sets Holm of every test to the p value corrected over the pairs of
// all comparisons. It sets MaxT, which would need the joint distribution of all pairs, to NaN.
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

// correctAll corrects the p values of all tests by Holm's procedure.
func correctAll(pairs []Pair) {
	correct(pairs, func(p *Pair) (float64, *float64) { return p.T.P, &p.T.Holm })
	correct(pairs, func(p *Pair) (float64, *float64) { return p.Randomization.P, &p.Randomization.Holm })
	correct(pairs, func(p *Pair) (float64, *float64) { return p.Bootstrap.P, &p.Bootstrap.Holm })
}

// correct applies Holm's procedure to one p value of every pair. field returns the p value of a
// pair and the field for the corrected value.
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
