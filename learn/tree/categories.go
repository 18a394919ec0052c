package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
)

// heaviest returns up to most categories, the ones with the largest weights, in ascending order. Among categories of
// equal weight it prefers lower ones.
func (c *column) heaviest(most int) []float32 {
	order := make([]int, len(c.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.weights[b], c.weights[a]) })
	order = order[:min(most, len(order))]
	slices.Sort(order)
	categories := make([]float32, len(order))
	for i, at := range order {
		categories[i] = kernel.OfAscendingKey(c.values[at])
	}
	return categories
}

// cutsBetween returns, for each pair of neighbouring categories of a feature, a number between the two.
func (b *Bins) cutsBetween(feature int) []float32 {
	var cuts []float32
	categories := b.categories[feature]
	for i := 1; i < len(categories); i++ {
		cuts = append(cuts, between(kernel.AscendingKey(categories[i-1]), kernel.AscendingKey(categories[i])))
	}
	return cuts
}

// codeSet is a set of codes.
type codeSet [4]uint64

func (s *codeSet) add(code uint8) { s[code>>6] |= 1 << (code & 63) }

func (s *codeSet) has(code uint8) bool { return s[code>>6]>>(code&63)&1 != 0 }

// byRatio returns the codes whose sums are not 0, ordered by gradient divided by curvature. The best split into two
// sets is a cut of this order (Fisher, On Grouping for Maximum Homogeneity, Journal of the American Statistical
// Association 53, 1958; Ke et al., LightGBM, uses the ratio). smoothing is added to the curvature, which moves
// categories with few documents to the middle.
func byRatio(order *[256]uint8, of *[256]sums, unit quanta, smoothing float64) []uint8 {
	var ratios [256]float64
	found := order[:0]
	for c, v := range of[:missingCode] {
		if v == 0 {
			continue
		}
		if h := float64(float64(v.curvature())*unit.curvature) + smoothing; h > 0 {
			ratios[c] = float64(v.gradient()) * unit.gradient / h
		}
		found = append(found, uint8(c))
	}
	slices.SortStableFunc(found, func(a, b uint8) int { return cmp.Compare(ratios[a], ratios[b]) })
	return found
}

// noise returns Σλ²/Σsecond over the documents in index. This quotient is the expected gain of a split that is
// independent of λ.
func noise(index []uint32, lambda, second []float64) float64 {
	var squares, curvature float64
	for _, r := range index {
		squares += float64(lambda[r] * lambda[r])
		if second == nil {
			curvature++
		} else {
			curvature += second[r]
		}
	}
	if curvature == 0 {
		return 0
	}
	return squares / curvature
}

// chance returns the expected gain by chance of the best split into sets of categories, minus that of a split of two
// categories. The search subtracts it from the gain. Otherwise it would usually choose the features with many
// categories.
//
// Suppose that categories have equal curvature and are independent of λ. Then the sums of λ of the categories are
// approximately normal with mean 0. A split into the categories with positive and with negative sums gains 2/π times
// noise for each category, where noise is the result of the function noise.
func (c *candidates) chance(noise float64) float64 {
	if !c.categorical || len(c.order) <= 2 {
		return 0
	}
	return 2 / math.Pi * float64(len(c.order)-2) * noise
}

// bySet converts a cut of order into a set of codes. The set contains the codes of the side without missing values,
// which becomes the left side. All other codes go right. So missing values go right, and so do categories that training
// data do not have.
func (s *split) bySet(order []uint8) {
	set := order[:int(s.cut)+1]
	if s.missingLeft {
		set = order[int(s.cut)+1:]
	}
	s.categorical, s.cut, s.missingLeft = true, 0, false
	for _, c := range set {
		s.set.add(c)
	}
}

// leftOf returns the sums over the documents that a split sends left, and the number of these documents. The number is
// 0 if s.counts is nil.
func (s *searcher) leftOf(by *split, of *[256]sums) (left sums, docs uint32) {
	for c := range of {
		if by.left(uint8(c)) {
			left, docs = left+of[c], docs+s.count(c)
		}
	}
	return left, docs
}

// left reports whether documents with the code go left.
func (s *split) left(code uint8) bool {
	if s.categorical {
		return s.set.has(code)
	}
	return code <= s.cut || code == missingCode && s.missingLeft
}

// categoriesOf returns the categories of a feature whose codes are in set.
func (b *Bins) categoriesOf(feature int, set *codeSet) []float32 {
	var values []float32
	for c, v := range b.categories[feature] {
		if set.has(uint8(c)) {
			values = append(values, v)
		}
	}
	return values
}
