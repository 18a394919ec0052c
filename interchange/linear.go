package interchange

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/scorer"
)

// linear is a weighted sum of features, as other systems hold it:
//
//	s(x) = constant + Σ_j weights[j]·x_j
type linear struct {
	weights  []float64
	constant float64
	names    []string // one a feature, or nil
	notes    []string // what a user of the sum must know
}

// linearOf returns a model as a weighted sum of features that does to features what the model
// does. Missing values count as 0. Another model is an error.
func linearOf(m *model.Model) (*linear, error) {
	if err := checkOneDocument(m); err != nil {
		return nil, err
	}
	if _, ok := m.Scorer.(scorer.Linear); !ok {
		return nil, fmt.Errorf("found the scorer %q, expected linear: the format holds weighted sums of features", m.Scorer.Kind())
	}
	l := &linear{weights: slices.Clone(m.Params), names: m.FeatureNames}
	for _, feature := range m.Transforms.Features() {
		if err := l.fold(feature, m.Transforms.Chain(feature)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// fold makes the sum do to a feature what a model does before it scores.
func (l *linear) fold(feature int, chain transform.Chain) error {
	slope, intercept, ok := chain.Affine(-transform.Unbounded, transform.Unbounded)
	if !ok {
		return fmt.Errorf("found that feature %d is clipped or its logarithm taken, expected that it is standardised at most: the format holds weighted sums of features", feature+1)
	}
	w := l.weights[feature]
	l.weights[feature] = w * slope
	l.constant += w * intercept
	for _, s := range chain {
		if fill, ok := s.(transform.Fill); ok {
			l.notes = append(l.notes, fmt.Sprintf("a missing value of feature %d is %v in the model, which the engine must be given in its place", feature+1, fill.Value))
			break
		}
	}
	return nil
}

// model returns the model of the sum, to be named after where it came from. A constant, which
// the model has no place for and which changes no order, is left out with a note.
func (l *linear) model(method string, hyperparameters map[string]any) (*model.Model, []string, error) {
	if len(l.weights) == 0 {
		return nil, nil, errors.New("found no weights, expected one at least")
	}
	for j, w := range l.weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, nil, fmt.Errorf("found the weight %v of feature %d, expected a finite number", w, j+1)
		}
	}
	var notes []string
	if l.constant != 0 {
		notes = append(notes, fmt.Sprintf("the constant %v, which is added to all scores and changes no order, is left out", l.constant))
	}
	m := imported(method, hyperparameters, scorer.Linear{Features: len(l.weights)}, l.weights)
	m.FeatureNames, m.Missing = l.names, dataset.MissingZero
	return m, notes, nil
}
