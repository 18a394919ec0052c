package objective

import (
	"math"
	"testing"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/optimize"
	"github.com/listwise/listwise/scorer"
)

var (
	_ optimize.Terms = (*PairByPair)(nil)
	_ optimize.Terms = (*Risk)(nil)
)

// Backpropagation pair by pair and λ added up per document give the same loss
// and the same gradient of every query: linear scorer and networks, with any slope,
// sums and means.
func TestPairByPairIsTheRisk(t *testing.T) {
	d := randomData(t, 30, 7)
	for _, s := range []scorer.Scorer{
		scorer.Linear{Features: 7},
		scorer.Network{Features: 7, Hidden: 10},
		scorer.Network{Features: 7, Hidden: 3, Activation: scorer.Softplus},
	} {
		for _, l := range []loss.RankNet{{}, {Sigma: 2.5}, {Sigma: 0.5, Mean: true}} {
			pairs, err := NewPairByPair(d, s, l)
			if err != nil {
				t.Fatal(err)
			}
			risk, err := New(d, s, l, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if pairs.Terms() != risk.Terms() || pairs.Dim() != risk.Dim() || risk.Terms() != 24 {
				t.Fatalf("%d terms and %d of the risk, expected 24; dimensions %d and %d", pairs.Terms(), risk.Terms(), pairs.Dim(), risk.Dim())
			}
			w := randomPoint(s.NumParams(), 0.7)
			for i := range risk.Terms() {
				got, want := make([]float64, len(w)), make([]float64, len(w))
				if a, b := pairs.EvalTerm(i, w, got), risk.EvalTerm(i, w, want); math.Abs(a-b) > 1e-10*(1+b) {
					t.Errorf("%s, %+v: cost %v of query %d pair by pair, %v at once", s.Kind(), l, a, i, b)
				}
				for j := range want {
					if math.Abs(got[j]-want[j]) > 1e-10 {
						t.Errorf("%s, %+v: derivative %d of query %d is %v pair by pair, %v at once", s.Kind(), l, j, i, got[j], want[j])
					}
				}
			}
		}
	}
}

func TestPairByPairAllocatesNothing(t *testing.T) {
	s := scorer.Network{Features: 7, Hidden: 4}
	p, err := NewPairByPair(randomData(t, 5, 7), s, loss.RankNet{})
	if err != nil {
		t.Fatal(err)
	}
	w, grad := randomPoint(s.NumParams(), 1), make([]float64, s.NumParams())
	if n := testing.AllocsPerRun(20, func() { p.EvalTerm(0, w, grad) }); n > 0 {
		t.Errorf("%v allocations a query", n)
	}
}

func TestPairByPairRefuses(t *testing.T) {
	d := randomData(t, 5, 7)
	if _, err := NewPairByPair(d, scorer.Linear{Features: 6}, loss.RankNet{}); err == nil {
		t.Error("a scorer of 6 features was accepted for data of 7")
	}
	if _, err := NewPairByPair(d, scorer.Linear{Features: 7}, loss.RankNet{Sigma: -1}); err == nil {
		t.Error("a negative slope was accepted")
	}
}
