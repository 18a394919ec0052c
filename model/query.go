package model

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/scorer"
)

// ErrSingleDocument is the cause of an error about one document whose features a model
// normalizes per query, or takes ranks or z-scores of.
var ErrSingleDocument = errors.New("a single document cannot be normalized")

// spaces are the memory of ScoreQuery, for any model.
var spaces = sync.Pool{New: func() any { return new(space) }}

// ScoreQuery sets dst to the scores of one query's documents, an element per document. x is a
// row-major matrix of their features in the order of FeatureNames. It is not changed. ScoreQuery
// applies the model's transforms: see [Model.AppendInputs]. Documents may lack trailing features,
// which count as 0. A NaN is a missing value.
//
// It returns an error for shapes that do not fit, a missing value without a rule, an infinite
// feature, a value outside its feature's Categories, and a score that is not finite. A single
// document is an error if features are normalized per query or have views other than raw: these
// would be the same for any single document. After an error the contents of dst are undefined.
//
// After some calls it allocates nothing; see [Model.Prepare]. It is safe for concurrent use.
func (m *Model) ScoreQuery(dst []float64, x []float32) error {
	return m.scoreChecked(dst, x, 2)
}

// Prepare makes what trees score faster with, which is otherwise made when some documents have
// been scored. It is for callers of ScoreQuery for whom no call may take longer than others. It
// is safe for concurrent use.
func (m *Model) Prepare() {
	if m == nil {
		return
	}
	if p, ok := m.Scorer.(scorer.Preparer); ok {
		p.Prepare()
	}
}

// ScoreWhole is ScoreQuery for a caller who knows that the documents are all of their query: a
// single one is scored, too, as [Model.Score] does.
func (m *Model) ScoreWhole(dst []float64, x []float32) error { return m.scoreChecked(dst, x, 1) }

// scoreChecked is ScoreQuery where features that are compared need the given number of
// documents.
func (m *Model) scoreChecked(dst []float64, x []float32, least int) error {
	if m == nil || m.Scorer == nil {
		return errNoScorer
	}
	if len(dst) == 0 {
		if len(x) > 0 {
			return fmt.Errorf("found no room for scores beside %d feature values, expected an element of dst for each document", len(x))
		}
		return nil
	}
	features := len(x) / len(dst)
	switch width := m.NumFeatures(); {
	case len(x) != features*len(dst):
		return fmt.Errorf("found %d feature values for %d documents, expected a multiple of %d: all documents have the same number of features", len(x), len(dst), len(dst))
	case features == 0:
		return fmt.Errorf("found no features, expected 1 to %d for each document", width)
	case features > width:
		return fmt.Errorf("found %d features for each document, expected 1 to %d: the model has no more", features, width)
	}
	missing, err := findMissing(x, features)
	if err != nil {
		return err
	}
	if len(dst) < least && m.comparing() != "" {
		return fmt.Errorf("%w: the model compares every feature over the documents of a query (%s), of which there must be two or more", ErrSingleDocument, m.comparing())
	}
	if missing && !m.fillsMissing() {
		return errors.New("found a missing value (NaN) among the features, expected finite ones: the model does not know what missing values become")
	}
	if m.InputCategories() != nil {
		if err := m.checkCodes(x, features, nil, func(row int) string { return fmt.Sprintf("document %d", row+1) }); err != nil {
			return err
		}
	}
	s := spaces.Get().(*space)
	defer spaces.Put(s)
	s.missing, s.columns = missing, nil
	m.scoreQuery(dst, x, features, s)
	for i, v := range dst {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("found the score %v for document %d, expected a finite one: the model's parameters or the features are too large", v, i+1)
		}
	}
	return nil
}

// comparing names the transform of features by which scores depend on the query's other documents.
// For a fusion it is the first such transform of a member. It is empty if there is none.
func (m *Model) comparing() string {
	switch {
	case m.Normalization != dataset.NoNormalization:
		return m.Normalization.String()
	case !m.Views.Raw():
		return "views " + m.Views.String()
	}
	if f, ok := m.Scorer.(*Fusion); ok {
		for _, member := range f.Members {
			if what := member.comparing(); what != "" {
				return what
			}
		}
	}
	return ""
}

// finite reports whether all values are finite: v − v is 0, or NaN where v is not. Several sums at a
// time do not wait for each other.
func finite(x []float32) bool {
	var a, b, c, d float32
	for len(x) >= 4 {
		a, b, c, d = a+(x[0]-x[0]), b+(x[1]-x[1]), c+(x[2]-x[2]), d+(x[3]-x[3])
		x = x[4:]
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}

// findMissing reports whether any value is missing (NaN). An infinite one is an error: it
// has no place on a scale, and some normalizations would make 0 of it for all documents.
func findMissing(x []float32, features int) (missing bool, err error) {
	if finite(x) {
		return false, nil
	}
	for i, v := range x {
		if v-v == 0 { // finite
			continue
		}
		if v == v {
			return false, fmt.Errorf("found the value %v for feature %d of document %d, expected a finite one", v, i%features+1, i/features+1)
		}
		missing = true
	}
	return missing, nil
}
