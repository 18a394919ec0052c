package scorer

import (
	"math"
	"testing"

	"github.com/listwise/listwise/internal/kernel"
	"pgregory.net/rapid"
)

// Claim: odds give the sums of activations and of slopes over pairs that the
// activations themselves give, for documents whose parts are anything up to where
// odds are refused, and beyond that nothing is changed.
func TestOddsAreActivations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Activation{Tanh, Sigmoid}).Draw(t, "activation")
		docs := rapid.IntRange(1, 40).Draw(t, "docs")
		spread := rapid.SampledFrom([]float64{0.1, 3, 17, 34, 40, 1000}).Draw(t, "spread")
		draw := func(name string, size float64) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(-size, size), docs, docs).Draw(t, name)
		}
		n := PairNetwork{Features: 1, Hidden: 1, PairHidden: 1, Activation: f}
		space := func(self, other []float64) pairSpace {
			s := n.pairSpace(make([]float64, n.single().memory(docs)+n.pairMemory(docs)), docs)
			copy(s.self, self)
			copy(s.other, other)
			return s
		}
		self, other := draw("self", spread), draw("other", spread)
		u, lambda := 0.7, draw("lambda", 1)
		want, got := space(self, other), space(self, other)
		want.sum(want.sums, f)
		want.sumSlopes(u, lambda, f)
		if !got.toOdds(f) {
			c := map[Activation]float64{Tanh: 2, Sigmoid: 1}[f]
			if c*(largest(self)+largest(other)) < oddsLimit {
				t.Fatalf("odds were refused up to %v and %v", largest(self), largest(other))
			}
			for j := range self {
				if got.self[j] != self[j] || got.other[j] != other[j] {
					t.Fatal("the parts were changed")
				}
			}
			return
		}
		got.sumByOdds(got.sums, f)
		got.sumSlopesByOdds(u, lambda, f)
		for name, both := range map[string][2][]float64{
			"sums": {got.sums, want.sums}, "by self": {got.bySelf, want.bySelf}, "by other": {got.byOther, want.byOther},
		} {
			for j, w := range both[1] {
				if d := math.Abs(both[0][j] - w); !(d < 1e-15*float64(4+docs)) {
					t.Fatalf("%s of document %d: %v, expected %v", name, j, both[0][j], w)
				}
			}
		}
	})
}

// Claim: the largest odds that are let through are below what the kernel takes.
func TestOddsLimit(t *testing.T) {
	if r := math.Exp(oddsLimit); !(r < math.Ldexp(1, 100)) {
		t.Errorf("odds may be %v, expected less than 2^100", r)
	}
	p := []float64{0}
	if _, sum := kernel.LogisticRow(math.Exp(oddsLimit/2.), []float64{math.Exp(oddsLimit / 2.)}, p); sum != 1 {
		t.Errorf("at the limit the logistic function is %v, expected 1", sum)
	}
}
