package scorer

import "slices"

// categoryFeature are the sets of categories by which nodes divide a feature, in the layout for
// blocks: a document's value is looked up once among the categories of all sets, and from
// there in a table of each.
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
