package model

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/scorer"
)

// ErrSingleDocument is wrapped by the error for scoring a single document with a model that
// normalizes features per query, or uses ranks or z-scores within the query.
var ErrSingleDocument = errors.New("a single document cannot be normalized")

// spaces is the pool of memory for ScoreQuery. It serves all models.
var spaces = sync.Pool{New: func() any { return new(space) }}

// ScoreQuery sets dst to the scores of one query's documents, an element per document. x is the
// row-major matrix of their features, in the order of FeatureNames. ScoreQuery does not change x. It
// transforms a copy of the features as [Model.AppendInputs] does. Documents may lack trailing features,
// which count as 0. A NaN is a missing value.
//
// ScoreQuery returns an error for a length of x that does not match, a missing value without a rule, an
// infinite feature, a value outside its feature's Categories, and a score that is not finite. It also
// returns an error for a single document if features are normalized per query or have views other than
// raw, since such features are the same for every single document. After an error the contents of dst
// are undefined.
//
// ScoreQuery allocates nothing after the first calls; see [Model.Prepare]. It is safe for concurrent
// use.
func (m *Model) ScoreQuery(dst []float64, x []float32) error {
	s := spaces.Get().(*space)
	defer spaces.Put(s)
	return m.scoreChecked(dst, x, 2, s)
}

// Prepare builds data structures that make scoring faster. Without Prepare, they are built after
// some documents were scored, which delays one call of ScoreQuery. Prepare is safe for concurrent
// use.
func (m *Model) Prepare() {
	if m == nil {
		return
	}
	if p, ok := m.Scorer.(scorer.Preparer); ok {
		p.Prepare()
	}
}

// ScoreWhole sets dst to the scores of all documents of a query, as ScoreQuery does, but accepts a
// single document for every model, as [Model.Score] does.
func (m *Model) ScoreWhole(dst []float64, x []float32) error {
	s := spaces.Get().(*space)
	defer spaces.Put(s)
	return m.scoreChecked(dst, x, 1, s)
}

// scoreChecked is ScoreQuery with a required number of documents, least. Only models that compare
// documents require it.
func (m *Model) scoreChecked(dst []float64, x []float32, least int, s *space) error {
	if m == nil || m.Scorer == nil {
		return errNoScorer
	}
	if len(dst) == 0 {
		if len(x) > 0 {
			return fmt.Errorf("found an empty dst for %d feature values, expected an element for each document", len(x))
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
	missing, err := m.findMissing(x, features)
	if err != nil {
		return err
	}
	if len(dst) < least && m.comparing() != "" {
		return fmt.Errorf("%w: the model compares every feature over the documents of a query (%s), of which there must be two or more", ErrSingleDocument, m.comparing())
	}
	if missing >= 0 && !m.fillsMissing() {
		return fmt.Errorf("found a missing value (NaN) of feature %s for document %d, expected a finite one: the model was trained without a rule for missing values",
			m.featureText(missing%features), missing/features+1)
	}
	if m.InputCategories() != nil {
		if err := m.checkCodes(x, features, nil, func(row int) string { return fmt.Sprintf("document %d", row+1) }); err != nil {
			return err
		}
	}
	s.missing, s.columns = missing >= 0, nil
	m.scoreQuery(dst, x, features, s)
	for i, v := range dst {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("found the score %v for document %d, expected a finite one: the model's parameters or the features are too large", v, i+1)
		}
	}
	return nil
}

// comparing names the first transform that compares a document with the others of its query, or
// returns "". For a fusion, it is the first such transform of a member.
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

// finite reports whether all values are finite. It sums v − v, which is 0 if v is finite and NaN
// otherwise. The four sums do not depend on each other, so the processor computes them in parallel.
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

// findMissing returns the index of the first missing value (NaN) in x, or −1. An infinite value is an error,
// since some normalizations would set the whole feature to 0.
func (m *Model) findMissing(x []float32, features int) (int, error) {
	missing := -1
	if finite(x) {
		return missing, nil
	}
	for i, v := range x {
		switch {
		case v-v == 0: // finite
		case v == v:
			return 0, fmt.Errorf("found the value %v for feature %s of document %d, expected a finite one", v, m.featureText(i%features), i/features+1)
		case missing < 0:
			missing = i
		}
	}
	return missing, nil
}
