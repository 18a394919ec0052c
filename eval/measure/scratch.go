package measure

import (
	"slices"
	"sync"
)

// scratch is the working memory for a call of Value or Average.
type scratch struct {
	grades, sums []float64
	counts       []int64
	prepared     prepared
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

func (s *scratch) put() { scratches.Put(s) }

// resize returns a slice of n elements with unspecified content. It reuses buf if the capacity
// suffices.
func resize[T any](buf []T, n int) []T { return slices.Grow(buf[:0], n)[:n] }

// histogram counts the documents of each grade. ok is false unless all grades are whole and at most
// smallGrade, as in all published data.
func histogram(grades []float64) (counts [smallGrade + 1]int, ok bool) {
	for _, l := range grades {
		i := smallGrade + 1
		if 0 <= l && l <= smallGrade {
			i = int(l)
		}
		if i > smallGrade || float64(i) != l {
			return counts, false
		}
		counts[i]++
	}
	return counts, true
}

// descending returns the k highest grades in descending order. The result uses the memory of s.grades.
func descending(s *scratch, grades []float64, k int) []float64 {
	counts, ok := histogram(grades)
	if !ok {
		s.grades = append(s.grades[:0], grades...)
		slices.Sort(s.grades)
		slices.Reverse(s.grades)
		return s.grades[:k]
	}
	s.grades = slices.Grow(s.grades[:0], k)
	for l := smallGrade; l >= 0 && len(s.grades) < k; l-- {
		for range min(counts[l], k-len(s.grades)) {
			s.grades = append(s.grades, float64(l))
		}
	}
	return s.grades
}
