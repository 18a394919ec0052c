package tree

import "github.com/listwise/listwise/internal/block"

// Coder makes a Matrix of rows that come some at a time, in any order.
type Coder struct {
	matrix  *Matrix
	missing [][]bool // by worker and slot: some value is missing
}

// NewCoder returns a coder of so many rows, with features as the bins, for so many workers.
func NewCoder(bins *Bins, rows, workers int) *Coder {
	m := &Matrix{bins: bins, rows: rows}
	for f, cuts := range bins.cuts {
		if len(cuts) > 0 {
			m.slots = append(m.slots, f)
		}
	}
	m.blocks = (len(m.slots) + blockFeatures - 1) / blockFeatures
	m.words = block.NewWords(rows * m.blocks)
	c := &Coder{matrix: m, missing: make([][]bool, workers)}
	for w := range c.missing {
		c.missing[w] = make([]bool, len(m.slots))
	}
	return c
}

// Code codes the row-major x, the rows from one on. Workers, numbered from 0, may code different rows at the same
// time.
func (c *Coder) Code(worker, row int, x []float32) {
	m := c.matrix
	n := len(x) / m.bins.Features() * m.blocks
	m.code(m.words[row*m.blocks:][:n], x, c.missing[worker])
}

// Matrix returns the matrix, when all rows are coded; the coder is of no use then.
func (c *Coder) Matrix() *Matrix {
	m := c.matrix
	m.has = make([]bool, len(m.slots))
	for _, seen := range c.missing {
		for k, some := range seen {
			m.has[k] = m.has[k] || some
		}
	}
	m.findCommon()
	return m
}
