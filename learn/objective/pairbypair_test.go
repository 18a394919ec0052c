package objective

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

var (
	_ optimize.Terms = (*PairByPair)(nil)
	_ optimize.Terms = (*PerDocument)(nil)
	_ optimize.Terms = (*Risk)(nil)
)

// Backpropagation pair by pair, λ added up per document, and the latter with footnote 3's
// savings give the same loss and the same gradient of every query: linear scorer and
// networks, with any slope, sums and means. Steps a pair of a small rate are the step of the
// query, to the rate's square.
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
			documents, err := NewPerDocument(d, s, l)
			if err != nil {
				t.Fatal(err)
			}
			if pairs.Terms() != documents.Terms() || pairs.Terms() != risk.Terms() || pairs.Dim() != risk.Dim() || risk.Terms() != 24 {
				t.Fatalf("%d terms and %d of the risk, expected 24; dimensions %d and %d", pairs.Terms(), risk.Terms(), pairs.Dim(), risk.Dim())
			}
			w := randomPoint(s.NumParams(), 0.7)
			for i := range risk.Terms() {
				want := make([]float64, len(w))
				b := risk.EvalTerm(i, w, want)
				for name, form := range map[string]optimize.Terms{"pair by pair": pairs, "per document": documents} {
					got := make([]float64, len(w))
					if a := form.EvalTerm(i, w, got); math.Abs(a-b) > 1e-10*(1+b) {
						t.Errorf("%s, %+v: cost %v of query %d %s, %v at once", s.Kind(), l, a, i, name, b)
					}
					for j := range want {
						if math.Abs(got[j]-want[j]) > 1e-10 {
							t.Errorf("%s, %+v: derivative %d of query %d is %v %s, %v at once", s.Kind(), l, j, i, got[j], name, want[j])
						}
					}
				}
				const rate = 1e-6
				moved := slices.Clone(w)
				if a := pairs.DescendTerm(i, rate, moved); math.Abs(a-b) > 1e-3*(1+b) {
					t.Errorf("%s, %+v: cost %v of query %d with steps a pair, %v at once", s.Kind(), l, a, i, b)
				}
				for j := range want {
					if off := math.Abs((w[j]-moved[j])/rate - want[j]); off > 1e-2*(1+math.Abs(want[j])) {
						t.Errorf("%s, %+v: steps a pair of query %d move weight %d by %v of the gradient, expected %v", s.Kind(), l, i, j, (w[j]-moved[j])/rate, want[j])
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
	documents, err := NewPerDocument(randomData(t, 5, 7), s, loss.RankNet{})
	if err != nil {
		t.Fatal(err)
	}
	w, grad := randomPoint(s.NumParams(), 1), make([]float64, s.NumParams())
	if n := testing.AllocsPerRun(20, func() { p.EvalTerm(0, w, grad); p.DescendTerm(0, 1e-9, w); documents.EvalTerm(0, w, grad) }); n > 0 {
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
