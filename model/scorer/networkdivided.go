package scorer

import (
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// leastPart is the number of multiply-adds of a part for which a query is worth dividing: some two microseconds.
const leastPart = 1 << 14

// Divider is a [Scorer] that divides the work on a query among the [Workspace.Team].
type Divider interface {
	Scorer

	// Parts returns the number of parts into which it is worth dividing a query with the given number of
	// documents; 1 for none.
	Parts(docs int) int
}

var _ Divider = Network{}

// Parts implements [Divider]: a part has one unit at least.
func (n Network) Parts(docs int) int {
	return max(1, min(n.Hidden, docs*n.Features*n.Hidden/leastPart))
}

// divides reports whether a query is divided among a team, each of whose parts must be worth it.
func (n Network) divides(docs int, team *parallel.Team) bool {
	return team.Parts() > 1 && n.Parts(docs) >= team.Parts()
}

// dividedNetwork is a network's work on a query, divided by its hidden units: each has its row of activations and
// its part of the gradient, so that every sum is computed in one part, in the order of [Network.forward] and
// [Network.backward].
type dividedNetwork struct {
	network    Network
	parts      int
	docs       int
	x          []float32
	lambda     []float64
	memory     []float64
	params     layers
	gradient   layers
	activating func(part int) // activatePart and returnPart, made once so that nothing is allocated
	returning  func(part int)
}

// units returns the hidden units of a part, from a first to before a last one.
func (d *dividedNetwork) units(part int) (from, to int) {
	h := d.network.Hidden
	return part * h / d.parts, (part + 1) * h / d.parts
}

// of returns the layers of some units.
func (l layers) of(from, to, features int) layers {
	return layers{l.weights[from*features : to*features], l.bias[from:to], l.out[from:to]}
}

// begin takes over what both directions need.
func (d *dividedNetwork) begin(n Network, docs int, params []float64, x []float32, memory []float64, team *parallel.Team) {
	mustMatch("parameters", len(params), n.NumParams())
	if d.activating == nil {
		d.activating, d.returning = d.activatePart, d.returnPart
	}
	d.network, d.parts, d.docs, d.x, d.memory, d.params = n, team.Parts(), docs, x, memory, n.layers(params)
}

// forward is [Network.forward].
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

// backward is [Network.backward].
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
