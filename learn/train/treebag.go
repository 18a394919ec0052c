package train

import (
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// treeMean is the Booster of trees. It is the sum of the initial trees and of the mean of growing sums of trees, the
// members of a bag. Usually the bag has one member. Trees are ordered by round, then by member, so that scoring with
// the model gives the same bits as training.
type treeMean struct {
	Trees

	data    *dataset.Dataset
	initial *initialTrees // nil: none
	sums    []*treeRounds
	grower  grower
	params  []float64 // parameters of the present scorer; nil if they must be computed
	err     error     // the error that ended the rounds
}

// memberSeed returns the seed of a member of a bag. The first member has the seed of the bag.
func memberSeed(seed uint64, member int) uint64 {
	if member == 0 {
		return seed
	}
	return random.Stream(seed, "member of a bag", strconv.Itoa(member)).Uint64()
}

// share returns the factor of each member's leaf values in the mean.
func (m *treeMean) share() float64 { return 1 / float64(len(m.sums)) }

// rounds returns the number of rounds. Members that ended early have fewer trees.
func (m *treeMean) rounds() int {
	n := 0
	for _, r := range m.sums {
		n = max(n, len(r.trees))
	}
	return n
}

// objective implements starter. It returns the mean of the members' objectives at their scores.
func (m *treeMean) objective() float64 {
	var objective float64
	for _, r := range m.sums {
		objective += r.objective
	}
	return float64(objective * m.share())
}

// Next implements Booster. The objective is the mean of the members' objectives.
func (m *treeMean) Next() (Round, bool) {
	grown := false
	for _, r := range m.sums {
		if !r.ended {
			r.ended = !r.next()
			grown = grown || !r.ended
		}
		if r.err != nil {
			m.err = r.err
			return Round{}, false
		}
	}
	if !grown {
		return Round{}, false
	}
	if m.Sum == GradientTrees && m.params != nil {
		m.params = m.appendRound(m.params, m.rounds()-1)
	}
	weight := m.Rate
	if m.Sum == ForestTrees {
		weight = 1 / float64(m.rounds())
	}
	return Round{Weight: weight, Objective: m.objective()}, true
}

// appendRound appends the leaf values of the trees of a round.
func (m *treeMean) appendRound(params []float64, round int) []float64 {
	for _, r := range m.sums {
		if round < len(r.trees) {
			params = append(params, r.valuesOf(round, r.weights, m.share())...)
		}
	}
	return params
}

// Add implements Booster.
func (m *treeMean) Add(dst []float64, d *dataset.Dataset) {
	if m.Sum != GradientTrees {
		m.setScores(dst, d)
		return
	}
	last, rows, values := m.rounds()-1, rowsOf(d), make([][]float64, len(m.sums))
	for k, r := range m.sums {
		if len(r.trees) > last {
			values[k] = r.valuesOf(last, nil, m.share())
		}
	}
	rows.each(m.Workers, func(_, row int, x []float32) {
		n := rows.features
		scores := dst[row : row+len(x)/n]
		if last == 0 {
			m.initial.score(scores, x, n)
		}
		for k, r := range m.sums {
			if values[k] == nil {
				continue
			}
			for i := range scores {
				scores[i] += values[k][r.last.Leaf(x[i*n:(i+1)*n])]
			}
		}
	})
}

// setScores sets dst, the scores of validation data, to the sum of all trees with their present weights.
func (m *treeMean) setScores(dst []float64, d *dataset.Dataset) {
	rows := rowsOf(d)
	clear(dst)
	if m.initial != nil {
		rows.each(m.Workers, func(_, row int, x []float32) {
			m.initial.score(dst[row:row+len(x)/rows.features], x, rows.features)
		})
	}
	for _, r := range m.sums {
		r.valid.rows = rows
		r.valid.fill(r.trees)
	}
	var terms []treeTerm
	for round := range m.rounds() {
		for _, r := range m.sums {
			if round < len(r.trees) {
				terms = append(terms, treeTerm{&r.valid, round, r.valuesOf(round, r.weights, m.share())})
			}
		}
	}
	addTerms(dst, terms, m.Workers)
}

// Keep implements Booster.
func (m *treeMean) Keep() {
	for _, r := range m.sums {
		r.keep()
	}
}

// Kept implements Booster.
func (m *treeMean) Kept() (scorer.Scorer, []float64, error) {
	if m.err != nil {
		return nil, nil, m.err
	}
	trees, params := m.initial.parts()
	for round := range m.rounds() {
		for _, r := range m.sums {
			if round < r.rounds {
				trees, params = append(trees, r.trees[round]), append(params, r.valuesOf(round, r.keptWeights, m.share())...)
			}
		}
	}
	s, err := scorer.NewTrees(m.data.Features, trees)
	if err != nil {
		return nil, nil, err
	}
	return s, params, nil
}

// prefix returns a function that returns the result of a training with fewer rounds and without validation data, or nil
// if there were fewer rounds. Validation data do not change trees, so the result has the first trees. objectives has the
// objective after each round. prefix returns nil if the weights of trees, or factors of slots, depend on the number of
// rounds.
func (m *treeMean) prefix(objectives []float64) func(rounds int) *Learned {
	if m.Sum != GradientTrees || m.Debias.By != NoDebias {
		return nil
	}
	first := &treeMean{data: &dataset.Dataset{Features: m.data.Features}, initial: m.initial} // without the data and the grower
	for _, r := range m.sums {
		first.sums = append(first.sums, &treeRounds{treesState: treesState{trees: r.trees, leaves: r.leaves}, starts: r.starts})
	}
	queries := m.Queries()
	return func(rounds int) *Learned {
		if rounds < 1 || rounds > len(objectives) {
			return nil
		}
		for _, r := range first.sums {
			r.rounds = min(rounds, len(r.trees))
		}
		s, params, err := first.Kept()
		if err != nil {
			return nil
		}
		training := model.Training{Status: allRounds, Iterations: rounds, Evaluations: rounds, BestEpoch: rounds, Objective: objectives[rounds-1]}
		return &Learned{s, params, training, queries}
	}
}

// Weights implements Booster. It returns the values of all leaves.
func (m *treeMean) Weights() []float64 {
	if m.Sum != GradientTrees || m.params == nil {
		_, m.params = m.initial.parts()
		for round := range m.rounds() {
			m.params = m.appendRound(m.params, round)
		}
	}
	return m.params
}

// Queries implements Booster.
func (m *treeMean) Queries() int { return m.sums[0].loss.Queries() }

func (m *treeMean) members() []*treeRounds { return m.sums }

// leafTable stores the leaf of each document in each tree, in one or two bytes. When the weights of trees change, the
// scores are computed from the table without another descent of the trees.
type leafTable struct {
	rows    treeRows
	workers int
	columns []leafColumn // one for each tree
}

// mostTableLeaves is the largest number of leaves of a tree in a leafTable.
const mostTableLeaves = 1 << 16

// byteLeaves is the largest number of leaves whose numbers fit into a byte.
const byteLeaves = 1 << 8

// tableChunk is the number of documents that a worker processes at a time.
const tableChunk = 1024

// treeRows are documents whose leaves are to be found. Their features are in x, row by row. If data is not nil, they
// are read from data, query by query, instead.
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

// workers returns the number of goroutines that each uses, at most most.
func (r *treeRows) workers(most int) int {
	n := (r.docs + tableChunk - 1) / tableChunk
	if r.data != nil {
		n = len(r.data.Queries)
	}
	return parallel.Workers(most, n)
}

// each calls visit for ranges of the documents, on several goroutines. row is the first document of a range, and x
// has the features of the range. x is valid during the call only.
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

// leafColumn has the leaf of each document in one tree: the lower 8 bits and, for a tree of more than 256 leaves, the
// upper 8 bits.
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

// part returns the column for the documents from up to to, exclusively.
func (c leafColumn) part(from, to int) leafColumn {
	p := leafColumn{low: c.low[from:to]}
	if c.high != nil {
		p.high = c.high[from:to]
	}
	return p
}

// Add implements leavesAdder. It adds to each score the value of the document's leaf.
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

// fill adds columns for the trees that have none yet.
func (t *leafTable) fill(trees [][]scorer.TreeNode) {
	if rest := trees[len(t.columns):]; len(rest) > 0 {
		t.columns = append(t.columns, t.leavesOf(rest)...)
	}
}

// newColumn returns a column for a tree with the given number of leaves.
func (t *leafTable) newColumn(leaves int) (c leafColumn) {
	c.low = make([]uint8, t.rows.docs)
	if leaves > byteLeaves {
		c.high = make([]uint8, t.rows.docs)
	}
	return c
}

// grown adds a column for the tree that g has just grown on the documents.
func (t *leafTable) grown(g grower, leaves int) {
	c := t.newColumn(leaves)
	g.Visit(func(leaf int, rows []uint32) {
		for _, row := range rows {
			c.set(int(row), leaf)
		}
	})
	t.columns = append(t.columns, c)
}

// leavesOf returns the columns of some trees, in one pass over the documents. It scores with each tree, whose leaf
// values are replaced by the numbers of the leaves.
func (t *leafTable) leavesOf(trees [][]scorer.TreeNode) []leafColumn {
	columns, scorers, numbers := make([]leafColumn, len(trees)), make([]*scorer.Trees, len(trees)), []float64{0}
	for k, nodes := range trees {
		s, err := scorer.NewTrees(t.rows.features, [][]scorer.TreeNode{nodes})
		if err != nil {
			panic("train: " + err.Error()) // trees come from a grower or a checked checkpoint or model
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

// treeTerm is a tree in a sum: a table with its leaves, its index there, and its leaf values.
type treeTerm struct {
	table  *leafTable
	tree   int
	values []float64
}

// addTerms adds the terms to the scores. It adds them to each score in their order.
func addTerms(scores []float64, terms []treeTerm, workers int) {
	parallel.For((len(scores)+tableChunk-1)/tableChunk, workers, func(_, c int) {
		from, to := c*tableChunk, min(len(scores), (c+1)*tableChunk)
		for _, t := range terms {
			t.table.columns[t.tree].part(from, to).Add(scores[from:to], t.values)
		}
	})
}
