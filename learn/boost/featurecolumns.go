package boost

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
)

// featureColumns returns the values of one feature for all documents. It caches the most recently used columns, because
// reading a feature from the rows of the data loads a cache line per document.
type featureColumns struct {
	data *dataset.Dataset
	kept recent[float32]
}

// keptFeatures is the number of stored columns. A column takes four bytes per document.
const keptFeatures = 8

// of returns the column of feature f, which is valid until the next call. If there is false, the column was not cached,
// and the caller must set its rows by gather before reading them.
func (c *featureColumns) of(f int) (column []float32, there bool) {
	if !c.kept.has(f) && len(c.kept.slots) < min(keptFeatures, c.data.Features) {
		c.kept.add(block.New(c.data.Docs()))
	}
	return c.kept.of(f)
}

// gather copies the rows from ≤ row < to of feature f to column.
func (c *featureColumns) gather(column []float32, f, from, to int) {
	x, width := c.data.X()[f:], c.data.Features
	for row := from; row < to; row++ {
		column[row] = x[row*width]
	}
}
