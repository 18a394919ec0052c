package tree

import (
	"errors"

	"github.com/listwise/listwise/internal/block"
)

// Coder makes a Matrix of rows that come some at a time, in any order.
type Coder struct {
	matrix  *Matrix
	missing [][]bool // by worker and slot: some value is missing

	// Where the codes are put in a file:
	file  *block.Temporary
	parts [][]uint64 // words of some rows, by worker
}

// NewCoder returns a coder of so many rows, with features as the bins, for so many workers.
func NewCoder(bins *Bins, rows, workers int) *Coder {
	c := newCoder(bins, rows, workers)
	c.matrix.words = block.NewWords(rows * c.matrix.blocks)
	return c
}

// NewFileCoder is NewCoder for codes that are put in a temporary file and read where they are needed, so that the
// system may take back their memory. It notes the size of the file before it is made. The Coder, or the Matrix that it
// makes, must be closed.
func NewFileCoder(bins *Bins, rows, workers int, note func(size int64)) (*Coder, error) {
	c := newCoder(bins, rows, workers)
	size := 8 * int64(rows) * int64(c.matrix.blocks)
	note(size)
	var err error
	if c.file, err = block.NewTemporary("", size); err != nil {
		return nil, err
	}
	c.parts = make([][]uint64, workers)
	return c, nil
}

func newCoder(bins *Bins, rows, workers int) *Coder {
	m := &Matrix{bins: bins, rows: rows}
	for f, cuts := range bins.cuts {
		if len(cuts) > 0 {
			m.slots = append(m.slots, f)
		}
	}
	m.blocks = (len(m.slots) + blockFeatures - 1) / blockFeatures
	c := &Coder{matrix: m, missing: make([][]bool, workers)}
	for w := range c.missing {
		c.missing[w] = make([]bool, len(m.slots))
	}
	return c
}

// Code codes the row-major x, the rows from one on. Workers, numbered from 0, may code different rows at the same
// time. If writing to the file fails it panics with a value that dataset.GuardFaults makes an error of.
func (c *Coder) Code(worker, row int, x []float32) {
	m := c.matrix
	n := len(x) / m.bins.Features() * m.blocks
	if c.file == nil {
		m.code(m.words[row*m.blocks:][:n], x, c.missing[worker])
		return
	}
	if cap(c.parts[worker]) < n {
		c.parts[worker] = make([]uint64, n)
	}
	part := c.parts[worker][:n]
	clear(part)
	m.code(part, x, c.missing[worker])
	block.WriteTemporary(c.file, part, 8*int64(row)*int64(m.blocks))
}

// Matrix returns the matrix, when all rows are coded; the coder is of no use then.
func (c *Coder) Matrix() (*Matrix, error) {
	if c.file == nil {
		return c.matrixOf(c.matrix.words), nil
	}
	words, file := c.file.Words("the codes of features")
	if file == nil {
		return nil, errors.New("the system does not map a temporary file into memory")
	}
	c.file, c.matrix.file = nil, file
	return c.matrixOf(words[:c.matrix.rows*c.matrix.blocks]), nil
}

// matrixOf completes the matrix.
func (c *Coder) matrixOf(words []uint64) *Matrix {
	m := c.matrix
	m.words, m.has = words, make([]bool, len(m.slots))
	for _, seen := range c.missing {
		for k, some := range seen {
			m.has[k] = m.has[k] || some
		}
	}
	m.findCommon()
	return m
}

// Close removes the file, unless a Matrix has it.
func (c *Coder) Close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}
