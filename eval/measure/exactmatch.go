package measure

import (
	"math"
	"slices"
)

// exactMatch is 1 if the whole ranking is correct, otherwise 0. It is 1 minus the 0–1 loss of
// permutations (Xia et al., Listwise Approach to Learning to Rank, ICML 2008). A ranking is correct if
// no document is above a document with a higher grade. Documents with equal grades may be in any order.
// Documents that were not retrieved are tied below all others. The measure is undefined on a query
// whose grades are all equal.
type exactMatch struct{ base }

func newExactMatch(s spec) Averager { return exactMatch{newBase(s)} }

// Value implements Measure.
func (m exactMatch) Value(ranked []float64) (float64, bool) {
	if oneGrade(ranked) {
		return m.convention.valueless()
	}
	for i := 1; i < len(ranked); i++ {
		if ranked[i-1] < ranked[i] {
			return 0, true
		}
	}
	return 1, true
}

// Average implements Averager. A tie of t documents, n_l of them with grade l, has t! orders. Of these,
// ∏_l n_l! are correct. The groups are correct independently of each other.
func (m exactMatch) Average(ranked []float64, ends []int) (float64, bool) {
	if oneGrade(ranked) {
		return m.convention.valueless()
	}
	s := getScratch()
	defer s.put()
	right, start, lowest := 1.0, 0, math.Inf(1)
	for _, end := range withRest(ends, len(ranked)) {
		s.grades = append(s.grades[:0], ranked[start:end]...)
		slices.Sort(s.grades)
		if s.grades[len(s.grades)-1] > lowest {
			return 0, true
		}
		lowest = s.grades[0]
		run := 0 // number of documents with grade l so far
		for i, l := range s.grades {
			if i > 0 && l != s.grades[i-1] {
				run = 0
			}
			run++
			right *= float64(run) / float64(i+1)
		}
		start = end
	}
	return right, true
}

func oneGrade(grades []float64) bool {
	for _, l := range grades {
		if l != grades[0] {
			return false
		}
	}
	return true
}
