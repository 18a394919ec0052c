package transform

import (
	"fmt"
	"maps"
	"slices"
)

// Pipeline transforms the features of documents. It has a chain of steps for some features. It is immutable
// and safe for concurrent use. A nil Pipeline changes nothing.
type Pipeline struct {
	features []int   // from 0, ascending
	chains   []Chain // chains of these features
}

// New returns the pipeline of chains, whose keys are features counted from 0. It returns nil if no chain has
// steps. It is an error if a chain is invalid; see [Chain.Check].
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

// Features returns the features that have steps, counted from 0, in ascending order.
func (p *Pipeline) Features() []int {
	if p == nil {
		return nil
	}
	return slices.Clone(p.features)
}

// Chain returns the steps of a feature, counted from 0, or nil if it has none. The caller must not change
// them.
func (p *Pipeline) Chain(feature int) Chain {
	if p == nil {
		return nil
	}
	if i, ok := slices.BinarySearch(p.features, feature); ok {
		return p.chains[i]
	}
	return nil
}

// Equal reports whether two pipelines have the same steps.
func (p *Pipeline) Equal(other *Pipeline) bool {
	if p == nil || other == nil {
		return p == other
	}
	return slices.Equal(p.features, other.features) &&
		slices.EqualFunc(p.chains, other.chains, slices.Equal[Chain])
}

// Fills reports whether the pipeline replaces missing values in all features with an index less than features.
func (p *Pipeline) Fills(features int) bool {
	if p == nil || len(p.features) < features || features < 1 || p.features[features-1] != features-1 {
		return false
	}
	return !slices.ContainsFunc(p.chains[:features], func(c Chain) bool {
		return !slices.ContainsFunc(c, func(s Step) bool { _, ok := s.(Fill); return ok })
	})
}

// Apply transforms the rows of a row-major matrix in place. features is its number of columns. Steps of
// further features are ignored.
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

// ApplyFrom does the work of Apply for one row, but only for features whose index is at least from.
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
