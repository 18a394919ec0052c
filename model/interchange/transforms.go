package interchange

import (
	"fmt"

	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
)

// divideStandards returns a model without those of its transforms that only standardise a feature,
// and these by feature, for engines that have normalisers of their own.
func divideStandards(m *model.Model) (*model.Model, map[int]transform.Standard, error) {
	own, standards, rest := *m, map[int]transform.Standard{}, map[int]transform.Chain{}
	for _, j := range m.Transforms.Features() {
		chain := m.Transforms.Chain(j)
		if s, ok := chain[0].(transform.Standard); ok && len(chain) == 1 && float32(s.Deviation) > 0 {
			standards[j] = s
			continue
		}
		rest[j] = chain
	}
	var err error
	own.Transforms, err = transform.New(rest)
	return &own, standards, err
}

// standardised adds to a model that was read the normalisers of an engine.
func standardised(m *model.Model, standards map[int]transform.Standard) error {
	chains := make(map[int]transform.Chain, len(standards))
	for j, s := range standards {
		chains[j] = transform.Chain{s}
	}
	var err error
	m.Transforms, err = transform.New(chains)
	return err
}

// standardOf returns the normaliser x ↦ (x − mean)/deviation.
func standardOf(feature string, mean, deviation float32) (transform.Standard, error) {
	s := transform.Standard{Mean: float64(mean), Deviation: float64(deviation)}
	if !(deviation > 0) {
		return s, fmt.Errorf("found a normalizer of %q that divides by %v, expected a number above 0", feature, deviation)
	}
	return s, transform.Chain{s}.Check()
}

// foldInto makes the first layer of a network do to features what a model does before.
func foldInto(l *layer, m *model.Model) (notes []string, err error) {
	for u, row := range l.weights {
		sum := linear{weights: append([]float64(nil), row...), constant: l.biases[u]}
		for _, j := range m.Transforms.Features() {
			if err := sum.fold(j, m.Transforms.Chain(j)); err != nil {
				return nil, err
			}
		}
		l.weights[u], l.biases[u], notes = sum.weights, sum.constant, sum.notes
	}
	return notes, nil
}
