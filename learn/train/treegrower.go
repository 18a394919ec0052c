package train

import (
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/learn/tree"
)

// grower grows trees: [tree.Grower] by histograms, [tree.Exact] by every value.
type grower interface {
	Bar(features []bool)
	Seed(seed uint64)
	Grow(lambda, second []float64, rows []uint32) *tree.Tree
	Values(lambda, second []float64) []float64
	Visit(visit func(leaf int, rows []uint32))
	Add(scores, values []float64)
}

// checkBins returns an error if what is asked of bins and categories does not go together, or
// not with the data.
func (l *Trees) checkBins(t *Task) error {
	categorical := slices.Contains(l.Categorical, true)
	for j, is := range l.Categorical {
		if is && t.pipeline.Chain(j) != nil && !onlyFills(t.pipeline.Chain(j)) {
			return BadProblem("found a transform (%s) of the categorical feature %d, expected none: categories are told apart by their values, not measured", t.pipeline.Chain(j)[0].Name(), j+1)
		}
	}
	switch {
	case categorical && t.Normalization != dataset.NoNormalization:
		return BadProblem("found categorical features with the normalization %s, which makes other values of them for each query; expected none", t.Normalization)
	case categorical && !t.Views.Raw():
		return BadProblem("found categorical features with the views %s, expected raw alone: categories have no ranks", t.Views)
	case l.Exact && (categorical || l.BinsByCurvature || l.Bins != 0 && l.Bins != tree.MaxBins):
		return BadProblem("found exact splits with categorical features, bins by curvature or less than %d bins, expected none of these, or splits by histograms", tree.MaxBins)
	}
	return nil
}

// onlyFills reports whether a chain changes nothing but missing values.
func onlyFills(c transform.Chain) bool {
	return !slices.ContainsFunc(c, func(s transform.Step) bool { _, fill := s.(transform.Fill); return !fill })
}

// newGrower returns a grower; base are the scores at the start, nil for 0. The members of a bag, or several bags, share
// it and grow their trees one after the other: what it finds of a tree is used before the next one, and a tree does not
// depend on those before it.
func (l *Trees) newGrower(t *Task, base []float64) (g grower, err error) {
	if err := l.checkBins(t); err != nil {
		return nil, err
	}
	if l.Exact {
		d := t.Normalized()
		return tree.NewExact(d.X(), d.Features, l.Options)
	}
	o := tree.BinOptions{Most: l.Bins, Categorical: l.Categorical, Workers: l.Workers}
	if l.BinsByCurvature {
		if o.Weights, err = l.curvature(t, base); err != nil {
			return nil, err
		}
	}
	matrix, err := l.matrix(t, o)
	if err != nil {
		return nil, err
	}
	return tree.NewGrower(matrix, l.Options)
}

// matrix returns the codes of the data.
func (l *Trees) matrix(t *Task, o tree.BinOptions) (*tree.Matrix, error) {
	d := t.Normalized()
	if d.Streamed() {
		return l.streamedMatrix(t, o)
	}
	bins, err := tree.NewBins(d.X(), d.Features, o)
	if err != nil {
		return nil, err
	}
	return tree.NewMatrix(d.X(), bins, l.Workers), nil
}

// curvature returns the second derivatives that trees are fitted to at the start.
func (l *Trees) curvature(t *Task, base []float64) ([]float64, error) {
	step, err := l.step(t, t.Seed)
	if err != nil {
		return nil, err
	}
	d := step.loss.Rows()
	scores, lambda, second := make([]float64, d), make([]float64, d), make([]float64, d)
	copy(scores, base)
	step.eval(scores, lambda, second)
	return second, nil
}
