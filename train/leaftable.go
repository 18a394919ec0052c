package train

import (
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/scorer"
)

// leafTable knows into which leaf of each of some trees each document falls, two bytes a
// document and tree, so that sums of trees whose weights change need not go down the trees
// again.
type leafTable struct {
	features int
	x        []float32 // row-major, with that many features
	workers  int
	leaves   [][]uint16 // by tree; one a document
}

// mostTableLeaves is the number of leaves that a tree of a leafTable may have.
const mostTableLeaves = 1 << 16

// tableChunk is the number of documents that a worker looks at at a time.
const tableChunk = 1024

// fill adds those of the trees, all valid, that are not in the table yet.
func (t *leafTable) fill(trees [][]scorer.TreeNode) {
	for _, nodes := range trees[len(t.leaves):] {
		t.leaves = append(t.leaves, t.leavesOf(nodes))
	}
}

// leavesOf returns the leaves of a tree: the scores of a tree whose values are the numbers of
// its leaves.
func (t *leafTable) leavesOf(nodes []scorer.TreeNode) []uint16 {
	s, err := scorer.NewTrees(t.features, [][]scorer.TreeNode{nodes})
	if err != nil {
		panic("train: " + err.Error()) // it was grown here, or checked
	}
	numbers := make([]float64, len(nodes)+1)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	leaves := make([]uint16, len(t.x)/t.features)
	chunks := (len(leaves) + tableChunk - 1) / tableChunk
	spaces := make([]scorer.Workspace, parallel.Workers(t.workers, chunks))
	parallel.For(chunks, t.workers, func(worker, c int) {
		from, to := c*tableChunk, min(len(leaves), (c+1)*tableChunk)
		var found [tableChunk]float64
		s.Score(found[:to-from], numbers, t.x[from*t.features:to*t.features], &spaces[worker])
		for i, leaf := range found[:to-from] {
			leaves[from+i] = uint16(leaf)
		}
	})
	return leaves
}

// treeTerm is a tree of a sum: the leaves of the documents and the leaves' values.
type treeTerm struct {
	leaves []uint16
	values []float64
}

// addTerms adds the terms to the scores, each document's in their order.
func addTerms(scores []float64, terms []treeTerm, workers int) {
	parallel.For((len(scores)+tableChunk-1)/tableChunk, workers, func(_, c int) {
		from, to := c*tableChunk, min(len(scores), (c+1)*tableChunk)
		dst := scores[from:to]
		for _, t := range terms {
			for i, leaf := range t.leaves[from:to] {
				dst[i] += t.values[leaf]
			}
		}
	})
}
