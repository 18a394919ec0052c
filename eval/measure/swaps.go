package measure

import (
	"fmt"
	"math"
	"slices"
)

// Swaps computes the decrease of a measure M when two documents of a ranking swap ranks. It is bound to
// the grades of a query and is immutable. The caller provides slices for all data that depend on the
// ranking. Ranks are counted from 0.
//
// Each document has a number x that determines its effect on the measure. Depending on the measure, x is
// its share of the ideal gain, 1 or 0 for relevance, or the probability that it satisfies the user.
type Swaps interface {
	// Counts returns the x of each document, or the numbers from which Prepare computes x. The slice
	// must not be changed. Prepare gets a copy in the order of the ranking.
	Counts() []float64

	// Work returns the length of the slice work for a ranking of n documents.
	Work(n int) int

	// Prepare prepares a ranking, given by Counts in the order of the ranks. It replaces them by x and
	// fills work. It returns a number of top ranks: swaps of two documents below them do not change M.
	Prepare(x, work []float64) (ranks int)

	// Row sets loss[b], for a < b < to, to the decrease of M if the documents at ranks a and b are
	// swapped. It is at least 0 if the document at a has the higher grade, at most 0 if it has the lower
	// one, and 0 if both grades are the same. Row may change x, but restores it.
	Row(loss, x, work []float64, a, to int)
}

// SomeSwaps are Swaps that can leave out documents. Some sets loss[k] to what Row sets loss[ranks[k]] to. All
// ranks are below a.
type SomeSwaps interface {
	Swaps
	Some(loss, x, work []float64, a int, ranks []int32)
}

// Swapper is a Measure with a formula for its change when two documents are swapped. The formula takes
// constant time for each swap.
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

// anySwaps implements Swaps for any measure. It swaps the documents and computes the measure again,
// which takes O(n) for each swap.
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
