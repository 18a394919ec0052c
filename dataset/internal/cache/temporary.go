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

// Streamed returns the data set of [stream.Plan.Collect] as a streamed one, without holding the features. It
// writes the documents to a cache in a temporary file, which closing the data set removes. tooLarge is why
// Collect does not make it; an error about the file tells that, too.
func Streamed(p *stream.Plan, name string, opts dataset.Options, tooLarge error) (*dataset.Dataset, error) {
	b, err := newBuilder(p)
	if err != nil {
		return nil, err
	}
	if opts.Note != nil {
		opts.Note(fmt.Sprintf("%s: %d documents × %d features do not fit into the memory that they may take and are put in a temporary file of %.3g GB in %s", name, p.Docs, p.Features, float64(b.size())/1e9, os.TempDir()))
	}
	t, err := block.NewTemporary("", b.size())
	if err != nil {
		return nil, fmt.Errorf("%w; %w", err, tooLarge) // it ends with the limit
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
		_ = bytes.Close() // the error at hand is the one to report
	}
	return d, err
}

// planned returns a cache of a plan's documents as a streamed data set with all that the plan knows of them and
// that a cache does not hold.
func (c *file) planned(p *stream.Plan, opts dataset.Options) (d *dataset.Dataset, err error) {
	defer block.Guard(&err)()
	parts, err := c.dataset()
	if err != nil {
		return nil, err
	}
	missing, absent := p.Holes()
	if parts.Absent = absent; p.Missing() != dataset.MissingKeep {
		parts.Filled = missing // 0 where none may be
	}
	parts.Warnings, parts.AttributeNames, parts.Attributes = p.Warnings(), p.AttributeNames, p.Attributes
	opts.Missing = dataset.MissingKeep // what is to be filled was
	return c.withMatrix(parts, true, opts)
}
