package bipartite

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/eval/measure"
)

// GainTable contains the terms γ_i(a) of an additive gain for a query of n⁺ good and n⁻ bad documents,
//
//	G(y) = Σ_i γ_i(a_i),   0 ≤ i < n⁺,  0 ≤ a_i ≤ n⁻,
//
// where a_i is the number of bads above the i-th good from the top.
//
// Row i ends after its last nonzero term, and equal rows are stored once. So NDCG@k takes k(k+1)/2
// numbers, AUC n⁻, and average precision n⁺(n⁻+1).
type GainTable struct {
	Rows [][]float64 // row i: γ_i(0), γ_i(1), …
	Bad  int         // n⁻
}

// NewGainTable computes all terms. It returns an error if a term is not a finite non-negative number, or
// if the gain of the ideal ranking exceeds 1.
func NewGainTable(gain measure.Additive, good, bad int) (*GainTable, error) {
	t := &GainTable{Rows: make([][]float64, good), Bad: bad}
	row := make([]float64, bad+1)
	for i := range t.Rows {
		used := 0
		for a := range row {
			v := gain.GoodGain(i, a, good, bad)
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("%s gives good document %d below %d bad ones %v, expected a finite non-negative number",
					gain.Name(), i+1, a, v)
			}
			if row[a] = v; v != 0 {
				used = a + 1
			}
		}
		if i > 0 && equal(t.Rows[i-1], row[:used]) {
			t.Rows[i] = t.Rows[i-1]
			continue
		}
		t.Rows[i] = append([]float64(nil), row[:used]...)
	}
	if best := t.Column(0); best > 1+1e-9 {
		return nil, fmt.Errorf("%s of the ideal ranking is %v, expected at most 1", gain.Name(), best)
	}
	return t, nil
}

func equal(x, y []float64) bool {
	if len(x) != len(y) {
		return false
	}
	for i, v := range x {
		if v != y[i] {
			return false
		}
	}
	return true
}

// At returns γ_i(a).
func (t *GainTable) At(i, a int) float64 {
	if row := t.Rows[i]; a < len(row) {
		return row[a]
	}
	return 0
}

// Column returns Σ_i γ_i(a), the gain if the number of bads above each good is a.
func (t *GainTable) Column(a int) float64 {
	var sum float64
	for i := range t.Rows {
		sum += t.At(i, a)
	}
	return sum
}

// PerInversion reports whether every inverted pair reduces the gain by the same step, as in AUC:
// γ_i(a) = γ_i(0) − a·step for all i and a.
func (t *GainTable) PerInversion() (step float64, ok bool) {
	step = (t.At(0, 0) - t.At(0, t.Bad)) / float64(t.Bad)
	for i := range t.Rows {
		top := t.At(i, 0)
		for a := range t.Bad + 1 {
			if math.Abs(t.At(i, a)-(top-float64(float64(a)*step))) > 1e-12*max(top, t.At(0, 0)) {
				return 0, false
			}
		}
	}
	return step, true
}

// GainCost estimates the cost of a [GainTable]: operations of about a nanosecond each, and bytes of
// memory. A nil gain counts as a gain without a cutoff.
func GainCost(gain measure.Additive, good, bad int) (operations, bytes float64) {
	cells := float64(good) * float64(bad)
	kept, perCell := cells, 5.0
	if gain != nil {
		name, cut := measure.Family(gain), measure.CutoffOf(gain)
		switch {
		case name == "mrr" || name == "auc":
			kept = float64(bad)
		case name == "mean-ndcg": // its terms are sums over all ranks
			perCell = float64(good + bad)
		case cut > 0:
			kept = min(kept, float64(cut)*float64(cut))
		}
	}
	return perCell * cells, 16 * kept
}
