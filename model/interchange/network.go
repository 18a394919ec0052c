package interchange

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// layer is a layer of a network, which readers and writers of all formats use: a row of weights and
// a bias for each unit.
type layer struct {
	weights    [][]float64
	biases     []float64
	activation scorer.Activation
}

// networkOf converts a model to the layers of a network on features before their transforms, whose
// effect the first layer includes. A linear model is a network with one layer. networkOf returns an
// error for all other models.
func networkOf(m *model.Model) (layers []layer, notes []string, err error) {
	if layers, err = bareNetworkOf(m); err != nil {
		return nil, nil, err
	}
	layers[0].weights, layers[0].biases = slices.Clone(layers[0].weights), slices.Clone(layers[0].biases)
	notes, err = foldInto(&layers[0], m)
	return layers, notes, err
}

// bareNetworkOf converts a model to the layers of a network on transformed features.
func bareNetworkOf(m *model.Model) ([]layer, error) {
	if err := checkOneDocument(m); err != nil {
		return nil, err
	}
	switch s := m.Scorer.(type) {
	case scorer.Linear:
		return []layer{{[][]float64{m.Params}, []float64{0}, scorer.Identity}}, nil
	case scorer.Network:
		first := s.Hidden * s.Features
		return []layer{
			{slices.Collect(slices.Chunk(m.Params[:first], s.Features)), m.Params[first : first+s.Hidden], s.Activation},
			{[][]float64{m.Params[first+s.Hidden:]}, []float64{0}, scorer.Identity},
		}, nil
	case *scorer.Layers:
		var all []layer
		weights, biases := s.Split(m.Params)
		for l, shape := range s.Layers() {
			inputs := len(weights[l]) / shape.Units
			all = append(all, layer{slices.Collect(slices.Chunk(weights[l], inputs)), biases[l], shape.Activation})
		}
		return all, nil
	}
	if s, ok := m.Scorer.(scorer.FM); ok {
		return nil, fmt.Errorf("found the scorer %q, expected another: no format has products of features", s.Kind())
	}
	return nil, fmt.Errorf("found the scorer %q, expected a network whose scores of a document depend on that document alone", m.Scorer.Kind())
}

// networkModel returns the model of a network. The model treats missing values as 0.
func networkModel(layers []layer, names []string, method string, hyperparameters map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	if len(layers) == 0 {
		return nil, fmt.Errorf("found no layers, expected at least one")
	}
	var shapes []scorer.Layer
	var params []float64
	for _, l := range layers {
		shapes = append(shapes, scorer.Layer{Units: len(l.biases), Activation: l.activation})
		for _, row := range l.weights {
			params = append(params, row...)
		}
		params = append(params, l.biases...)
	}
	for _, w := range params {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("found the weight %v, expected a finite number", w)
		}
	}
	s := must(scorer.NewLayers(len(layers[0].weights[0]), shapes))
	m := imported(method, hyperparameters, s, params)
	m.FeatureNames, m.Missing = names, dataset.MissingZero
	return m, nil
}
