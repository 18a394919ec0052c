package explain

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/model/scorer"
)

// Claim: the network that is differentiated has the scorer's scores, its gradient is that of
// finite differences, and the integral over the line is, in closed form and by pieces, that of
// ten thousand small steps.
func TestGradients(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 4))
		features := 1 + rng.IntN(6)
		d := randomData(t, rng, 1, features)
		row := d.Queries[0].Row(0)
		x, from := make([]float64, features), make([]float64, features)
		for j, v := range row {
			x[j], from[j] = float64(v)+0.0, rng.NormFloat64()
		}
		for kind, m := range kindsOf(t, rng, features) {
			net, ok := networkOf(m)
			if !ok {
				continue
			}
			w, score := net.work(), make([]float64, 1)
			m.Scorer.Score(score, m.Params, row, new(scorer.Workspace))
			value := net.forward(x, w)
			if math.Abs(value-score[0]) > 1e-12*(1+math.Abs(value)) {
				t.Fatalf("%s: forward is %v, the score %v", kind, value, score[0])
			}
			want := make([]float64, features)
			const steps = 10_000
			for k := range steps {
				at := (float64(k) + 0.5) / steps
				point := make([]float64, features)
				for j := range point {
					point[j] = from[j] + at*(x[j]-from[j])
				}
				v := net.forward(point, w)
				gradient := append([]float64{}, net.backward(v, w)...)
				if k == 0 {
					checkGradient(t, kind, &net, point, gradient)
				}
				for j, g := range gradient {
					want[j] += g * (x[j] - from[j]) / steps
				}
			}
			got := make([]float64, features)
			net.integrate(got, from, x)
			near(t, kind, got, want)
			g := &gradients{net: net, from: from, at: net.layers[0].sums(make([]float64, net.layers[0].units), from)}
			if len(net.layers) == 2 && net.classes == nil && net.layers[1].activation == scorer.Identity {
				clear(got)
				g.hidden(got, x)
				near(t, kind+" in closed form", got, want)
			}
		}
	})
}

func checkGradient(t *testing.T, kind string, n *network, x, gradient []float64) {
	t.Helper()
	const h = 1e-6
	w := n.work()
	for j := range x {
		own := x[j]
		x[j] = own + h
		high := n.forward(x, w)
		x[j] = own - h
		low := n.forward(x, w)
		x[j] = own
		if want := (high - low) / (2 * h); math.Abs(want-gradient[j]) > 1e-6*(1+math.Abs(want)) && !kinkWithin(n, x, j, h) {
			t.Fatalf("%s: derivative by input %d is %v, differences give %v", kind, j+1, gradient[j], want)
		}
	}
}

// kinkWithin reports whether the one-sided differences disagree: a kink is near.
func kinkWithin(n *network, x []float64, j int, h float64) bool {
	w, own := n.work(), x[j]
	middle := n.forward(x, w)
	x[j] = own + h
	high := n.forward(x, w)
	x[j] = own - h
	low := n.forward(x, w)
	x[j] = own
	return math.Abs(high-2*middle+low) > 1e-8
}

// near allows for kinks in one step each.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for j := range want {
		if math.Abs(got[j]-want[j]) > 2e-3*(1+math.Abs(want[j])) {
			t.Fatalf("%s: input %d contributes %v, small steps give %v", what, j+1, got[j], want[j])
		}
	}
}

// Claim: the mean slope of an activation is right to twelve digits where the ends are far, near
// or the same, on both sides of 0.
func TestSlopeBetween(t *testing.T) {
	for i, name := range scorer.ActivationNames() {
		f := scorer.Activation(i)
		for _, a := range []float64{-2, -1e-5, 0.3, 4} {
			for _, d := range []float64{0, 1e-12, 1e-6, 9e-4, 2e-3, 1} {
				nodes, weights := legendre(20)
				var want float64
				for q, node := range nodes {
					v := []float64{a + node*d}
					f.Apply(v)
					f.Slope(v, v)
					want += weights[q] * v[0]
				}
				tolerance := 1e-12
				if a < 0 && a+d > 0 {
					tolerance = 0.1 // a kink, which the rule of small steps does not meet
				}
				if got := slopeBetween(f, a, a+d); math.Abs(got-want) > tolerance {
					t.Errorf("%s from %v to %v: mean slope %v, want %v", name, a, a+d, got, want)
				}
			}
		}
	}
}
