package measure

import (
	"fmt"
	"math"
	"slices"
)

// Swaps computes the decrease of a measure M when two documents of a ranking swap ranks. It is specific
// to the grades of a query and is immutable. The caller provides slices for all data that depend on the
// ranking. Ranks are counted from 0.
//
// Each document has a number x that determines its effect on the measure. Depending on the measure, x
// is the document's share of the ideal gain, 1 or 0 for relevance, or the probability that the document
// satisfies the user.
type Swaps interface {
	// Counts returns the x of each document, or numbers from which Prepare computes x. The caller must
	// not change the slice. Prepare gets a copy of it in rank order.
	Counts() []float64

	// Work returns the length of the slice work for a ranking of n documents.
	Work(n int) int

	// Prepare prepares a ranking. The caller sets x to Counts in rank order. Prepare replaces x by the
	// documents' numbers x and fills work. It returns a number of top ranks: swaps of two documents
	// below these ranks do not change M.
	Prepare(x, work []float64) (ranks int)

	// Row sets loss[b], for a < b < to, to the decrease of M if the documents at ranks a and b are
	// swapped. The decrease is at least 0 if the document at a has the higher grade, at most 0 if it
	// has the lower grade, and 0 if both grades are equal. Row may change x, but restores it.
	Row(loss, x, work []float64, a, to int)
}

// SomeSwaps are Swaps that can skip documents.
type SomeSwaps interface {
	Swaps

	// Some sets loss[k] to the decrease of M if the documents at ranks a and ranks[k] are swapped. All
	// ranks are greater than a.
	Some(loss, x, work []float64, a int, ranks []int32)
}

// Swapper is a Measure with a formula for its change when two documents are swapped. The formula takes
// constant time for each swap.
type Swapper interface {
	Measure

	// Swaps returns the swaps for a query with the given grades. Gains that overflow are an error.
	Swaps(grades []float64) (Swaps, error)
}

// SwapsOf returns the swaps of a query's documents under a measure. For a measure that is not a
// [Swapper], each swap computes the measure again.
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
	cut     int // number of ranks that count
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

// overflowError returns the error for grades whose gain is not finite.
func overflowError(grades []float64) error {
	return fmt.Errorf("the gains of grade %v overflow: expected grades below 1000", slices.Max(grades))
}
