package datafile

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/dataset/stream"
)

// OpenShard reads one shard of a manifest, which must match it. It has the features of the data set: their
// number, names and order.
func OpenShard(m *shards.Manifest, shard int, opts dataset.Options) (*dataset.Dataset, error) {
	if err := m.Verify(shard); err != nil {
		return nil, err
	}
	path := m.Path(shard)
	opts.MinFeatures = max(opts.MinFeatures, m.Features)
	d, err := Open(path, opts)
	if err != nil {
		return nil, err
	}
	arranged, err := admitted(m, shard, d, opts)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return arranged, nil
}

// admitted checks an opened shard against the manifest and arranges its features as in the data set.
func admitted(m *shards.Manifest, shard int, d *dataset.Dataset, opts dataset.Options) (*dataset.Dataset, error) {
	if err := m.Admit(shard, d); err != nil {
		return nil, err
	}
	if whole(opts) {
		if err := m.CheckCounts(shard, len(d.Queries), d.Docs()); err != nil {
			return nil, err
		}
	}
	d, err := m.Arrange(shard, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path(shard), err)
	}
	if d.Features != m.Features {
		return nil, unlikeFeatures(m, shard, d.Features)
	}
	return d, nil
}

// unlikeFeatures is the error about the number of features of a shard.
func unlikeFeatures(m *shards.Manifest, shard, features int) error {
	return &dataset.SyntaxError{File: m.Path(shard), Found: fmt.Sprintf("%d features", features), Expected: fmt.Sprintf("the %d that the manifest says all shards have", m.Features)}
}

// ConvertShard writes one shard of a manifest, which must match it, as Convert does. It has the features of the
// data set: their number, names and order. Inputs are not used.
func ConvertShard(c Conversion, m *shards.Manifest, shard int) (*Converted, error) {
	if err := m.Verify(shard); err != nil {
		return nil, err
	}
	c.Inputs = []string{m.Path(shard)}
	c.Options.MinFeatures = max(c.Options.MinFeatures, m.Features)
	c.within = func(f *stream.Surveyed) error {
		if whole(c.Options) {
			if err := m.CheckCounts(shard, len(f.Queries()), f.Docs()); err != nil {
				return err
			}
		}
		order, err := m.Order(shard, f.FeatureNames())
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		f.NameFeatures(m.Names)
		f.OrderFeatures(order)
		if m.Names == nil && f.Features() != m.Features {
			return unlikeFeatures(m, shard, f.Features())
		}
		return nil
	}
	return Convert(c)
}
