package tree

import (
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// blockFeatures is the number of features of a block: the bytes of a word.
const blockFeatures = 8

// Matrix holds the codes of a data set, one byte a cell, row by row: a document has a word a
// block of eight features. Features of one bin are left out. It is immutable.
type Matrix struct {
	bins   *Bins
	rows   int
	slots  []int  // features that are in, in order; the k-th is byte k%8 of block k/8
	has    []bool // missing values, by slot
	blocks int
	words  []uint64 // of a row together
	common []common // by block
}

// chunk is the number of rows that are coded, or scored, by one worker at a time.
const chunk = 4096

// NewMatrix codes the row-major matrix x, of as many features as the bins. It is the same
// for any number of workers.
func NewMatrix(x []float32, bins *Bins, workers int) *Matrix {
	features := bins.Features()
	rows := len(x) / features
	c := NewCoder(bins, rows, parallel.Workers(workers, chunks(rows)))
	parallel.For(chunks(rows), workers, func(worker, i int) {
		from, to := i*chunk, min(rows, (i+1)*chunk)
		c.Code(worker, from, x[from*features:to*features])
	})
	return c.Matrix()
}

// code sets words to those of the rows x, and marks the slots that have missing values. A part of a column is
// brought together and coded at a time.
func (m *Matrix) code(words []uint64, x []float32, missing []bool) {
	const part = 256
	var values [part]float32
	var codes [part]uint8
	features := m.bins.Features()
	for from, rows := 0, len(x)/features; from < rows; from += part {
		n := min(part, rows-from)
		for slot, f := range m.slots {
			for i := range n {
				values[i] = x[(from+i)*features+f]
			}
			if m.bins.codes(codes[:n], values[:n], f) {
				missing[slot] = true
			}
			at, shift := from*m.blocks+slot/blockFeatures, 8*(slot%blockFeatures)
			for _, code := range codes[:n] {
				words[at] |= uint64(code) << shift
				at += m.blocks
			}
		}
	}
}

// codes sets dst to the codes of values of a feature, and reports whether there is a missing one.
func (b *Bins) codes(dst []uint8, x []float32, feature int) (missing bool) {
	kernel.Codes(dst, x, b.cuts[feature])
	of := b.categories[feature]
	for i, v := range x {
		if v != v || of != nil && (int(dst[i]) >= len(of) || of[dst[i]] != v) {
			dst[i], missing = missingCode, true
		}
	}
	return missing
}

// Rows returns the number of documents.
func (m *Matrix) Rows() int { return m.rows }

// column returns the words that have the codes of a slot, a row every m.blocks of them, and the
// place of the code in the word.
func (m *Matrix) column(slot int) (words []uint64, shift int) {
	return m.words[slot/blockFeatures:], 8 * (slot % blockFeatures)
}

// codeAt returns the code of a row in a slot.
func (m *Matrix) codeAt(slot int, row uint32) uint8 {
	return uint8(m.words[int(row)*m.blocks+slot/blockFeatures] >> (8 * (slot % blockFeatures)))
}
