package explain

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// gradients computes the integrated gradients of a network from the background's mean document x′,
//
//	φ_j = (x_j − x′_j)·∫₀¹ ∂s/∂x_j (x′ + α(x − x′)) dα
//
// For one hidden layer with a linear output, the integral of a unit f(w·x + b) has a closed form:
// w_j·(f(z) − f(z′))/(z − z′), where z and z′ are the unit's inputs at x and x′. Other networks are
// integrated numerically on pieces of the line (path.go).
type gradients struct {
	net    network
	from   []float64 // x′
	at     []float64 // inputs of the hidden units at x′
	score  float64
	closed bool
}

// newGradients returns the attributor for a model whose scorer is a network, and nil for another model.
func newGradients(m *model.Model, b *source) attributor {
	net, ok := networkOf(m)
	if !ok {
		return nil
	}
	g := &gradients{net: net, from: b.means()}
	g.closed = len(net.layers) == 2 && net.layers[1].activation == scorer.Identity && net.classes == nil
	w := net.work()
	g.score = net.forward(g.from, w)
	g.at = net.layers[0].sums(make([]float64, net.layers[0].units), g.from)
	return g
}

func (g *gradients) about() string {
	if g.closed {
		return "integrated gradients from the background's mean document, in closed form"
	}
	return fmt.Sprintf("integrated gradients from the background's mean document, by Gauss's rule of %d nodes on up to %d pieces of the line; what these leave is the remainder", pathNodes, mostPieces)
}

func (g *gradients) base() float64 { return g.score }

func (g *gradients) add(dst []float64, x []float32) {
	n := len(g.from)
	parallel.For(len(x)/n, 0, func(_, i int) {
		to := make([]float64, n)
		for j := range to {
			to[j] = float64(x[i*n+j])
		}
		if own := dst[i*n : (i+1)*n]; g.closed {
			g.hidden(own, to)
		} else {
			g.net.integrate(own, g.from, to)
		}
	})
}

// hidden adds the contributions for a network with one hidden layer.
func (g *gradients) hidden(dst, to []float64) {
	first, out := &g.net.layers[0], g.net.layers[1].weights
	z := first.sums(make([]float64, first.units), to)
	for u, v := range out {
		c := v * slopeBetween(first.activation, g.at[u], z[u])
		for j, w := range first.weights[u*first.inputs : (u+1)*first.inputs] {
			dst[j] += float64(c * w * (to[j] - g.from[j]))
		}
	}
}

// slopeBetween returns the mean slope of f between a and b. If a and b are close, the difference of the
// values of f loses digits. slopeBetween then averages the slopes at the two nodes of Gauss's rule,
// unless f has a kink at 0 between them.
func slopeBetween(f scorer.Activation, a, b float64) float64 {
	d := b - a
	kinked := f == scorer.ReLU || f == scorer.LeakyReLU
	if math.Abs(d) > 1e-3 && !kinked || kinked && (a > 0) != (b > 0) {
		ends := [2]float64{a, b}
		f.Apply(ends[:])
		return (ends[1] - ends[0]) / d
	}
	reach := d / (2 * math.Sqrt(3))
	nodes := [2]float64{float64((a+b)/2) - reach, float64((a+b)/2) + reach}
	f.Apply(nodes[:])
	f.Slope(nodes[:], nodes[:])
	return float64((nodes[0] + nodes[1]) / 2)
}
