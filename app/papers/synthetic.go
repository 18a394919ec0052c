package papers

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/tune"
)

// The .gov sets of LETOR 3.0 are not to be had everywhere. Experiments on one of
// them can run on made data of the same shape, which show how a method behaves,
// not how good it is on the real set.

// govSize is the size of such data.
type govSize struct {
	queries, docs int
}

// hp2004Size is that of HP2004: 74,409 documents of 75 queries.
var hp2004Size = govSize{queries: 75, docs: 992}

// syntheticGov returns data of the shape of named-page and home-page finding
// (one relevant document a query) in five folds.
func syntheticGov(size govSize, seed uint64) (source, error) {
	shape, err := synth.Lookup("gov1")
	if err != nil {
		return source{}, err
	}
	options := shape.Defaults
	options.Queries, options.Docs, options.Seed = size.queries, size.docs, seed
	return inFolds(shape, options, fmt.Sprintf("SYNTHETIC data, not HP2004: %d queries of %d documents and %d features, one relevant document a query; the numbers are not comparable with the paper's",
		size.queries, size.docs, options.Features))
}

// inFolds makes data of a shape and divides them into five folds.
func inFolds(shape synth.Shape, options synth.Options, about string) (source, error) {
	d, err := shape.Generate(options)
	if err != nil {
		return source{}, err
	}
	folds, err := dataset.Folds(d, 5, random.Stream(options.Seed, "paper folds", shape.Name))
	if err != nil {
		return source{}, err
	}
	s := source{name: "synthetic " + shape.Name, about: about}
	for i, f := range folds {
		s.folds = append(s.folds, tune.Fold{
			Name:  fmt.Sprintf("Fold%d", i+1),
			Train: d.Subset(f.Train),
			Valid: d.Subset(f.Vali),
			Test:  d.Subset(f.Test),
		})
	}
	return s, nil
}

// hp2004 returns the data of the paper's Figures 4 to 8: HP2004 if it is there,
// else what --set names or the first set there is; made data if no folder is
// given.
func hp2004(o Options, size govSize) (source, error) {
	if o.Data == "" {
		if o.Set != "" {
			return source{}, inputError("set %s: found no folder of data to look for it in", o.Set)
		}
		return syntheticGov(size, o.Seed)
	}
	found, _, err := preferred("HP2004", "data: %s, not the paper's HP2004; the numbers are not comparable with the paper's")(o)
	if err != nil {
		return source{}, err
	}
	return found[0], nil
}

// onHP2004 is for experiments that do more than tune. It returns the results of a study before
// training, and its folds as the reading takes them, the first only if asked.
func (s *study) onHP2004(o Options, size govSize, taken reading, firstFold bool) (*results, []tune.Fold, error) {
	data, err := hp2004(o, size)
	if err != nil {
		return nil, nil, err
	}
	folds, err := data.read()
	if err != nil {
		return nil, nil, err
	}
	if firstFold {
		folds = folds[:1]
	}
	c, folds, err := newColumn(&data, taken, folds)
	if err != nil {
		return nil, nil, err
	}
	return &results{study: s, options: o, columns: []*column{c}}, folds, nil
}
