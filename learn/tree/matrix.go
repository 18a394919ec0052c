package tree

import (
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// blockFeatures is the number of columns of a block. It is the number of bytes of a word.
const blockFeatures = 8

// Matrix stores the codes of a data set, row by row, in columns of one byte. A row has one word of 64 bits for each
// block of eight columns. Each feature has a slot, but for features with a single bin, which are omitted. The codes of a
// slot are in a column, which exclusive slots share. A Matrix is immutable.
type Matrix struct {
	bins   *Bins
	rows   int
	slots  []int   // features with more than one bin, in ascending order
	places []place // one for each slot
	has    []bool  // whether a slot has missing values
	blocks int
	within [][]int  // the slots of each block, in ascending order
	words  []uint64 // row by row
	common []common // one for each block

	// columns contains the codes a second time, column by column, or is nil. Splitting a leaf reads one code of each
	// document. Reading the code from the field words would load a cache line per document.
	columns []uint8
}

// chunk is the number of rows that a worker processes at a time.
const chunk = 4096

// NewMatrix returns the codes of the row-major matrix x, which must have the same features as bins. The result does not
// depend on the number of workers. It takes two bytes for each code: one in the field words, and one in columns.
func NewMatrix(x []float32, bins *Bins, workers int) *Matrix {
	features := bins.Features()
	rows := len(x) / features
	c := NewCoder(bins, rows, parallel.Workers(workers, chunks(rows)))
	c.matrix.columns = block.NewBytes(len(c.matrix.slots) * rows)
	parallel.For(chunks(rows), workers, func(worker, i int) {
		from, to := i*chunk, min(rows, (i+1)*chunk)
		c.Code(worker, from, x[from*features:to*features])
	})
	return c.Matrix()
}

// blocksFor returns the number of blocks of the given number of columns.
func blocksFor(columns int) int { return (columns + blockFeatures - 1) / blockFeatures }

// code computes and stores the codes of the rows x, which are the rows of the matrix from row on. It sets missing[slot]
// if the slot has a missing value in x.
func (m *Matrix) code(row int, x []float32, missing []bool) {
	const part = 256
	var values [part]float32
	var codes [part]uint8
	features := m.bins.Features()
	words := m.words[row*m.blocks:]
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
			if m.columns != nil {
				copy(m.columns[slot*m.rows+row+from:], codes[:n])
			}
		}
	}
}

// codes sets dst[i] to the code of x[i], a value of the given feature. missing reports whether some code is
// missingCode.
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

// read sets dst[i] to the code of rows[i] in a slot. Its loops are simple, so that the processor overlaps the memory
// accesses.
func (m *Matrix) read(dst []uint8, slot int, rows []uint32) {
	dst = dst[:len(rows)]
	p := m.places[slot]
	if m.columns != nil {
		column := m.columns[p.column*m.rows:][:m.rows]
		for i, row := range rows {
			dst[i] = column[row]
		}
	} else {
		words, shift := m.words[p.column/blockFeatures:], 8*(p.column%blockFeatures)
		for i, row := range rows {
			dst[i] = uint8(words[int(row)*m.blocks] >> shift)
		}
	}
	if p.most != alone {
		for i, c := range dst {
			dst[i] = p.code(c)
		}
	}
}

// codeAt returns the code of a row in a slot.
func (m *Matrix) codeAt(slot int, row uint32) uint8 {
	p := m.places[slot]
	return p.code(uint8(m.words[int(row)*m.blocks+p.column/blockFeatures] >> (8 * (p.column % blockFeatures))))
}

// Coder makes a Matrix from rows that arrive in parts, in any order.
type Coder struct {
	matrix  *Matrix
	missing [][]bool // for each worker, marks the slots with missing values
}

// NewCoder returns a coder for the given number of rows. The rows must have the same features as bins. The matrix takes
// one byte for each value. workers is the number of workers that may call Code concurrently.
func NewCoder(bins *Bins, rows, workers int) *Coder {
	m := &Matrix{bins: bins, rows: rows}
	for f, cuts := range bins.cuts {
		if len(cuts) > 0 {
			m.places = append(m.places, place{len(m.slots), 0, alone})
			m.slots = append(m.slots, f)
		}
	}
	m.blocks = blocksFor(len(m.slots))
	m.words = block.NewWords(rows * m.blocks)
	c := &Coder{matrix: m, missing: make([][]bool, workers)}
	for w := range c.missing {
		c.missing[w] = make([]bool, len(m.slots))
	}
	return c
}

// Code computes the codes of the row-major matrix x and stores them in the rows of the matrix from row on. Workers,
// numbered from 0, may call Code for different rows concurrently.
func (c *Coder) Code(worker, row int, x []float32) {
	c.matrix.code(row, x, c.missing[worker])
}

// Matrix returns the matrix after all rows were coded. The coder must not be used afterwards.
func (c *Coder) Matrix() *Matrix {
	m := c.matrix
	m.has = make([]bool, len(m.slots))
	for _, seen := range c.missing {
		for k, some := range seen {
			m.has[k] = m.has[k] || some
		}
	}
	m.bundle(len(c.missing))
	m.index()
	return m
}

// index sets what depends on the columns of the slots.
func (m *Matrix) index() {
	m.within = make([][]int, m.blocks)
	for slot, p := range m.places {
		b := p.column / blockFeatures
		m.within[b] = append(m.within[b], slot)
	}
	m.findCommon()
}

// common is a frequent word of a block. use reports whether it is frequent enough that addCommon is faster than add.
type common struct {
	word uint64
	use  bool
}

// Many features are often 0 together, such as the features of an empty text field. The documents then have the same
// word in a block, and addCommon adds the total of these documents to each column's histogram at once. It is used for
// a block if at least the fraction leastCommon of about commonRows sampled rows have the block's common word.
const (
	leastCommon = 0.15
	commonRows  = 4096
)

// findCommon sets the common word of each block, whose bytes are the most frequent code of each column.
func (m *Matrix) findCommon() {
	m.common = make([]common, m.blocks)
	step := max(1, m.rows/commonRows)
	for b := range m.common {
		var counts [blockFeatures][256]int
		for r := 0; r < m.rows; r += step {
			for k, w := 0, m.words[r*m.blocks+b]; k < blockFeatures; k++ {
				counts[k][uint8(w>>(8*k))]++
			}
		}
		word := uint64(0)
		for k := range counts {
			most := 0
			for code, n := range counts[k] {
				if n > counts[k][most] {
					most = code
				}
			}
			word |= uint64(most) << (8 * k)
		}
		have, looked := 0, 0
		for r := 0; r < m.rows; r += step {
			if looked++; m.words[r*m.blocks+b] == word {
				have++
			}
		}
		m.common[b] = common{word, float64(have) >= leastCommon*float64(looked)}
	}
}
