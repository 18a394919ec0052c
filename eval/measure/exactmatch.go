package measure

import (
	"math"
	"slices"
)

// exactMatch is 1 if the whole ranking is right, else 0: one less the 0–1 loss of
// permutations (Xia et al., Listwise Approach to Learning to Rank, ICML 2008). A ranking is
// right if no document is above one of a higher grade, so equally graded documents may
// be in any order. Documents that were not retrieved tie below all others. A query of
// one grade, of which every ranking is right, has no value of its own.
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

// Average implements Averager. Of the t! orders of a tie, ∏ n_l! are right, n_l being the
// number of its documents of grade l. The groups are right independently of each other.
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
		run := 0 // documents of the grade so far
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
