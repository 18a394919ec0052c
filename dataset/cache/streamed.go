package cache

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
)

// streamed returns the cache as a data set whose matrix stays in the file. It is checked as it is read
// but for missing values, of which the number must be known: these are counted at once.
func (c *file) streamed(parts *dataset.Blocks, opts dataset.Options) (*dataset.Dataset, error) {
	if err := c.checkLongest(parts, opts); err != nil {
		return nil, err
	}
	m := c.newMatrix(parts.Counts, parts.Features)
	parts.X, parts.Matrix = nil, m
	block.Forget(c.data[:len(c.data)-len(c.matrix)])
	d := dataset.FromBlocks(*parts)
	m.describe = func(query, value int, v float32) (found, expected string) {
		return notFiniteIn(&d.Queries[query], value, d.Features, v)
	}
	if !c.incomplete() || opts.GradesOnly {
		return d, d.Changed()
	}
	var err error
	if parts.Missing, err = m.scan(input.Context(opts), opts.Missing); err != nil {
		return nil, err
	}
	d = dataset.FromBlocks(*parts)
	return d, d.Changed()
}

// checkLongest returns an error if the longest query, as it is read and as it is used, takes more than the limit, or than
// readers have in any case.
func (c *file) checkLongest(parts *dataset.Blocks, opts dataset.Options) error {
	const least, copies = 1 << 20, 2
	if len(parts.Counts) == 0 || opts.GradesOnly {
		return nil
	}
	longest := slices.Max(parts.Counts)
	size, limit := float64(4*float64(longest)*float64(parts.Features)), float64(max(c.mem.Limit(), least))
	if copies*size <= limit {
		return nil
	}
	return &dataset.SyntaxError{
		File: c.name, Found: fmt.Sprintf("a query of %d documents × %d features × 4 bytes = %s, which is read as a whole", longest, parts.Features, memory.Bytes(size)),
		Expected: "at most " + memory.Bytes(limit/copies) + ", or raise the limit", Err: dataset.ErrTooLarge,
	}
}
