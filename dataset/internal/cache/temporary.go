package cache

import (
	"errors"
	"fmt"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/block"
)

// Streamed returns the documents of a plan as a streamed data set, so the features need not fit in memory.
// [stream.Plan.Collect] returns the same data in memory. Streamed writes the documents to a cache in a
// temporary file. Closing the data set removes the file. tooLarge is the reason why Collect cannot be used. It
// is a part of errors about the file.
func Streamed(p *stream.Plan, name string, opts dataset.Options, tooLarge error) (*dataset.Dataset, error) {
	b, err := newBuilder(p)
	if err != nil {
		return nil, err
	}
	if opts.Note != nil {
		opts.Note(fmt.Sprintf("%s: to save memory, %d documents × %d features are stored in a temporary file of %.3g GB in %s", name, p.Docs, p.Features, float64(b.size())/1e9, os.TempDir()))
	}
	t, err := block.NewTemporary("", b.size())
	if err != nil {
		return nil, fmt.Errorf("%w; %w", err, tooLarge) // tooLarge, which states the limit, comes last
	}
	err = b.build(t.File(), nil)
	bytes := (*block.File)(nil)
	if err == nil {
		if bytes = t.Map(name); bytes == nil {
			err = errors.New("the system does not map a temporary file into memory")
		}
	}
	if bytes == nil {
		return nil, errors.Join(err, t.Close())
	}
	c := &file{name: name, mem: memory.New(name, opts), bytes: bytes, data: bytes.Data, views: true}
	c.tell(opts)
	d, err := c.planned(p, opts)
	if err != nil {
		_ = bytes.Close() // err is reported instead
	}
	return d, err
}

// planned returns the cache of a plan's documents as a streamed data set. It adds the data of the plan that a
// cache does not store: warnings, attributes and the numbers of replaced values.
func (c *file) planned(p *stream.Plan, opts dataset.Options) (d *dataset.Dataset, err error) {
	defer block.Guard(&err)()
	parts, err := c.dataset()
	if err != nil {
		return nil, err
	}
	missing, absent := p.Holes()
	if parts.Absent = absent; p.Missing() != dataset.MissingKeep {
		parts.Filled = missing // 0 with MissingError
	}
	parts.Warnings, parts.AttributeNames, parts.Attributes = p.Warnings(), p.AttributeNames, p.Attributes
	opts.Missing = dataset.MissingKeep // the builder has filled missing values
	return c.withMatrix(parts, true, opts)
}
