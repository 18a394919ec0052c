package listwise

import (
	"cmp"
	"context"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// Model is a trained ranking function; see [model.Model].
type Model = model.Model

// DefaultMethod is the method of [Train] if Options.Method is empty: LogRank's ConvexLoss for a linear function
// (Dubey et al., ICDM 2009).
const DefaultMethod = "convexloss"

// Options are the options of [Train]. The zero value is ready to use.
type Options struct {
	Method string // name in the catalogue, such as "lambdamart", see [method.List]; empty means DefaultMethod

	// Measure is the measure for Valid, such as "ndcg@10". It is also the training measure, if the
	// method optimises a measure. Empty means the method's default or, if it has none, "map".
	Measure string

	// Convention is the convention of the measure. The zero value is [measure.Standard].
	Convention measure.Convention

	Settings map[string]string // the method's hyperparameters by name; missing ones have their defaults
	Scorer   string            // one of the method's scorers; empty means its first, usually a linear function

	// Missing is the rule for missing values. The model stores the rule and applies it to the
	// documents that it ranks. If the data were opened with a rule, use the same rule here. If they
	// were opened with [dataset.MissingKeep], the rule replaces their missing values before
	// training. MissingKeep is for methods that train trees, which learn a branch for missing
	// values. The zero value is for complete data: the model then returns an error for a missing
	// value.
	Missing dataset.Missing

	// Transforms are steps that are applied to single features before normalization, in training
	// and ranking. [transform.ParseSpec] defines their form, such as "log1p:2,7", "clip=0%:99%" or
	// "standard". Their parameters are learned from the training data.
	Transforms []string

	Normalization dataset.Normalization // of features, per query, in training and ranking
	Views         dataset.Views         // forms of the features that the scorer sees, see [dataset.ParseViews]; nil means raw

	// Valid has validation data for early stopping, or is nil. Descent, boosting and coordinate ascent keep
	// the best epoch, round or sweep on them. Other learners do not use them: for example L-BFGS, the learner
	// of DefaultMethod.
	Valid *dataset.Dataset

	Seed uint64 // random seed
}

// Train learns a ranking function from judged queries. The result depends on the arguments alone,
// not on the number of cores.
//
// Train returns a *[train.ProblemError] if a name is unknown, a setting is out of range, or
// nothing can be learned from the data. If ctx ends the training, the error wraps the error of ctx.
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

// Load reads a model file that [Model.Save] or the command "listwise train" wrote. If the file is
// invalid, the error states where.
func Load(path string) (*Model, error) { return model.Load(path) }

// Rank returns the indices of one query's documents, best first. Documents with equal scores keep
// their order. An element of documents has the features of one document, in the order of the
// training data; feature 1 is at index 0. All documents must have the same number of features.
// Features at the end may be omitted and count as 0. A NaN is a missing value, which is an error
// unless the model was trained with a rule for missing values. An infinite feature is an error.
// Errors number documents and features from 1.
//
// Rank is safe for concurrent use. [Model.BindNames] ranks documents of the caller's own types, by the
// names of their features, without allocation. [Model.ScoreQuery] returns the scores.
func Rank(m *Model, documents [][]float32) ([]int, error) {
	var x []float32
	for i, features := range documents {
		if len(features) != len(documents[0]) {
			return nil, fmt.Errorf("document %d: found %d feature values, expected %d as in document 1", i+1, len(features), len(documents[0]))
		}
		x = append(x, features...)
	}
	scores := make([]float64, len(documents))
	if err := m.ScoreWhole(scores, x); err != nil {
		return nil, err
	}
	return model.AppendOrder(make([]int, 0, len(documents)), scores), nil
}
