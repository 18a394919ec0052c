package scorer

import (
	"fmt"

	"github.com/listwise/listwise/internal/parallel"
)

// Workspace is memory in which Score stores what Backward needs for the same query, such as the
// activations of a network. See [Workspace.Hold]. Each goroutine needs its own Workspace. The zero
// value is ready to use. A Workspace grows to the size of the largest query, after which calls do not
// allocate.
type Workspace struct {
	// Next is the matrix of the next query, or empty. Backward may prefetch it into the processor's
	// cache. Results do not depend on Next.
	Next []float32

	// Team is a team of goroutines among which Score and Backward may divide the work on a query, or
	// nil. Results have the same bits in both cases.
	Team *parallel.Team

	floats []float64
	x      []float32 // argument of the last call of Hold

	codes []uint8 // codes of a block of documents, for trees
	words []uint64

	divided dividedNetwork
}

// Hold returns n float64s of unspecified content, which are valid until the next call of Hold. Score
// stores values for Backward in them. Hold records x, the matrix to which they belong.
func (w *Workspace) Hold(x []float32, n int) []float64 {
	if n > cap(w.floats) {
		w.floats = make([]float64, n)
	}
	w.x, w.floats = x, w.floats[:n]
	return w.floats
}

// Held returns the memory that Hold returned for x. It panics if Hold was last called for another
// matrix, since Backward would then compute wrong derivatives.
func (w *Workspace) Held(x []float32) []float64 {
	if len(x) != len(w.x) || len(x) > 0 && &x[0] != &w.x[0] {
		panic(fmt.Sprintf("scorer: Backward of a matrix of %d features that Score has not seen last with this workspace", len(x)))
	}
	return w.floats
}

// mustMatch panics unless got, the length of the named argument, equals want.
func mustMatch(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("scorer: %d %s, want %d", got, what, want))
	}
}
