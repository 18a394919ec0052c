package scorer

import (
	"slices"

	"github.com/listwise/listwise/internal/kernel"
)

// Trees score blocks of documents in a special layout. The layout is built once, after some documents
// were scored by walking from node to node. Each threshold is replaced by its rank among the thresholds of
// its feature, and each feature value by a rank of one byte. A tree becomes a list of splits, and one
// instruction sequence compares 64 documents with a split. Leaves and the order of additions are the same
// as in the walk, so scores have the same bits.
const (
	blockDocs = kernel.ForestDocs
	// mostLeaves is the number of leaves that a byte tells apart; larger trees are walked.
	mostLeaves = 256
	// mostCuts is the number of thresholds that a column of codes tells apart.
	mostCuts = 255
	// payingDocs is the number of documents from which the layout saves time. Building it takes
	// about as long as a plain walk of that many documents.
	payingDocs = 128
)

// blocks is the layout of trees for blocks of documents.
type blocks struct {
	columns    []codeColumn             // by feature
	first      []int                    // column of each feature
	categories map[int]*categoryFeature // by feature
	heights    []int                    // of the kernel's columns
	parts      []treesPart
	work       int // words of memory
}

// codeColumn holds up to mostCuts thresholds of a feature, in ascending order. Left and right
// are the columns of codes for nodes whose missing values go there, −1 where there are none.
type codeColumn struct {
	feature     int
	cuts        []float32
	left, right int
}

// treesPart are trees that follow each other: a forest, or trees that are walked.
type treesPart struct {
	forest *kernel.Forest // nil if they are walked
	trees  int
	leaves int
}

func newBlocks(t *Trees) *blocks {
	b := &blocks{}
	b.makeColumns(t)
	b.makeCategories(t)
	runs := make([][]kernel.DecisionTree, 1)
	b.parts = make([]treesPart, 1)
	for _, nodes := range t.trees { // all columns have numbers before a forest is made
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

// makeColumns finds the thresholds of every feature and divides them into columns.
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

// column returns the number of the codes that a node compares, and the code that those it
// sends right are above.
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
	first := make([]uint8, len(nodes)) // leaf below each node, going left always
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

// encode writes the codes of all columns.
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

// encode writes the codes of a column of values, some of which may be missing.
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

// categoryFeature holds the sets of categories by which nodes divide a feature, in the layout for
// blocks. A document's value is looked up once among the categories of all sets. Its place there
// indexes a table of each set.
type categoryFeature struct {
	feature int
	values  []float32 // of all sets, ascending and different
	sets    []categorySet
	columns map[string]int // of the kernel's columns, by table
}

// categorySet has the code of each value, and of all others: 0 for the left, 1 for the right.
type categorySet struct {
	column int
	codes  []uint8
}

// makeCategories finds the categories of every feature.
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

// categoryColumn returns the number of the codes that a node with categories compares; those
// above 0 go right.
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

// encode writes the codes of all sets for some documents.
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
