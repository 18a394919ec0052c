package scorer

import (
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
)

// Network is a neural network with one hidden layer of h units f and a linear
// output,
//
//	s(x) = Σ_t v_t·f(w_t·x + b_t),   t = 1 … h.
//
// The output has no bias: a constant added to all scores changes no ranking. With
// p features the parameters are, one after the other,
//
//	w_1 … w_h   p weights each, feature 1 first
//	b_1 … b_h   biases of the hidden units
//	v_1 … v_h   weights of the output
//
// The activations of a query are an h × documents matrix, so that every pass over
// the features is a product of kernel's of one matrix with another: one forward and
// one backward, of one multiply-add a feature, a document and a unit each. A score
// has the same bits whichever other documents are scored with it.
type Network struct {
	Features   int // p ≥ 1
	Hidden     int // h ≥ 1
	Activation Activation
}

var _ Scorer = Network{}

// Kind returns "net".
func (Network) Kind() string { return "net" }

// NumFeatures returns the number of features.
func (n Network) NumFeatures() int { return n.Features }

// Validate returns an error for an architecture without features or without hidden units.
func (n Network) Validate() error {
	if err := atLeastOne("features", n.Features); err != nil {
		return err
	}
	return atLeastOne("hidden", n.Hidden)
}

// NumParams returns h·(p + 2).
func (n Network) NumParams() int { return n.Hidden * (n.Features + 2) }

// Init draws the weights and biases of the hidden units uniformly from ±1/√p,
// and those of the output from ±1/√h.
func (n Network) Init(params []float64, rng *rand.Rand) {
	mustMatch("parameters", len(params), n.NumParams())
	l := n.layers(params)
	uniform(l.weights, 1/math.Sqrt(float64(n.Features)), rng)
	uniform(l.bias, 1/math.Sqrt(float64(n.Features)), rng)
	uniform(l.out, 1/math.Sqrt(float64(n.Hidden)), rng)
}

// Score implements [Scorer]. It leaves the activations in ws.
func (n Network) Score(dst, params []float64, x []float32, ws *Workspace) {
	mustMatch("features", len(x), len(dst)*n.Features)
	memory := ws.Hold(x, n.Held(len(dst)))
	clear(dst)
	if n.divides(len(dst), ws.Team) {
		ws.divided.forward(n, dst, params, x, memory, ws.Team)
		return
	}
	n.forward(dst, params, x, memory)
}

// Backward implements [Scorer].
func (n Network) Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace) {
	mustMatch("features", len(x), len(lambda)*n.Features)
	if n.divides(len(lambda), ws.Team) {
		ws.divided.backward(n, grad, params, x, lambda, ws.Held(x), ws.Team)
		return
	}
	n.backward(grad, params, x, lambda, ws.Held(x))
}

// memory returns the number of float64s that forward and backward work in: the
// activations and, on the way back, the derivatives of the units' inputs.
func (n Network) memory(docs int) int { return 2 * n.Hidden * docs }

// forward adds the scores to dst and leaves the activations in memory.
func (n Network) forward(dst, params []float64, x []float32, memory []float64) {
	mustMatch("parameters", len(params), n.NumParams())
	l, docs := n.layers(params), len(dst)
	hidden := memory[:n.Hidden*docs]
	kernel.Gemm(hidden, x, l.weights, docs, n.Features)
	if docs == 1 { // the same in fewer calls
		kernel.Add(hidden, l.bias)
		n.Activation.Apply(hidden)
		for t, v := range l.out {
			dst[0] = math.FMA(v, hidden[t], dst[0])
		}
		return
	}
	n.activate(hidden, l.bias, docs)
	output(dst, l.out, hidden)
}

// activate makes products of documents with units the units' activations.
func (n Network) activate(hidden, bias []float64, docs int) {
	for t, b := range bias {
		addConstant(hidden[t*docs:(t+1)*docs], b)
	}
	n.Activation.Apply(hidden)
}

// output adds the scores that activations give to dst.
func output(dst, out, hidden []float64) {
	docs := len(dst)
	for t, v := range out {
		kernel.Axpy(v, hidden[t*docs:(t+1)*docs], dst)
	}
}

// backward adds the gradient of Σ lambda_i·s_i, given what forward left in memory:
// with δ_ti = lambda_i v_t f'(z_ti),
//
//	∂/∂w_t = Σ_i δ_ti x_i   ∂/∂b_t = Σ_i δ_ti   ∂/∂v_t = Σ_i lambda_i f(z_ti)
func (n Network) backward(grad, params []float64, x []float32, lambda, memory []float64) {
	mustMatch("parameters", len(params), n.NumParams())
	mustMatch("derivatives", len(grad), n.NumParams())
	n.backwardUnits(n.layers(grad), n.layers(params), x, lambda, memory[:n.Hidden*len(lambda)], memory[n.Hidden*len(lambda):])
}

// backwardUnits is backward for some units: their part of the gradient, of the parameters and of memory.
func (n Network) backwardUnits(g, l layers, x []float32, lambda, hidden, deltas []float64) {
	docs := len(lambda)
	deltas = deltas[:len(hidden)]
	n.Activation.Slope(deltas, hidden)
	for t, v := range l.out {
		a, delta := hidden[t*docs:(t+1)*docs], deltas[t*docs:(t+1)*docs]
		for i, d := range delta {
			delta[i] = d * v * lambda[i]
		}
		if docs == 1 { // the same without a call
			g.out[t] += float64(lambda[0] * a[0])
			g.bias[t] += delta[0]
			continue
		}
		g.out[t] += kernel.Dot(lambda, a)
		g.bias[t] += kernel.Sum(delta)
	}
	kernel.GemmT(g.weights, x, deltas, docs, n.Features)
}

// layers are the parts of a parameter vector.
type layers struct{ weights, bias, out []float64 }

func (n Network) layers(params []float64) layers {
	first := n.Hidden * n.Features
	return layers{params[:first], params[first : first+n.Hidden], params[first+n.Hidden:]}
}

// project sets z to X·w + bias, one element a document.
func project(z []float64, x []float32, w []float64, bias float64) {
	kernel.Gemv(z, x, w)
	addConstant(z, bias)
}

// uniform sets w to numbers between −limit and limit.
func uniform(w []float64, limit float64, rng *rand.Rand) {
	for i := range w {
		w[i] = float64(limit * (float64(2*rng.Float64()) - 1))
	}
}
