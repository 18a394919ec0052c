package scorer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/strictjson"
)

// Layer describes a layer of [Layers]. The output of a unit is the activation of a bias plus a weighted
// sum of all outputs of the previous layer.
type Layer struct {
	Units      int // ≥ 1
	Activation Activation
}

// Layers is a neural network with any number of layers,
//
//	a_0 = x,   a_l = f_l(W_l·a_{l−1} + b_l),   s(x) = a_L,
//
// whose last layer has one unit. Networks of other systems are imported as Layers. A single layer with
// the identity is a weighted sum of the features plus a bias, unlike [Linear], which has no bias. The
// parameters are, layer by layer, the rows of W and then b. A score has the same bits whichever other
// documents are scored at the same time.
type Layers struct {
	features int
	layers   []Layer
	params   int
}

var _ Scorer = (*Layers)(nil)

// maxLayers is the largest number of layers.
const maxLayers = 1000

// NewLayers returns the network with the given layers on data with the given number of features. It
// returns an error for an empty or too long list, a layer without units, a last layer with several
// units, an unknown activation, or 2³¹ parameters or more.
func NewLayers(features int, layers []Layer) (*Layers, error) {
	if err := atLeastOne("features", features); err != nil {
		return nil, err
	}
	if len(layers) == 0 || len(layers) > maxLayers {
		return nil, fmt.Errorf("found %d layers, expected 1 to %d", len(layers), maxLayers)
	}
	inputs, params := features, 0.0
	for l, layer := range layers {
		if layer.Units < 1 {
			return nil, fmt.Errorf("found %d units in layer %d, expected at least 1", layer.Units, l+1)
		}
		if layer.Activation < 0 || int(layer.Activation) >= len(activationNames) {
			return nil, fmt.Errorf("found activation %d in layer %d, expected a known one", int(layer.Activation), l+1)
		}
		params += float64(float64(layer.Units) * (float64(inputs) + 1))
		inputs = layer.Units
	}
	if inputs != 1 {
		return nil, fmt.Errorf("found %d units in the last layer, expected 1: a document has one score", inputs)
	}
	if params > math.MaxInt32 {
		return nil, fmt.Errorf("found %.0f parameters, expected at most %d", params, math.MaxInt32)
	}
	return &Layers{features, slices.Clone(layers), int(params)}, nil
}

// Kind returns "layers".
func (*Layers) Kind() string { return "layers" }

// NumFeatures returns the number of features.
func (n *Layers) NumFeatures() int { return n.features }

// NumParams returns the number of weights and biases.
func (n *Layers) NumParams() int { return n.params }

// Layers returns a copy of the layers.
func (n *Layers) Layers() []Layer { return slices.Clone(n.layers) }

// Split returns the weights and the biases of each layer, as views of params. The weights of unit u of
// a layer are weights[u·inputs : (u+1)·inputs], an element per input.
func (n *Layers) Split(params []float64) (weights, biases [][]float64) {
	mustMatch("parameters", len(params), n.params)
	inputs := n.features
	for _, layer := range n.layers {
		w := layer.Units * inputs
		weights, biases = append(weights, params[:w]), append(biases, params[w:w+layer.Units])
		params, inputs = params[w+layer.Units:], layer.Units
	}
	return weights, biases
}

// Init draws all parameters of a layer uniformly from ±1/√n, where n is the layer's number of inputs.
func (n *Layers) Init(params []float64, rng *rand.Rand) {
	weights, biases := n.Split(params)
	for l := range weights {
		limit := 1 / math.Sqrt(float64(len(weights[l])/len(biases[l])))
		uniform(weights[l], limit, rng)
		uniform(biases[l], limit, rng)
	}
}

// units returns the number of units in all layers.
func (n *Layers) units() int {
	sum := 0
	for _, layer := range n.layers {
		sum += layer.Units
	}
	return sum
}

// Score implements [Scorer]. It stores the outputs of all units in ws, as a documents × units matrix
// per layer.
func (n *Layers) Score(dst, params []float64, x []float32, ws *Workspace) {
	mustMatch("features", len(x), len(dst)*n.features)
	if ws == nil {
		ws = new(Workspace)
	}
	docs := len(dst)
	memory := ws.Hold(x, n.Held(docs))
	weights, biases := n.Split(params)
	var before []float64
	for l, layer := range n.layers {
		out := memory[:docs*layer.Units]
		memory = memory[len(out):]
		if l == 0 {
			forward(out, x, weights[l], biases[l])
		} else {
			forward(out, before, weights[l], biases[l])
		}
		layer.Activation.Apply(out)
		before = out
	}
	copy(dst, before)
}

