package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
)

// heaviest returns the values of the largest weight, the lower of equals, in ascending order.
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

// cutsBetween returns the bounds that separate a feature's categories.
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

// byRatio orders the codes that have sums by gradient over curvature. The best division into two sets is a
// division of this order (Fisher, On Grouping for Maximum Homogeneity, Journal of the American Statistical
// Association 53, 1958; Ke et al., LightGBM, has the ratio). Smoothing is added to the curvature, so that
// categories with few documents are in the middle.
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

// noise returns the mean square of λ per second derivative. It is the mean gain of a split that knows nothing.
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

// chance returns the gain that a division of categories has by chance, beyond that of two categories. It is
// subtracted from the gain, or features of many categories would win most splits.
//
// If categories have equal curvature and λ knows nothing of them, each category's sum of λ is normal. Its mean
// square is that of noise. The sets of positive and of negative sums then gain 2/π of it for each category.
func (c *candidates) chance(noise float64) float64 {
	if !c.categorical || len(c.order) <= 2 {
		return 0
	}
	return 2 / math.Pi * float64(len(c.order)-2) * noise
}

// bySet turns a division by the first codes of an order into a division by a set. The set has the codes of
// the side without missing values and goes left; all others go right. So values never seen are like
// missing ones.
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

// leftOf returns the sums and the number of the documents that a split sends left. The number is 0 if the
// searcher has no counts.
func (s *searcher) leftOf(by *split, of *[256]sums) (left sums, docs uint32) {
	for c := range of {
		if by.left(uint8(c)) {
			left, docs = left+of[c], docs+s.count(c)
		}
	}
	return left, docs
}

// left reports whether documents of a code go left.
func (s *split) left(code uint8) bool {
	if s.categorical {
		return s.set.has(code)
	}
	return code <= s.cut || code == missingCode && s.missingLeft
}

// categoriesOf returns the values of a set of codes of a feature.
func (b *Bins) categoriesOf(feature int, set *codeSet) []float32 {
	var values []float32
	for c, v := range b.categories[feature] {
		if set.has(uint8(c)) {
			values = append(values, v)
		}
	}
	return values
}
