package papers

import (
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model/scorer"
)

// ϕ made of the potential's parts is the network's: with two documents it is what the
// scores have beyond φ, and its slopes at 0 are those of ϕ near there.
func TestPairPotential(t *testing.T) {
	n := scorer.PairNetwork{Features: 3, Hidden: 2, PairHidden: 4, Activation: scorer.Tanh}
	rng := random.Stream(1, "test", "pairs")
	params := make([]float64, n.NumParams())
	gaussian(params, rng)
	_, _, bias, out := n.PairWeights(params)
	clear(bias) // so that units are at 0 where the features are
	p := newPairPotential(n, params, "Fold1", 1)
	phi := func(x, y []float32) float64 {
		sum := 0.0
		for t, u := range p.out {
			z := 0.0
			for f := range x {
				z += p.self[t*3+f]*float64(x[f]) + p.other[t*3+f]*float64(y[f])
			}
			sum += u * math.Tanh(z)
		}
		return sum
	}
	x, y := []float32{0.3, -0.2, 0.7}, []float32{-0.5, 0.1, 0.4}
	both, alone := make([]float64, 2), make([]float64, 1)
	n.Score(both, params, append(append([]float32{}, x...), y...), new(scorer.Workspace))
	n.Score(alone, params, x, new(scorer.Workspace))
	if got := both[0] - alone[0]; math.Abs(got-phi(x, y)) > 1e-12 {
		t.Errorf("ϕ is %v in the scores, %v in its parts", got, phi(x, y))
	}
	self, other := p.slopes()
	zero, h := make([]float32, 3), float32(1e-4)
	for f := range 3 {
		at := make([]float32, 3)
		at[f] = h
		if got := phi(at, zero) / float64(h); math.Abs(got-self[f]) > 1e-5*max(1, math.Abs(got)) {
			t.Errorf("feature %d: slope %v, by difference %v", f, self[f], got)
		}
		if got := phi(zero, at) / float64(h); math.Abs(got-other[f]) > 1e-5*max(1, math.Abs(got)) {
			t.Errorf("feature %d of the other document: slope %v, by difference %v", f, other[f], got)
		}
	}
	for i, u := range out {
		if p.out[i] != math.Abs(u) {
			t.Errorf("unit %d counts %v, of %v", i, p.out[i], u)
		}
	}
}

// Correlations are Pearson's of known cases.
func TestCorrelation(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	for _, c := range []struct {
		y    []float64
		want float64
	}{{[]float64{2, 4, 6, 8}, 1}, {[]float64{4, 3, 2, 1}, -1}, {[]float64{1, -1, -1, 1}, 0}, {[]float64{1, 2, 4, 3}, 0.8}} {
		if got := correlation(x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, expected %v", c.y, got, c.want)
		}
	}
	if !math.IsNaN(correlation(x, []float64{1, 1, 1, 1})) {
		t.Error("a constant has a correlation")
	}
}

// The report has a line a fold and the plot of the first model, of every row that is there.
func TestPairWeightsReport(t *testing.T) {
	r := reportOf(t, quickBoltzRank(), Options{Data: setsOf(t, "OHSUMED", "TD2003"), Seed: 3})
	for _, table := range r.Tables {
		if strings.HasPrefix(table.Title, "what the pairwise potential learns") {
			if len(table.Rows) != 3 || table.Rows[0][1] != "BoltzRank2" || table.Rows[0][3] != "1" {
				t.Errorf("rows %v", table.Rows)
			}
		}
	}
	at := len(r.Sheets) - 1
	for r.Sheets[at].Name != "pairs" {
		at--
	}
	if n := len(r.Sheets[at].Rows); n != 3*8 {
		t.Errorf("%d lines, expected one a fold and feature", n)
	}
	for _, p := range r.Plots {
		if p.Name == "pairs" && len(p.Series[0].X) != 2*8 {
			t.Errorf("%d points, expected 2 units × 8 features", len(p.Series[0].X))
		}
	}
	if !strings.Contains(everything(t, r), "OHSUMED, BoltzRank2: the last slide plots") {
		t.Error("no note on the last slide")
	}
}
