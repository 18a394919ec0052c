package scorer

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/strictjson"
)

// Network is a neural network with one hidden layer of h units and a linear output,
//
//	s(x) = Σ_t v_t·f(w_t·x + b_t),   t = 1 … h,
//
// where f is the activation. The output has no bias, because a constant added to all scores changes no
// ranking. With p features the parameters are, in this order,
//
//	w_1 … w_h   p weights each, feature 1 first
//	b_1 … b_h   biases of the hidden units
//	v_1 … v_h   weights of the output
//
// The activations of a query are an h × documents matrix. The forward and the backward pass are each
// one matrix product of package kernel, with a multiply-add per feature, document and unit. A score has
// the same bits whichever other documents are scored at the same time.
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

// Init draws the weights and biases of the hidden units uniformly from ±1/√p, and the weights of
// the output from ±1/√h.
func (n Network) Init(params []float64, rng *rand.Rand) {
	mustMatch("parameters", len(params), n.NumParams())
	l := n.layers(params)
	uniform(l.weights, 1/math.Sqrt(float64(n.Features)), rng)
	uniform(l.bias, 1/math.Sqrt(float64(n.Features)), rng)
	uniform(l.out, 1/math.Sqrt(float64(n.Hidden)), rng)
}

// Score implements [Scorer]. It stores the activations in ws.
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

// memory returns the number of float64s that forward and backward need: the activations, and the
// derivatives with respect to the units' inputs.
func (n Network) memory(docs int) int { return 2 * n.Hidden * docs }

