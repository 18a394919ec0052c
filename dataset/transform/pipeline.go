package transform

import (
	"fmt"
	"maps"
	"slices"
)

// Pipeline is what is done to the features of documents: a chain of steps for some of them.
// It is immutable and safe for concurrent use; nil does nothing.
type Pipeline struct {
	features []int   // from 0, ascending
	chains   []Chain // of these
}

// New returns the pipeline of the chains of some features, counted from 0; nil if they have
// no steps. The error is that of [Chain.Check].
func New(chains map[int]Chain) (*Pipeline, error) {
	p := new(Pipeline)
	for _, feature := range slices.Sorted(maps.Keys(chains)) {
		c := chains[feature]
		if feature < 0 {
			return nil, fmt.Errorf("found feature %d, expected one from 1 on", feature+1)
		}
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("feature %d: %w", feature+1, err)
		}
		if len(c) > 0 {
			p.features, p.chains = append(p.features, feature), append(p.chains, slices.Clone(c))
		}
	}
	if p.features == nil {
		return nil, nil
	}
	return p, nil
}

// Features returns the features, counted from 0 and ascending, that something is done to.
func (p *Pipeline) Features() []int {
	if p == nil {
		return nil
	}
	return slices.Clone(p.features)
}

// Chain returns what is done to a feature, counted from 0; nil if nothing. It must not be
// changed.
func (p *Pipeline) Chain(feature int) Chain {
	if p == nil {
		return nil
	}
	if i, ok := slices.BinarySearch(p.features, feature); ok {
		return p.chains[i]
	}
	return nil
}

// Equal reports whether two pipelines do the same, step by step.
func (p *Pipeline) Equal(other *Pipeline) bool {
	if p == nil || other == nil {
		return p == other
	}
	return slices.Equal(p.features, other.features) &&
		slices.EqualFunc(p.chains, other.chains, slices.Equal[Chain])
}

// Fills reports whether missing values of the first n features all become numbers.
func (p *Pipeline) Fills(features int) bool {
	if p == nil || len(p.features) < features || features < 1 || p.features[features-1] != features-1 {
		return false
	}
	return !slices.ContainsFunc(p.chains[:features], func(c Chain) bool {
		return !slices.ContainsFunc(c, func(s Step) bool { _, ok := s.(Fill); return ok })
	})
}

// Apply transforms, in place, the rows of a row-major matrix of the given number of columns;
// features that it has no columns for are left out.
func (p *Pipeline) Apply(x []float32, features int) {
	if p == nil || len(x) == 0 {
		return
	}
	n, _ := slices.BinarySearch(p.features, features)
	for row := range slices.Chunk(x, features) {
		for i, f := range p.features[:n] {
			row[f] = p.chains[i].Apply(row[f])
		}
	}
}

// ApplyFrom is Apply for one row and the features from the given one on alone.
func (p *Pipeline) ApplyFrom(row []float32, from int) {
	if p == nil {
		return
	}
	at, _ := slices.BinarySearch(p.features, from)
	for i := at; i < len(p.features) && p.features[i] < len(row); i++ {
		f := p.features[i]
		row[f] = p.chains[i].Apply(row[f])
	}
}
