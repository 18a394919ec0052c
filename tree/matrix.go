package tree

import "github.com/listwise/listwise/internal/parallel"

// blockFeatures is the number of features of a block: the bytes of a word.
const blockFeatures = 8

// Matrix holds the codes of a data set, one byte a cell: blocks of eight features, in each
// of which a document is one word. Features of one bin are left out. It is immutable.
type Matrix struct {
	bins   *Bins
	rows   int
	slots  []int      // features that are in, in order; the k-th is byte k%8 of block k/8
	has    []bool     // missing values, by slot
	blocks [][]uint64 // rows words each
}

// chunk is the number of rows that are coded, or scored, by one worker at a time.
const chunk = 4096

// NewMatrix codes the row-major matrix x, of as many features as the bins. It is the same
// for any number of workers.
func NewMatrix(x []float32, bins *Bins, workers int) *Matrix {
	features := bins.Features()
	m := &Matrix{bins: bins, rows: len(x) / features}
	for f, cuts := range bins.cuts {
		if len(cuts) > 0 {
			m.slots = append(m.slots, f)
		}
	}
	m.blocks = make([][]uint64, (len(m.slots)+blockFeatures-1)/blockFeatures)
	for b := range m.blocks {
		m.blocks[b] = make([]uint64, m.rows)
	}
	chunks := (m.rows + chunk - 1) / chunk
	missing := make([][]bool, parallel.Workers(workers, chunks))
	parallel.For(chunks, workers, func(worker, c int) {
		if missing[worker] == nil {
			missing[worker] = make([]bool, len(m.slots))
		}
		m.code(x, c*chunk, min(m.rows, (c+1)*chunk), missing[worker])
	})
	m.has = make([]bool, len(m.slots))
	for _, seen := range missing {
		for k, some := range seen {
			m.has[k] = m.has[k] || some
		}
	}
	return m
}

// code codes some rows, and marks the slots that have missing values.
func (m *Matrix) code(x []float32, from, to int, missing []bool) {
	features := m.bins.Features()
	for b, words := range m.blocks {
		slots := m.slots[b*blockFeatures : min(len(m.slots), (b+1)*blockFeatures)]
		for i := from; i < to; i++ {
			row := x[i*features : (i+1)*features]
			var word uint64
			for k, f := range slots {
				code := m.bins.Code(f, row[f])
				if code == missingCode {
					missing[b*blockFeatures+k] = true
				}
				word |= uint64(code) << (8 * k)
			}
			words[i] = word
		}
	}
}

// Rows returns the number of documents.
func (m *Matrix) Rows() int { return m.rows }

// codeAt returns the code of a row in a slot.
func (m *Matrix) codeAt(slot int, row uint32) uint8 {
	return uint8(m.blocks[slot/blockFeatures][row] >> (8 * (slot % blockFeatures)))
}
