package measure

import (
	"fmt"
	"math"
	"slices"
)

// Swaps computes what a measure M loses when two documents of a ranking change places. It
// is bound to a query's grades and immutable; what depends on the ranking is in slices
// that the caller provides. Ranks count from 0.
//
// One query's ranking enters by the number x that a document counts for in the
// measure: its share of the gain, whether it is relevant, its probability to
// satisfy.
type Swaps interface {
	// Counts returns x of each document, or what Prepare makes x of. It must not be written
	// to: Prepare takes a copy, in the ranking's order.
	Counts() []float64

	// Work returns how much working memory a ranking of n documents needs.
	Work(n int) int

	// Prepare looks at a ranking, Counts by rank, of which it makes x, and fills work. It
	// returns a number of ranks such that swaps of two documents below all of them change
	// nothing.
	Prepare(x, work []float64) (ranks int)

	// Row sets loss[b] = M − M with the documents at ranks a and b exchanged, for
	// a < b < to. It is positive or 0 if the document at a has the higher grade,
	// negative or 0 if it has the lower, 0 if the grades are the same. x is as it
	// was when Row returns.
	Row(loss, x, work []float64, a, to int)
}

// Swapper is a Measure with a formula for what swapping two documents changes, which
// takes O(1) a swap.
type Swapper interface {
	Measure

	// Swaps binds the formula to a query's grades. Gains that overflow are an error.
	Swaps(grades []float64) (Swaps, error)
}

// SwapsOf returns the swaps of a query's documents under a measure. A [Swapper] has a formula for
// them; another measure is computed again for each swap.
func SwapsOf(m Measure, grades []float64) (Swaps, error) {
	if s, ok := m.(Swapper); ok {
		return s.Swaps(grades)
	}
	return anySwaps{m, grades, cutoff(CutoffOf(m), len(grades))}, nil
}

// anySwaps are swaps under any measure. Each swap is made and the measure computed again, in O(n)
// per swap.
type anySwaps struct {
	measure Measure
	grades  []float64
	cut     int // ranks that count
}

func (s anySwaps) Counts() []float64 { return s.grades }

func (s anySwaps) Work(int) int { return 1 }

func (s anySwaps) Prepare(x, work []float64) (ranks int) {
	work[0], _ = s.measure.Value(x)
	return s.cut
}

func (s anySwaps) Row(loss, x, work []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		loss[b] = 0
		if x[a] != x[b] {
			x[a], x[b] = x[b], x[a]
			after, _ := s.measure.Value(x)
			x[a], x[b] = x[b], x[a]
			loss[b] = math.Copysign(work[0]-after, x[a]-x[b])
		}
	}
}

// overflowError is the error for a grade whose gain is not a finite number.
func overflowError(grades []float64) error {
	return fmt.Errorf("the gains of grade %v overflow: expected grades below 1000", slices.Max(grades))
}
