package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Binding applies a model to documents of the caller's own types. The caller names the features in an
// order of its own, see [Model.BindNames]. A Binding is safe for concurrent use as long as the model does
// not change.
type Binding struct {
	model   *Model
	names   int      // number of the caller's features
	missing []string // features of the model that the caller does not have
	columns []int    // for each feature of the model, its column in a row: the caller's features, then missing; nil: the same order
}

// BindNames returns the binding of m to the caller's features. names are their names, in the order in
// which the caller will write them. The binding finds the model's features by these names.
//
// The model ignores names that it does not know. A feature of the model that names lack is a missing value
// of every document. BindNames accepts this only if the model has a rule for missing values and knows all
// names, since an unknown name may be a misspelt one. Otherwise it returns a *[dataset.NamesError] with all
// names that are missing or unknown. A name that occurs twice is an error, and so is a model without
// FeatureNames, or without the parameters of its Scorer.
//
// BindNames calls [Model.Prepare].
func (m *Model) BindNames(names []string) (*Binding, error) {
	switch {
	case m == nil || m.Scorer == nil:
		return nil, errNoScorer
	case m.FeatureNames == nil:
		return nil, errors.New("found a model without feature names, expected one with names: set FeatureNames, or use ScoreQuery with the features in the order of the training data")
	case len(names) == 0:
		return nil, fmt.Errorf("found no feature names, expected those of the model's %d features", m.NumFeatures())
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	b := &Binding{model: m, names: len(names)}
	columns, err := dataset.MatchNames(m.FeatureNames, names, true)
	if e, ok := errors.AsType[*dataset.NamesError](err); ok {
		switch {
		case !m.fillsMissing():
			return nil, fmt.Errorf("%w; the model was trained without a rule for missing values", err)
		case len(e.Unexpected) == 0:
			b.missing = e.Missing
			columns, err = dataset.MatchNames(m.FeatureNames, slices.Concat(names, e.Missing), true)
		}
	}
	if err != nil {
		return nil, err
	}
	b.columns = columns
	m.Prepare()
	return b, nil
}

// Missing returns the names of the model's features that the caller does not have. Their values are
// missing in every document.
func (b *Binding) Missing() []string { return slices.Clone(b.missing) }

// Rank ranks the n documents of one query. It appends their numbers, from 0, to dst, best first, and
// returns the extended slice. Documents with equal scores stay in the order of their numbers.
//
// Rank calls fill once for each document, in order. row[j] is the value of the feature names[j]. All values
// are NaN, which is a missing value, until fill sets them. fill must not keep row. A categorical feature has
// the value that [dataset.Categories.TextValue] returns.
//
// Rank returns dst and an error in the cases in which ScoreQuery does, except that a single document is
// ranked by every model. Calls allocate nothing if dst has room and earlier calls had as many documents;
// fusions may allocate.
func (b *Binding) Rank(dst []int, n int, fill func(i int, row []float32)) ([]int, error) {
	if n < 0 {
		return dst, fmt.Errorf("found %d documents, expected 0 or more", n)
	}
	s := spaces.Get().(*space)
	defer spaces.Put(s)
	s.scores = slices.Grow(s.scores[:0], n)[:n]
	if err := b.score(s.scores, fill, s); err != nil {
		return dst, err
	}
	return AppendOrder(dst, s.scores), nil
}

// Score sets dst to the scores of the documents of one query, an element per document. It calls fill, and
// returns errors, as Rank does.
func (b *Binding) Score(dst []float64, fill func(i int, row []float32)) error {
	s := spaces.Get().(*space)
	defer spaces.Put(s)
	return b.score(dst, fill, s)
}

func (b *Binding) score(dst []float64, fill func(i int, row []float32), s *space) error {
	width := b.names + len(b.missing)
	s.filled = slices.Grow(s.filled[:0], len(dst)*width)[:len(dst)*width]
	for k := range s.filled {
		s.filled[k] = float32(math.NaN())
	}
	for i := range dst {
		fill(i, s.filled[i*width:][:b.names:b.names])
	}
	x := s.filled
	if b.columns != nil {
		s.ordered, _ = appendColumns(s.ordered[:0], x, width, b.columns)
		x = s.ordered
	}
	return b.model.scoreChecked(dst, x, 1, s)
}

// AppendOrder appends the indices of scores to dst, the highest score first, and returns the extended slice.
// Equal scores stay in their order. No score may be NaN.
func AppendOrder(dst []int, scores []float64) []int {
	from := len(dst)
	for i := range scores {
		dst = append(dst, i)
	}
	slices.SortFunc(dst[from:], func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return dst
}
