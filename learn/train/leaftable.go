package train

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// leafTable knows into which leaf of each of some trees each document falls, a byte or two a
// document and tree, so that sums of trees whose weights change need not go down the trees
// again.
type leafTable struct {
	rows    treeRows
	workers int
	columns []leafColumn // by tree
}

// mostTableLeaves is the number of leaves that a tree of a leafTable may have.
const mostTableLeaves = 1 << 16

// byteLeaves are those that a byte tells apart.
const byteLeaves = 1 << 8

// tableChunk is the number of documents that a worker looks at at a time.
const tableChunk = 1024

// treeRows are the documents that go down trees: row-major features in memory or, if data is not nil, data that are read
// query by query.
type treeRows struct {
	features, docs int
	x              []float32
	data           *dataset.Dataset
}

// rowsOf returns the documents of a data set.
func rowsOf(d *dataset.Dataset) treeRows {
	r := treeRows{features: d.Features, docs: d.Docs(), x: d.X()}
	if d.Streamed() {
		r.data = d
	}
	return r
}

// workers returns how many go through the rows at a time.
func (r *treeRows) workers(most int) int {
	n := (r.docs + tableChunk - 1) / tableChunk
	if r.data != nil {
		n = len(r.data.Queries)
	}
	return parallel.Workers(most, n)
}

// each calls visit, several times side by side, with some of the documents, from a row on. Nothing of x may be kept.
func (r *treeRows) each(workers int, visit func(worker, row int, x []float32)) {
	if r.data != nil {
		eachQuery(r.data, workers, func(worker int, q *dataset.Query, x []float32) { visit(worker, q.Start, x) })
		return
	}
	parallel.For((r.docs+tableChunk-1)/tableChunk, workers, func(worker, c int) {
		from, to := c*tableChunk, min(r.docs, (c+1)*tableChunk)
		visit(worker, from, r.x[from*r.features:to*r.features])
	})
}

// leafColumn has the leaf of one tree of each of some documents: the lower 8 bits and, if there are more leaves than these
// tell apart, the upper ones.
type leafColumn struct{ low, high []uint8 }

// set sets the leaf of a document.
func (c *leafColumn) set(row, leaf int) {
	c.low[row] = uint8(leaf)
	if c.high != nil {
		c.high[row] = uint8(leaf >> 8)
	}
}

// at returns the leaf of a document.
func (c *leafColumn) at(row int) int {
	if c.high == nil {
		return int(c.low[row])
	}
	return int(c.high[row])<<8 | int(c.low[row])
}

// part returns the column of the documents from one up to another.
func (c leafColumn) part(from, to int) leafColumn {
	p := leafColumn{low: c.low[from:to]}
	if c.high != nil {
		p.high = c.high[from:to]
	}
	return p
}

// Add implements leavesAdder: it adds the values of the documents' leaves to their scores.
func (c leafColumn) Add(scores, values []float64) {
	if c.high == nil {
		for i, leaf := range c.low[:len(scores)] {
			scores[i] += values[leaf]
		}
		return
	}
	for i, leaf := range c.low[:len(scores)] {
		scores[i] += values[int(c.high[i])<<8|int(leaf)]
	}
}

// fill adds those of the trees, all valid, that are not in the table yet.
func (t *leafTable) fill(trees [][]scorer.TreeNode) {
	if rest := trees[len(t.columns):]; len(rest) > 0 {
		t.columns = append(t.columns, t.leavesOf(rest)...)
	}
}

// newColumn returns a column for a tree of so many leaves.
func (t *leafTable) newColumn(leaves int) (c leafColumn) {
	c.low = make([]uint8, t.rows.docs)
	if leaves > byteLeaves {
		c.high = make([]uint8, t.rows.docs)
	}
	return c
}

// grown adds the tree that a grower has grown on the documents.
func (t *leafTable) grown(g grower, leaves int) {
	c := t.newColumn(leaves)
	g.Visit(func(leaf int, rows []uint32) {
		for _, row := range rows {
			c.set(int(row), leaf)
		}
	})
	t.columns = append(t.columns, c)
}

// leavesOf returns the leaves of some trees: of each the scores, where its values are the numbers of
// its leaves.
func (t *leafTable) leavesOf(trees [][]scorer.TreeNode) []leafColumn {
	columns, scorers, numbers := make([]leafColumn, len(trees)), make([]*scorer.Trees, len(trees)), []float64{0}
	for k, nodes := range trees {
		s, err := scorer.NewTrees(t.rows.features, [][]scorer.TreeNode{nodes})
		if err != nil {
			panic("train: " + err.Error()) // it was grown here, or checked
		}
		scorers[k], columns[k] = s, t.newColumn(len(nodes)+1)
		for len(numbers) <= len(nodes) {
			numbers = append(numbers, float64(len(numbers)))
		}
	}
	type memory struct {
		space scorer.Workspace
		found []float64
	}
	memories := make([]memory, t.rows.workers(t.workers))
	t.rows.each(t.workers, func(worker, row int, x []float32) {
		m, n := &memories[worker], len(x)/t.rows.features
		if cap(m.found) < n {
			m.found = make([]float64, n)
		}
		for k, s := range scorers {
			clear(m.found[:n])
			s.Score(m.found[:n], numbers[:len(trees[k])+1], x, &m.space)
			for i, leaf := range m.found[:n] {
				columns[k].set(row+i, int(leaf))
			}
		}
	})
	return columns
}

// treeTerm is a tree of a sum: the table that has its leaves, its number there, and its leaves' values.
type treeTerm struct {
	table  *leafTable
	tree   int
	values []float64
}

// addTerms adds the terms to the scores, each document's in their order.
func addTerms(scores []float64, terms []treeTerm, workers int) {
	parallel.For((len(scores)+tableChunk-1)/tableChunk, workers, func(_, c int) {
		from, to := c*tableChunk, min(len(scores), (c+1)*tableChunk)
		for _, t := range terms {
			t.table.columns[t.tree].part(from, to).Add(scores[from:to], t.values)
		}
	})
}
