package listwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// Model is a trained ranking function; see [model.Model].
type Model = model.Model

// DefaultMethod is what Train learns by if nothing else is chosen.
const DefaultMethod = "convexloss"

// Options say how Train learns. The zero value is ready to use.
type Options struct {
	Method string // of the catalogue, see [method.List]; empty: DefaultMethod

	// Measure is what the method optimises, if it optimises a measure, and what Valid is
	// measured by, such as "ndcg@10"; empty: the method's default or, if it has none, "map".
	Measure string

	// Convention of the measure; its zero value is [measure.Standard].
	Convention measure.Convention

	Settings map[string]string // the method's hyperparameters by name; those that are absent have their defaults
	Scorer   string            // one of the method's scorers; empty: its first, mostly a linear function

	// Missing is the rule for missing values, in training and, kept in the model, of the
	// documents that it ranks: the Missing that the data were opened with, or, for data
	// opened with [dataset.MissingKeep], what their missing values become; MissingKeep itself
	// is for trees, which learn where documents go without a value. The zero value is for
	// complete data; the model then refuses a missing value.
	Missing dataset.Missing

	// Transforms are steps that features go through one by one, before they are normalized, in
	// training and ranking: as [transform.ParseSpec] reads them, such as "log1p:2,7", "clip=0%:99%"
	// or "standard". What they need to know of the data is learned from the training data.
	Transforms []string

	Normalization dataset.Normalization // of features, per query, in training and ranking
	Views         dataset.Views         // the forms in which features are learned from, such as those of [dataset.ParseViews]("raw,rank,zscore"); nil: raw
	Valid         *dataset.Dataset      // by it iterative methods choose when to stop; may be nil
	Seed          uint64                // everything random depends on it alone
}

// Train learns a ranking function from judged queries. The result depends on the
// arguments alone, not on the number of cores.
//
// It is a *[method.ProblemError] if a name is unknown, a setting is out of range, or nothing
// can be learned from the data. The error wraps that of ctx if that ended the training.
func Train(ctx context.Context, d *dataset.Dataset, o Options) (*Model, error) {
	m, err := method.Lookup(cmp.Or(o.Method, DefaultMethod))
	if err != nil {
		return nil, err
	}
	if m, err = m.For(o.Scorer); err != nil {
		return nil, err
	}
	values, err := m.Values(o.Settings)
	if err != nil {
		return nil, err
	}
	p := &method.Problem{Values: values, Scorer: o.Scorer, Problem: train.Problem{
		Data: d, Valid: o.Valid, Missing: o.Missing, Normalization: o.Normalization, Views: o.Views, Seed: o.Seed,
	}}
	for _, text := range o.Transforms {
		step, err := transform.ParseSpec(text)
		if err != nil {
			return nil, &method.ProblemError{Err: fmt.Errorf("transform %q: %w", text, err)}
		}
		p.Transforms = append(p.Transforms, step)
	}
	if p.Select, err = measure.Parse(cmp.Or(o.Measure, m.DefaultMeasure, "map"), o.Convention, measure.Options{}); err != nil {
		return nil, &method.ProblemError{Err: err}
	}
	if m.UsesMeasure {
		p.Measure = p.Select
	}
	return m.Train(ctx, p)
}

// Load reads the file of a model, as [Model.Save] and the command "listwise train" write
// it. An error says where the file is wrong.
func Load(path string) (*Model, error) { return model.Load(path) }

// Rank returns the positions of one query's documents, best first; documents of equal
// scores keep their order. Each document is its features, in the order of the training
// data: feature 1 stands at index 0. All documents have the same number of features; those
// at the end may be left out and count as 0. A NaN is a missing value, which is an error
// unless the model was trained with a rule for them; an infinite feature always is one.
// Errors count documents and features from 1.
//
// It is safe for concurrent use. [Model.ScoreQuery] gives the scores themselves and
// copies nothing.
func Rank(m *Model, documents [][]float32) ([]int, error) {
	var x []float32
	for i, features := range documents {
		if len(features) != len(documents[0]) {
			return nil, fmt.Errorf("document %d: found %d feature values, expected %d as in document 1", i+1, len(features), len(documents[0]))
		}
		x = append(x, features...)
	}
	scores, order := make([]float64, len(documents)), make([]int, len(documents))
	for i := range order {
		order[i] = i
	}
	err := m.ScoreQuery(scores, x)
	if errors.Is(err, model.ErrSingleDocument) {
		return order, nil // there is one ranking of one document
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order, nil
}
