package stats

import (
	"cmp"
	"slices"
)

// Holm returns the p values of a family corrected by Holm's step-down procedure:
// the i-th smallest of m, counted from 1, times m − i + 1, at least the one before
// and at most 1 (Holm 1979, Scandinavian Journal of Statistics 6). Rejecting those
// up to α keeps the probability of any false rejection within α, however the tests
// depend on each other.
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
