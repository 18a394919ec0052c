package cache

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
)

// matrix is the matrix of a cache that is read query by query. It implements [dataset.Matrix]. A piece is
// checked when a query in it is first read, so the check needs no separate pass over the file.
type matrix struct {
	c       *file
	starts  []int // position of each query in bytes, and the end of the last
	checked []atomic.Bool
}

// newMatrix returns the matrix for queries with the given numbers of documents.
func (c *file) newMatrix(counts []int, features int) *matrix {
	m := &matrix{c: c, starts: make([]int, len(counts)+1), checked: make([]atomic.Bool, pieces(len(c.matrix)))}
	for i, n := range counts {
		m.starts[i+1] = m.starts[i] + 4*n*features
	}
	return m
}

// Rows implements dataset.Matrix.
func (m *matrix) Rows(query int) []float32 {
	from, to := m.starts[query], m.starts[query+1]
	for i := from / matrixPiece; i*matrixPiece < to; i++ {
		if m.checked[i].Load() {
			continue
		}
		block.AdviseSoon(m.c.piece(i))
		if _, err := m.c.checkPiece(i); err != nil {
			panic(&block.Failure{Err: err})
		}
		m.checked[i].Store(true)
	}
	return block.Float32s(m.c.matrix[from:to])
}

// Soon implements dataset.Matrix.
func (m *matrix) Soon(from, to int) {
	block.AdviseSoon(m.c.matrix[m.starts[from]:m.starts[to]])
}

// Done implements dataset.Matrix.
func (m *matrix) Done(from, to int) {
	block.Forget(m.c.matrix[m.starts[from]:m.starts[to]])
}

// checkLongest returns an error if two copies of the longest query exceed the memory limit, or 1 MiB if the
// limit is smaller.
func (c *file) checkLongest(parts *dataset.Blocks, opts dataset.Options) error {
	const least, copies = 1 << 20, 2
	if len(parts.Counts) == 0 || opts.GradesOnly {
		return nil
	}
	longest := slices.Max(parts.Counts)
	size, limit := float64(4*float64(longest)*float64(parts.Features)), float64(max(c.mem.Limit(), least))
	if copies*size <= limit {
		return nil
	}
	return &dataset.SyntaxError{
		File: c.name, Found: fmt.Sprintf("a query of %d documents × %d features × 4 bytes = %s, which is read as a whole", longest, parts.Features, memory.Bytes(size)),
		Expected: "at most " + memory.Bytes(limit/copies) + ", or raise the limit", Err: dataset.ErrTooLarge,
	}
}
