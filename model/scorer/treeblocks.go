package scorer

import (
	"slices"

	"github.com/listwise/listwise/internal/kernel"
)

// Trees score blocks of documents with a special layout. Score builds the layout once, after it has
// scored some documents by walking from node to node. The layout replaces each threshold by its rank
// among the thresholds of its feature, and each feature value by a rank of one byte. A tree becomes a
// list of splits, and one instruction sequence compares 64 documents with a split. Leaves and the order
// of additions are the same as in the walk, so scores have the same bits.
const (
	blockDocs = kernel.ForestDocs
	// mostLeaves is the largest number of leaves that one byte can number. Larger trees are walked.
	mostLeaves = 256
	// mostCuts is the largest number of thresholds for which one byte can represent a value's rank.
	mostCuts = 255
	// payingDocs is the number of documents for which the layout pays. Building it takes about as long
	// as walking the trees with that many documents.
	payingDocs = 128
)

// blocks is the layout of trees for blocks of documents.
type blocks struct {
	columns    []codeColumn             // by feature
	first      []int                    // index of the first column of each feature
	categories map[int]*categoryFeature // by feature
	heights    []int                    // largest code of each of the kernel's columns
	parts      []treesPart
	work       int // number of words of memory that the forests need
}

// codeColumn contains up to mostCuts thresholds of a feature, in ascending order. left is the kernel's
// column for nodes whose missing values go left, and right for nodes whose missing values go right.
// Either is −1 if no node needs it.
type codeColumn struct {
	feature     int
	cuts        []float32
	left, right int
}

// treesPart is a run of successive trees: a forest, or trees that are walked.
type treesPart struct {
	forest *kernel.Forest // nil if the trees are walked
	trees  int
	leaves int
}

func newBlocks(t *Trees) *blocks {
	b := &blocks{}
	b.makeColumns(t)
	b.makeCategories(t)
	runs := make([][]kernel.DecisionTree, 1)
	b.parts = make([]treesPart, 1)
	for _, nodes := range t.trees { // all columns must have numbers before NewForest is called
		last := len(runs) - 1
		if !suitsBlocks(nodes) {
			b.parts = append(b.parts, treesPart{trees: 1, leaves: len(nodes) + 1}, treesPart{})
			runs = append(runs, nil, nil)
			continue
		}
		runs[last] = append(runs[last], b.decisionTree(nodes))
		b.parts[last].trees++
		b.parts[last].leaves += len(nodes) + 1
	}
	for i, run := range runs {
		if len(run) > 0 {
			b.parts[i].forest = kernel.NewForest(b.heights, run)
			b.work = max(b.work, b.parts[i].forest.Work())
		}
	}
	return b
}

// suitsBlocks reports whether a tree has few enough leaves.
func suitsBlocks(nodes []TreeNode) bool { return len(nodes) < mostLeaves }

// makeColumns collects the thresholds of every feature and divides them into columns.
func (b *blocks) makeColumns(t *Trees) {
	cuts := make([][]float32, t.features)
	for _, nodes := range t.trees {
		if suitsBlocks(nodes) {
			for i := range nodes {
				if n := &nodes[i]; n.Categories == nil {
					cuts[n.Feature] = append(cuts[n.Feature], n.Threshold)
				}
			}
		}
	}
	b.first = make([]int, t.features)
	for feature, all := range cuts {
		b.first[feature] = len(b.columns)
		slices.Sort(all)
		for c := range slices.Chunk(slices.Compact(all), mostCuts) {
			b.columns = append(b.columns, codeColumn{feature: feature, cuts: slices.Clone(c), left: -1, right: -1})
		}
	}
}

// column returns the kernel's column whose codes node n compares. Documents with a code larger than
// above go right.
func (b *blocks) column(n *TreeNode) (column, above int) {
	if n.Categories != nil {
		return b.categoryColumn(n), 0
	}
	at := b.first[n.Feature]
	for b.columns[at].cuts[len(b.columns[at].cuts)-1] < n.Threshold {
		at++
	}
	c := &b.columns[at]
	side := &c.right
	if n.MissingLeft {
		side = &c.left
	}
	if *side < 0 {
		*side = len(b.heights)
		b.heights = append(b.heights, len(c.cuts))
	}
	above, _ = slices.BinarySearch(c.cuts, n.Threshold)
	return *side, above
}

func (b *blocks) decisionTree(nodes []TreeNode) kernel.DecisionTree {
	first := make([]uint8, len(nodes)) // the leaf reached from each node by always going left
	leaf := func(child int) uint8 {
		if child < 0 {
			return uint8(-1 - child)
		}
		return first[child]
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		first[i] = leaf(nodes[i].Left)
	}
	d := kernel.DecisionTree{Leaves: len(nodes) + 1, Splits: make([]kernel.Split, len(nodes))}
	if len(nodes) > 0 {
		d.First = first[0]
	}
	for i := range nodes {
		column, above := b.column(&nodes[i])
		d.Splits[i] = kernel.Split{Column: column, Above: uint8(above), At: first[i], To: leaf(nodes[i].Right)}
	}
	return d
}

