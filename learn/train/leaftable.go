package train

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// leafTable knows into which leaf of each of some trees each document falls, a byte or two a
// document and tree, so that sums of trees whose weights change need not go down the trees
// again. A column a tree is in memory or in a temporary file.
type leafTable struct {
	rows    treeRows
	workers int
	columns []leafColumn  // by tree, in memory
	stored  *storedLeaves // instead of these, if it is not nil
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

// trees returns the number of trees that are in the table.
func (t *leafTable) trees() int {
	if t.stored != nil {
		return t.stored.trees
	}
	return len(t.columns)
}

// fill adds those of the trees, all valid, that are not in the table yet: a pass over data that are read query by query
// has as many of them as fit into the memory that is there for it.
func (t *leafTable) fill(trees [][]scorer.TreeNode) {
	for rest := trees[t.trees():]; len(rest) > 0; {
		n := 1
		if t.stored != nil {
			n = min(len(rest), max(1, fillBytes/(t.stored.stride*t.stored.width)))
		} else if t.rows.data != nil {
			n = len(rest)
		}
		for _, c := range t.leavesOf(rest[:n]) {
			t.add(c)
		}
		rest = rest[n:]
	}
}

// newColumn returns a column for a tree of so many leaves, as add takes it.
func (t *leafTable) newColumn(leaves int) (c leafColumn) {
	room := func() []uint8 {
		if t.stored != nil {
			return block.Aligned(t.stored.stride, block.Page)
		}
		return make([]uint8, t.rows.docs)
	}
	c.low = room()
	if leaves > byteLeaves {
		c.high = room()
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
	t.add(c)
}

// add adds a column.
func (t *leafTable) add(c leafColumn) {
	if t.stored != nil {
		t.stored.write(c)
		return
	}
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

// close removes the file.
func (t *leafTable) close() error {
	if t.stored == nil {
		return nil
	}
	return t.stored.file.Close()
}

// treeTerm is a tree of a sum: the table that has its leaves, its number there, and its leaves' values.
type treeTerm struct {
	table  *leafTable
	tree   int
	values []float64
}

// addTerms adds the terms to the scores, each document's in their order. All tables are in memory, or all are in files.
func addTerms(scores []float64, terms []treeTerm, workers int) {
	if len(terms) == 0 {
		return
	}
	chunk, side := tableChunk, workers
	if terms[0].table.stored != nil {
		chunk, side = storedChunk, storedReaders(workers)
	}
	chunks := (len(scores) + chunk - 1) / chunk
	memories := make([][]byte, parallel.Workers(side, chunks))
	parallel.For(chunks, side, func(worker, c int) {
		from, to := c*chunk, min(len(scores), (c+1)*chunk)
		dst := scores[from:to]
		for _, t := range terms {
			if s := t.table.stored; s != nil {
				memories[worker] = s.read(memories[worker], t.tree, from, to)
				s.column(memories[worker]).Add(dst, t.values)
			} else {
				t.table.columns[t.tree].part(from, to).Add(dst, t.values)
			}
		}
	})
}
