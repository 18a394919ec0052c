package boost

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
)

// featureColumns returns one feature of all documents at a time, and keeps the columns used last. Read
// from the rows, a feature would take a line of the processor's cache for each document.
type featureColumns struct {
	data *dataset.Dataset
	kept recent[float32]
}

// keptFeatures is the number of columns that are kept, four bytes a document each.
const keptFeatures = 8

// of returns a feature of all documents, valid until the next call. Without there, the caller must gather
// the rows that it uses.
func (c *featureColumns) of(f int) (column []float32, there bool) {
	if !c.kept.has(f) && len(c.kept.slots) < min(keptFeatures, c.data.Features) {
		c.kept.add(block.New(c.data.Docs()))
	}
	return c.kept.of(f)
}

// gather sets some rows of a feature.
func (c *featureColumns) gather(column []float32, f, from, to int) {
	x, width := c.data.X()[f:], c.data.Features
	for row := from; row < to; row++ {
		column[row] = x[row*width]
	}
}
