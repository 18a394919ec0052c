package scorer

import (
	"fmt"

	"github.com/listwise/listwise/internal/parallel"
)

// Workspace is memory in which Score stores what Backward needs for the same query, such as the activations
// of a network. See [Workspace.Hold]. Each goroutine needs its own Workspace. The zero value is ready to
// use. It grows to the size of the largest query and then allocates no more memory.
type Workspace struct {
	// Next, if not empty, is the matrix that will be scored next. Backward may prefetch it into the
	// processor's cache. Results do not depend on it.
	Next []float32

	// Team, if not nil, has goroutines among which Score and Backward may divide the work on a query.
	// Results have the same bits.
	Team *parallel.Team

	floats []float64
	x      []float32 // what was scored last

	codes []uint8 // of a block of documents, for trees
	words []uint64

	divided dividedNetwork
}

// Hold returns n float64s of unspecified content, valid until the next call, and records that they
// belong to x. A Score stores in them what Backward needs.
func (w *Workspace) Hold(x []float32, n int) []float64 {
	if n > cap(w.floats) {
		w.floats = make([]float64, n)
	}
	w.x, w.floats = x, w.floats[:n]
	return w.floats
}

// Held returns the memory that Hold returned for the same x. It panics if another query was scored last,
// because derivatives would then be wrong.
func (w *Workspace) Held(x []float32) []float64 {
	if len(x) != len(w.x) || len(x) > 0 && &x[0] != &w.x[0] {
		panic(fmt.Sprintf("scorer: Backward of a matrix of %d features that Score has not seen last with this workspace", len(x)))
	}
	return w.floats
}

// mustMatch panics unless the number of elements of an argument is the expected one.
func mustMatch(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("scorer: %d %s, want %d", got, what, want))
	}
}
