package tree

import "github.com/listwise/listwise/internal/parallel"

// exactColumns lists, for every feature, the rows of the tree's documents. The rows of a leaf are adjacent. They are
// sorted by the value of the feature, with missing values last, and equal values are sorted by row. The methods load
// and divide return words, which contain a value and its row (see wordOf). Workers, numbered from 0, may use different
// features at once. A result is valid until the worker's next call.
type exactColumns struct {
	x        []float32 // row-major
	features int
	rows     int
	orders   [][]uint32 // all rows, by feature; nil if all values of the feature are equal
	columns  [][]uint32 // rows of the tree's documents, by feature, with the rows of a leaf adjacent
	spare    [][]uint32 // one for each worker
	words    [][]uint64 // one for each worker
}

func newExactColumns(x []float32, features, workers int) *exactColumns {
	h := &exactColumns{x: x, features: features, rows: len(x) / features, orders: make([][]uint32, features), columns: make([][]uint32, features)}
	n := parallel.Workers(workers, features)
	h.spare, h.words = make([][]uint32, n), make([][]uint64, n)
	memories := make([][]uint64, n)
	parallel.For(features, workers, func(worker, f int) {
		if memories[worker] == nil {
			memories[worker] = make([]uint64, 2*h.rows)
		}
		h.orders[f] = h.order(f, memories[worker])
	})
	return h
}

func (h *exactColumns) at(row uint32, f int) float32 { return h.x[int(row)*h.features+f] }

// order returns the rows in the order of a feature's values, or nil if all values are equal. memory has 2·h.rows
// words.
func (h *exactColumns) order(f int, memory []uint64) []uint32 {
	words := memory[:h.rows]
	for i := range words {
		words[i] = wordOf(h.at(uint32(i), f), uint32(i))
	}
	sorted, _ := sortByKey(words, memory[h.rows:], 32)
	if !differ(sorted) {
		return nil
	}
	order := make([]uint32, h.rows)
	for i, word := range sorted {
		order[i] = uint32(word)
	}
	return order
}

// differ reports whether words in ascending order have different values.
func differ(words []uint64) bool {
	n := len(words)
	return n > 0 && words[0]>>32 != words[n-1]>>32
}

// varies reports whether a feature has different values.
func (h *exactColumns) varies(f int) bool { return h.orders[f] != nil }

// begin puts all documents in the bag into one leaf. A nil bag contains all documents.
func (h *exactColumns) begin(bag []bool, workers int) {
	parallel.For(h.features, workers, func(_, f int) {
		h.columns[f] = h.columns[f][:0]
		for _, r := range h.orders[f] {
			if bag == nil || bag[r] {
				h.columns[f] = append(h.columns[f], r)
			}
		}
	})
}

// load returns the words of the documents of a leaf.
func (h *exactColumns) load(worker, f int, l *exactLeaf) []uint64 {
	column := h.columns[f][l.from:l.to]
	if cap(h.words[worker]) < len(column) {
		h.words[worker] = make([]uint64, len(column))
	}
	words := h.words[worker][:len(column)]
	for i, r := range column {
		words[i] = wordOf(h.at(r, f), r)
	}
	return words
}

// divide moves the rows of a leaf that go left before the rows that go right, without changing the order within each.
// It returns the words of the leaf in the new order.
func (h *exactColumns) divide(worker, f int, l *exactLeaf, goLeft []bool) []uint64 {
	_, h.spare[worker] = partition(h.columns[f][l.from:l.to], goLeft, h.spare[worker])
	return h.load(worker, f, l)
}

// outside returns a slice with an element per row. The element is −1 − l for a row that is in leaf l and not in the
// bag, and 0 for a row in the bag.
func (h *exactColumns) outside(t *Tree, bag []bool) []int32 {
	leaves := make([]int32, h.rows)
	for r, in := range bag {
		if !in {
			leaves[r] = int32(-1 - t.Leaf(h.x[r*h.features:(r+1)*h.features]))
		}
	}
	return leaves
}
