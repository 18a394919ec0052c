package train

import (
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/tree"
)

// matrix puts the features into bins; base are the scores at the start, nil for 0.
func (l *Trees) matrix(t *Task, base []float64) (*tree.Matrix, error) {
	if slices.Contains(l.Categorical, true) && t.Normalization != dataset.NoNormalization {
		return nil, BadProblem("found categorical features with the normalization %s, which makes other values of them for each query; expected none", t.Normalization)
	}
	d := t.Normalized()
	o := tree.BinOptions{Most: l.Bins, Categorical: l.Categorical, Workers: l.Workers}
	if l.BinsByCurvature {
		var err error
		if o.Weights, err = l.curvature(t, base); err != nil {
			return nil, err
		}
	}
	bins, err := tree.NewBins(d.X(), d.Features, o)
	if err != nil {
		return nil, err
	}
	return tree.NewMatrix(d.X(), bins, l.Workers), nil
}

// curvature returns the second derivatives at the start that trees are fitted to.
func (l *Trees) curvature(t *Task, base []float64) ([]float64, error) {
	f, err := l.functional(t, t.Seed)
	if err != nil {
		return nil, err
	}
	scores, lambda, second := make([]float64, f.Rows()), make([]float64, f.Rows()), make([]float64, f.Rows())
	copy(scores, base)
	newTreeStep(f, t.Loss.Traits()).eval(scores, lambda, second)
	return second, nil
}