// score adds the scores of up to blockDocs documents to dst.
func (b *blocks) score(t *Trees, dst, params []float64, x []float32, ws *Workspace) {
	ws.codes = slices.Grow(ws.codes[:0], blockDocs*len(b.heights))[:blockDocs*len(b.heights)]
	ws.words = slices.Grow(ws.words[:0], b.work)[:b.work]
	b.encode(ws.codes, x, t.features)
	roots, values := t.roots, params
	for _, p := range b.parts {
		if p.forest != nil {
			p.forest.Add(dst, values[:p.leaves], ws.codes, ws.words)
		} else {
			t.walk(dst, params, x, roots[:p.trees])
		}
		values, roots = values[p.leaves:], roots[p.trees:]
	}
}

// encode writes the codes of all columns for a block of documents.
func (b *blocks) encode(codes []uint8, x []float32, features int) {
	var values [blockDocs]float32 // of one feature
	docs, missing, last := len(x)/features, false, -1
	for _, c := range b.categories {
		c.encode(codes, x, features, docs)
	}
	for i := range b.columns {
		c := &b.columns[i]
		if c.feature != last {
			last, missing = c.feature, false
			for d := range docs {
				v := x[d*features+last]
				values[d] = v
				missing = missing || v != v
			}
		}
		c.encode(codes, values[:docs], missing)
	}
}

// encode writes the codes for the values of one feature. missing reports whether a value may be
// missing.
func (c *codeColumn) encode(codes []uint8, values []float32, missing bool) {
	of := func(column int) []uint8 { return codes[column*blockDocs:][:blockDocs] }
	kernel.Codes(of(max(c.left, c.right))[:len(values)], values, c.cuts)
	if c.left >= 0 && c.right >= 0 {
		copy(of(min(c.left, c.right)), of(max(c.left, c.right)))
	}
	if !missing || c.right < 0 {
		return
	}
	right := of(c.right)
	for d, v := range values {
		if v != v {
			right[d] = uint8(len(c.cuts))
		}
	}
}

// categoryFeature contains, for one feature, the sets of categories that nodes use. encode looks a
// document's value up once among the categories of all sets. Its index there selects an element of each
// set's table.
type categoryFeature struct {
	feature int
	values  []float32 // categories of all sets, ascending and different
	sets    []categorySet
	columns map[string]int // the kernel's column for each table
}

// categorySet is the table of one set. It has the code of each category, then the code of all other
// values: 0 goes left, 1 goes right.
type categorySet struct {
	column int
	codes  []uint8
}

// makeCategories collects the categories of every feature.
func (b *blocks) makeCategories(t *Trees) {
	values := make(map[int][]float32)
	for _, nodes := range t.trees {
		if suitsBlocks(nodes) {
			for i := range nodes {
				if n := &nodes[i]; n.Categories != nil {
					values[n.Feature] = append(values[n.Feature], n.Categories...)
				}
			}
		}
	}
	b.categories = make(map[int]*categoryFeature)
	for feature, all := range values {
		slices.Sort(all)
		b.categories[feature] = &categoryFeature{feature: feature, values: slices.Compact(all), columns: make(map[string]int)}
	}
}

// categoryColumn returns the kernel's column whose codes node n compares. The node must have
// categories. Documents with a code above 0 go right.
func (b *blocks) categoryColumn(n *TreeNode) int {
	c := b.categories[n.Feature]
	codes := make([]uint8, len(c.values)+1)
	for i := range codes {
		codes[i] = 1
	}
	for _, v := range n.Categories {
		i, _ := slices.BinarySearch(c.values, v)
		codes[i] = 0
	}
	column, ok := c.columns[string(codes)]
	if !ok {
		column = len(b.heights)
		b.heights = append(b.heights, 1)
		c.columns[string(codes)] = column
		c.sets = append(c.sets, categorySet{column, codes})
	}
	return column
}

// encode writes the codes of all sets for a block of documents.
func (c *categoryFeature) encode(codes []uint8, x []float32, features, docs int) {
	var places [blockDocs]int
	for d := range docs {
		i, found := slices.BinarySearch(c.values, x[d*features+c.feature])
		if !found {
			i = len(c.values)
		}
		places[d] = i
	}
	for _, s := range c.sets {
		column := codes[s.column*blockDocs:][:docs]
		for d := range column {
			column[d] = s.codes[places[d]]
		}
	}
}
