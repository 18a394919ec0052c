package explain

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// network is a neural network with dense layers in float64 and a gradient with respect to its inputs.
// Its value is the only output of the last layer. With classes, the value is instead the mean of the
// classes, weighted by the softmax of the outputs.
type network struct {
	layers  []dense
	classes []float64
}

// dense is a layer. The outputs of its units are activations of weighted sums.
type dense struct {
	inputs, units   int
	weights, biases []float64 // units × inputs; units
	activation      scorer.Activation
}

// networkOf returns a model's scorer as a network. ok is false if the scorer is not a network.
func networkOf(m *model.Model) (n network, ok bool) {
	p := m.Params
	switch s := m.Scorer.(type) {
	case scorer.Network:
		h := s.Hidden * s.Features
		n.layers = []dense{
			{s.Features, s.Hidden, p[:h], p[h : h+s.Hidden], s.Activation},
			{s.Hidden, 1, p[h+s.Hidden:], []float64{0}, scorer.Identity},
		}
	case *scorer.Layers:
		inputs := s.NumFeatures()
		weights, biases := s.Split(p)
		for l, layer := range s.Layers() {
			n.layers = append(n.layers, dense{inputs, layer.Units, weights[l], biases[l], layer.Activation})
			inputs = layer.Units
		}
		if len(n.layers) == 1 { // a function of one weighted sum
			n.layers = append(n.layers, dense{1, 1, []float64{1}, []float64{0}, scorer.Identity})
		}
	case scorer.Classes:
		w := s.Functions() * s.Features
		n.layers = []dense{{s.Features, s.Functions(), p[:w], p[w:], scorer.Identity}}
		if !s.Ordinal {
			n.classes = s.Values
			break
		}
		n.layers[0].activation = scorer.Sigmoid
		steps := make([]float64, s.Functions())
		for k := range steps {
			steps[k] = s.Values[k+1] - s.Values[k]
		}
		n.layers = append(n.layers, dense{len(steps), 1, steps, s.Values[:1], scorer.Identity})
	default:
		return n, false
	}
	return n, true
}

// sums sets dst to the weighted sums of the units and returns dst.
func (d *dense) sums(dst, in []float64) []float64 {
	for u, z := range d.biases {
		for j, w := range d.weights[u*d.inputs : (u+1)*d.inputs] {
			z += float64(w * in[j])
		}
		dst[u] = z
	}
	return dst
}

// networkWork is the memory of one goroutine for evaluating a network.
type networkWork struct {
	outs   [][]float64 // outputs of each layer
	deltas [][]float64 // derivatives of the value with respect to each layer's weighted sums
	first  []float64   // derivatives of the value with respect to the inputs
}

func (n *network) work() *networkWork {
	w := &networkWork{first: make([]float64, n.layers[0].inputs)}
	for _, l := range n.layers {
		w.outs, w.deltas = append(w.outs, make([]float64, l.units)), append(w.deltas, make([]float64, l.units))
	}
	return w
}

// forward returns the value at x and stores the layers' outputs in w.
func (n *network) forward(x []float64, w *networkWork) float64 {
	for l := range n.layers {
		n.layers[l].sums(w.outs[l], x)
		n.layers[l].activation.Apply(w.outs[l])
		x = w.outs[l]
	}
	if n.classes == nil {
		return x[0]
	}
	return n.expected(x, w.deltas[len(n.layers)-1])
}

// expected sets p to the softmax of u, and returns the mean of the classes weighted by p.
func (n *network) expected(u, p []float64) float64 {
	top, total, mean := math.Inf(-1), 0.0, 0.0
	for _, v := range u {
		top = max(top, v)
	}
	for k, v := range u {
		p[k] = elementary.Exp(v - top)
		total += p[k]
	}
	for k := range p {
		p[k] /= total
		mean += float64(p[k] * n.classes[k])
	}
	return mean
}

// backward returns the gradient of the value with respect to the inputs of the last call of forward.
func (n *network) backward(value float64, w *networkWork) []float64 {
	last := len(n.layers) - 1
	slopes := func(l int) { n.layers[l].activation.Slope(w.deltas[l], w.outs[l]) }
	if n.classes == nil {
		slopes(last)
	} else {
		for k, p := range w.deltas[last] { // the softmax; the layer's activation is the identity
			w.deltas[last][k] = p * (n.classes[k] - value)
		}
	}
	for l := last; l > 0; l-- {
		slopes(l - 1)
		n.layers[l].back(w.deltas[l-1], w.deltas[l])
	}
	for j := range w.first {
		w.first[j] = 1
	}
	n.layers[0].back(w.first, w.deltas[0])
	return w.first
}

// back multiplies slopes, one per input, by the derivatives of the value with respect to the inputs of
// d. delta contains the derivatives with respect to its weighted sums.
func (d *dense) back(slopes, delta []float64) {
	for j := range slopes {
		var s float64
		for u, v := range delta {
			s += float64(v * d.weights[u*d.inputs+j])
		}
		slopes[j] *= s
	}
}
