package tree

import (
	"math"
	"math/rand/v2"
	"testing"
)

// No split's gain is above the bound by which its feature may be left out, and the bound is
// close: it is above the gain by rounding alone where nothing forbids a cut.
func TestBoundOfGains(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 20_000 {
		o := Options{}
		free := rng.IntN(2) == 0
		if !free {
			o.L2, o.L1, o.LeafCurvature = math.Exp(6*rng.NormFloat64()-3)*float64(rng.IntN(2)), rng.Float64()*float64(rng.IntN(2)), rng.Float64()
		}
		cuts, occupied := 1+rng.IntN(MaxBins-1), rng.Float64()
		var of [256]sums
		var total sums
		top := 1 + rng.IntN(1<<20)
		for c := range cuts + 2 {
			if c > cuts {
				c = missingCode
			}
			if rng.Float64() < occupied {
				of[c] = sums(uint64(int64(rng.IntN(2*top)-top))<<32 + uint64(rng.IntN(1+rng.IntN(1<<23))))
			}
			total += of[c]
		}
		s := searcher{Options: &o, unit: quanta{gradient: math.Exp(5 * rng.NormFloat64()), curvature: math.Exp(5 * rng.NormFloat64())}, total: total}
		s.ceiling = o.ceiling(s.unit, false)
		s.parent = o.strength(float64(total.gradient())*s.unit.gradient, float64(total.curvature())*s.unit.curvature)
		before := of
		bound, best := s.open(0, &of, cuts), s.best(0, &of, cuts)
		if of != before {
			t.Fatal("the sums have changed")
		}
		if best.found && (!bound.open || best.gain > bound.gain) {
			t.Fatalf("%+v, %d cuts: gain %v is above the bound %v", o, cuts, best.gain, bound.gain)
		}
		if slack := 1e-5 * (best.gain + s.parent); free && best.found && noEmptySide(&of, total) && bound.gain > best.gain+slack {
			t.Fatalf("%d cuts: gain %v, bound %v", cuts, best.gain, bound.gain)
		}
	}
}

// noEmptySide reports whether there is no code without second derivatives but with a gradient.
func noEmptySide(of *[256]sums, total sums) bool {
	for _, v := range of {
		if v != 0 && v.curvature() == 0 || v == total {
			return false
		}
	}
	return true
}