// forward sets out to W·a + b for every row a of in.
func forward[T float32 | float64](out []float64, in []T, weights, biases []float64) {
	units := len(biases)
	inputs := len(weights) / units
	for i := range len(out) / units {
		row := in[i*inputs : (i+1)*inputs]
		for u, z := range biases {
			for j, w := range weights[u*inputs : (u+1)*inputs] {
				z += float64(w * float64(row[j]))
			}
			out[i*units+u] = z
		}
	}
}

// Backward implements [Scorer].
func (n *Layers) Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace) {
	mustMatch("features", len(x), len(lambda)*n.features)
	docs := len(lambda)
	memory := ws.Held(x)
	half := n.units() * docs
	outs, deltas := memory[:half], memory[half:2*half]
	weights, biases := n.Split(params)
	gradWeights, gradBiases := n.Split(grad)
	end := half
	for l := len(n.layers) - 1; l >= 0; l-- {
		units := n.layers[l].Units
		begin := end - docs*units
		delta := deltas[begin:end]
		if l == len(n.layers)-1 {
			n.layers[l].Activation.Slope(delta, outs[begin:end])
			for i := range delta {
				delta[i] *= lambda[i]
			}
		}
		if l == 0 {
			addGradient(gradWeights[l], gradBiases[l], x, delta)
			return
		}
		first := begin - docs*n.layers[l-1].Units
		addGradient(gradWeights[l], gradBiases[l], outs[first:begin], delta)
		n.layers[l-1].Activation.Slope(deltas[first:begin], outs[first:begin])
		scaleBack(deltas[first:begin], delta, weights[l], len(biases[l]))
		end = begin
	}
}

// addGradient adds the derivatives with respect to a layer's parameters. delta contains the derivatives
// with respect to the units' inputs.
func addGradient[T float32 | float64](weights, biases []float64, in []T, delta []float64) {
	units := len(biases)
	inputs := len(weights) / units
	for i := range len(delta) / units {
		row := in[i*inputs : (i+1)*inputs]
		for u := range units {
			d := delta[i*units+u]
			biases[u] += d
			for j, v := range row {
				weights[u*inputs+j] += float64(d * float64(v))
			}
		}
	}
}

// scaleBack multiplies the slopes of the previous layer by the derivatives with respect to its outputs.
func scaleBack(slopes, delta, weights []float64, units int) {
	inputs := len(weights) / units
	for i := range len(delta) / units {
		for j := range inputs {
			var sum float64
			for u := range units {
				sum += float64(delta[i*units+u] * weights[u*inputs+j])
			}
			slopes[i*inputs+j] *= sum
		}
	}
}

// layersFile is the architecture in a model file. The key "weights" follows with the parameters.
type layersFile struct {
	Type     string      `json:"type"`
	Features int         `json:"features"`
	Layers   []layerFile `json:"layers"`
}

type layerFile struct {
	Units      int    `json:"units"`
	Activation string `json:"activation"`
}

func (n *Layers) encode(params []float64) ([]byte, error) {
	f := layersFile{Type: n.Kind(), Features: n.features}
	for _, layer := range n.layers {
		f.Layers = append(f.Layers, layerFile{layer.Units, layer.Activation.String()})
	}
	return withWeights(f, params)
}

func decodeLayers(o strictjson.Object) (Scorer, []float64, error) {
	var f layersFile
	var list struct {
		Weights strictjson.Numbers `json:"weights"`
	}
	if err := errors.Join(o.Decode(&f), o.Decode(&list)); err != nil {
		return nil, nil, err
	}
	layers := make([]Layer, len(f.Layers))
	for l, layer := range f.Layers {
		activation, err := ParseActivation(layer.Activation)
		if err != nil {
			return nil, nil, fmt.Errorf("layer %d: %w", l+1, err)
		}
		layers[l] = Layer{layer.Units, activation}
	}
	n, err := NewLayers(f.Features, layers)
	if err != nil {
		return nil, nil, err
	}
	if len(list.Weights) != n.params {
		return nil, nil, fmt.Errorf("found %d weights, expected %d", len(list.Weights), n.params)
	}
	return n, list.Weights, nil
}