// forward adds the scores to dst and stores the activations in memory.
func (n Network) forward(dst, params []float64, x []float32, memory []float64) {
	mustMatch("parameters", len(params), n.NumParams())
	l, docs := n.layers(params), len(dst)
	hidden := memory[:n.Hidden*docs]
	kernel.Gemm(hidden, x, l.weights, docs, n.Features)
	if docs == 1 { // the same result with fewer calls
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

// activate replaces the products w_t·x in hidden by the activations f(w_t·x + b_t).
func (n Network) activate(hidden, bias []float64, docs int) {
	for t, b := range bias {
		addConstant(hidden[t*docs:(t+1)*docs], b)
	}
	n.Activation.Apply(hidden)
}

// output adds the scores to dst, given the output weights and the activations.
func output(dst, out, hidden []float64) {
	docs := len(dst)
	for t, v := range out {
		kernel.Axpy(v, hidden[t*docs:(t+1)*docs], dst)
	}
}

// backward adds the gradient of Σ_i lambda_i·s_i to grad. memory contains the activations that forward
// stored. With δ_ti = lambda_i v_t f'(z_ti), where z_ti is the input of unit t for document i, the
// derivatives are
//
//	∂/∂w_t = Σ_i δ_ti x_i   ∂/∂b_t = Σ_i δ_ti   ∂/∂v_t = Σ_i lambda_i f(z_ti)
func (n Network) backward(grad, params []float64, x []float32, lambda, memory []float64) {
	mustMatch("parameters", len(params), n.NumParams())
	mustMatch("derivatives", len(grad), n.NumParams())
	n.backwardUnits(n.layers(grad), n.layers(params), x, lambda, memory[:n.Hidden*len(lambda)], memory[n.Hidden*len(lambda):])
}

// backwardUnits computes the part of backward for some hidden units. g, l, hidden and deltas contain
// only these units.
func (n Network) backwardUnits(g, l layers, x []float32, lambda, hidden, deltas []float64) {
	docs := len(lambda)
	deltas = deltas[:len(hidden)]
	n.Activation.Slope(deltas, hidden)
	for t, v := range l.out {
		a, delta := hidden[t*docs:(t+1)*docs], deltas[t*docs:(t+1)*docs]
		for i, d := range delta {
			delta[i] = d * v * lambda[i]
		}
		if docs == 1 { // the same result without a call
			g.out[t] += float64(lambda[0] * a[0])
			g.bias[t] += delta[0]
			continue
		}
		g.out[t] += kernel.Dot(lambda, a)
		g.bias[t] += kernel.Sum(delta)
	}
	kernel.GemmT(g.weights, x, deltas, docs, n.Features)
}

// layers are views of the parts of a parameter vector.
type layers struct{ weights, bias, out []float64 }

func (n Network) layers(params []float64) layers {
	first := n.Hidden * n.Features
	return layers{params[:first], params[first : first+n.Hidden], params[first+n.Hidden:]}
}

// project sets z to X·w + bias, one element per document.
func project(z []float64, x []float32, w []float64, bias float64) {
	kernel.Gemv(z, x, w)
	addConstant(z, bias)
}

// uniform sets w to uniform random numbers between −limit and limit.
func uniform(w []float64, limit float64, rng *rand.Rand) {
	for i := range w {
		w[i] = float64(limit * (float64(2*rng.Float64()) - 1))
	}
}

// leastPart is the least number of multiply-adds that is worth a goroutine: about two microseconds.
const leastPart = 1 << 14

// Divider is a [Scorer] that can divide the work on a query among the [Workspace.Team].
type Divider interface {
	Scorer

	// Parts returns the largest number of parts into which it is worth dividing a query with the given
	// number of documents. It is 1 if dividing the query does not pay.
	Parts(docs int) int
}

var _ Divider = Network{}

// Parts implements [Divider]. A part has at least one hidden unit.
func (n Network) Parts(docs int) int {
	return max(1, min(n.Hidden, docs*n.Features*n.Hidden/leastPart))
}

// divides reports whether the network divides a query of docs documents among the whole team.
func (n Network) divides(docs int, team *parallel.Team) bool {
	return team.Parts() > 1 && n.Parts(docs) >= team.Parts()
}

// dividedNetwork divides a network's work on a query by its hidden units. Each unit has its own row of
// activations and its own part of the gradient. So one goroutine computes each sum, in the same order
// as [Network.forward] and [Network.backward].
type dividedNetwork struct {
	network    Network
	parts      int
	docs       int
	x          []float32
	lambda     []float64
	memory     []float64
	params     layers
	gradient   layers
	activating func(part int) // activatePart and returnPart as values, stored to avoid allocations
	returning  func(part int)
}

// units returns the hidden units from ≤ t < to of a part.
func (d *dividedNetwork) units(part int) (from, to int) {
	h := d.network.Hidden
	return part * h / d.parts, (part + 1) * h / d.parts
}

// of returns the parameters of the hidden units from ≤ t < to.
func (l layers) of(from, to, features int) layers {
	return layers{l.weights[from*features : to*features], l.bias[from:to], l.out[from:to]}
}

// begin stores the arguments that forward and backward share.
func (d *dividedNetwork) begin(n Network, docs int, params []float64, x []float32, memory []float64, team *parallel.Team) {
	mustMatch("parameters", len(params), n.NumParams())
	if d.activating == nil {
		d.activating, d.returning = d.activatePart, d.returnPart
	}
	d.network, d.parts, d.docs, d.x, d.memory, d.params = n, team.Parts(), docs, x, memory, n.layers(params)
}

// forward computes [Network.forward] on the team.
func (d *dividedNetwork) forward(n Network, dst, params []float64, x []float32, memory []float64, team *parallel.Team) {
	d.begin(n, len(dst), params, x, memory, team)
	team.Run(d.activating)
	output(dst, d.params.out, memory[:n.Hidden*len(dst)])
}

func (d *dividedNetwork) activatePart(part int) {
	n := d.network
	from, to := d.units(part)
	l, hidden := d.params.of(from, to, n.Features), d.memory[from*d.docs:to*d.docs]
	kernel.Gemm(hidden, d.x, l.weights, d.docs, n.Features)
	n.activate(hidden, l.bias, d.docs)
}

// backward computes [Network.backward] on the team.
func (d *dividedNetwork) backward(n Network, grad, params []float64, x []float32, lambda, memory []float64, team *parallel.Team) {
	mustMatch("derivatives", len(grad), n.NumParams())
	d.begin(n, len(lambda), params, x, memory, team)
	d.lambda, d.gradient = lambda, n.layers(grad)
	team.Run(d.returning)
}

func (d *dividedNetwork) returnPart(part int) {
	n := d.network
	from, to := d.units(part)
	hidden, deltas := d.memory[:n.Hidden*d.docs], d.memory[n.Hidden*d.docs:2*n.Hidden*d.docs]
	n.backwardUnits(d.gradient.of(from, to, n.Features), d.params.of(from, to, n.Features), d.x, d.lambda,
		hidden[from*d.docs:to*d.docs], deltas[from*d.docs:to*d.docs])
}

// networkFile contains the first keys of a network or a pair network in a model file. The key "weights"
// follows with the parameters.
type networkFile struct {
	Type       string `json:"type"`
	Activation string `json:"activation"`
	Features   int    `json:"features"`
	Hidden     int    `json:"hidden"`
	PairHidden int    `json:"pair_hidden,omitempty"`
}

func (n Network) encode(params []float64) ([]byte, error) {
	return withWeights(networkFile{Type: n.Kind(), Activation: n.Activation.String(), Features: n.Features, Hidden: n.Hidden}, params)
}

func (n PairNetwork) encode(params []float64) ([]byte, error) {
	return withWeights(networkFile{n.Kind(), n.Activation.String(), n.Features, n.Hidden, n.PairHidden}, params)
}

func decodeNetwork(o strictjson.Object) (Scorer, []float64, error) {
	f, err := readNetwork(o)
	if err != nil {
		return nil, nil, err
	}
	w, err := f.parameters(float64(f.Hidden) * (float64(f.Features) + 2))
	if err != nil {
		return nil, nil, err
	}
	return Network{Features: f.Features, Hidden: f.Hidden, Activation: f.activation}, w, nil
}

func decodePairNetwork(o strictjson.Object) (Scorer, []float64, error) {
	f, err := readNetwork(o)
	if err == nil {
		err = atLeastOne("pair_hidden", f.PairHidden)
	}
	if err != nil {
		return nil, nil, err
	}
	p := float64(f.Features)
	w, err := f.parameters(float64(float64(f.Hidden)*(p+2)) + float64(float64(f.PairHidden)*(float64(2*p)+2)))
	if err != nil {
		return nil, nil, err
	}
	return PairNetwork{Features: f.Features, Hidden: f.Hidden, PairHidden: f.PairHidden, Activation: f.activation}, w, nil
}

// readFile is a networkFile with its weights and its parsed activation.
type readFile struct {
	networkFile
	weights    []float64
	activation Activation
}

func readNetwork(o strictjson.Object) (*readFile, error) {
	var f readFile
	var list struct {
		Weights strictjson.Numbers `json:"weights"`
	}
	err := o.Decode(&f.networkFile)
	if err == nil {
		err = o.Decode(&list)
		f.weights = list.Weights
	}
	if err == nil {
		f.activation, err = ParseActivation(f.Activation)
	}
	if err == nil {
		err = atLeastOne("features", f.Features)
	}
	if err == nil {
		err = atLeastOne("hidden", f.Hidden)
	}
	return &f, err
}

// parameters returns the weights, or an error unless their number is want. want is a float64, since
// products of numbers in a file may overflow an int.
func (f *readFile) parameters(want float64) ([]float64, error) {
	if float64(len(f.weights)) != want {
		return nil, fmt.Errorf("found %d weights, expected %.0f", len(f.weights), want)
	}
	return f.weights, nil
}
