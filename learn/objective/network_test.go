package objective

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/model/scorer"
)

// A network is trained through the same sum as a linear scorer: the gradient agrees
// with central differences of the value, both have the same bits for any number
// of workers, and an evaluation allocates nothing.
func TestNetworkRisk(t *testing.T) {
	d := randomData(t, 40, 3)
	l := logrank.MLE{Options: logrank.Options{Kappa: bipartite.KappaPairs}}
	for _, s := range []scorer.Scorer{
		scorer.Network{Features: 3, Hidden: 4, Activation: scorer.Tanh},
		scorer.PairNetwork{Features: 3, Hidden: 2, PairHidden: 2, Activation: scorer.Softplus},
	} {
		newRisk := func(workers int) *Risk {
			r, err := New(d, s, l, Options{C: 10, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := newRisk(1)
		w, grad := make([]float64, r.Dim()), make([]float64, r.Dim())
		s.Init(w, rand.New(rand.NewPCG(7, 8)))
		value := r.Eval(w, grad)
		for i := range w {
			const h = 1e-4
			moved, rest := slices.Clone(w), make([]float64, len(w))
			moved[i] = w[i] + h
			up := r.Eval(moved, rest)
			moved[i] = w[i] - h
			if want := (up - r.Eval(moved, rest)) / (2 * h); math.Abs(grad[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s: derivative %d is %v, differences say %v", s.Kind(), i, grad[i], want)
			}
		}
		for workers := 2; workers <= 5; workers++ {
			other, otherGrad := newRisk(workers), make([]float64, len(w))
			if v := other.Eval(w, otherGrad); v != value || !slices.Equal(otherGrad, grad) {
				t.Errorf("%s: value %v with %d workers, %v with one", s.Kind(), v, workers, value)
			}
		}
		if n := testing.AllocsPerRun(3, func() { r.Eval(w, grad) }); n != 0 {
			t.Errorf("%s: an evaluation allocates %v times", s.Kind(), n)
		}
	}
}
