package loss

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/measure"
)

// gainTable holds the terms γ_i(a) of an additive gain for a query of n⁺ good
// and n⁻ bad documents,
//
//	G(y) = Σ_i γ_i(a_i),   0 ≤ i < n⁺,  0 ≤ a_i ≤ n⁻,
//
// a_i being the number of bads above the i-th good from the top.
//
// Row i stops after its last term that is not zero and equal rows are stored
// once, so that NDCG@k takes k(k+1)/2 numbers and AUC n⁻; average precision
// takes all n⁺(n⁻+1).
type gainTable struct {
	rows [][]float64
	bad  int
}

func newGainTable(gain measure.Additive, good, bad int) (*gainTable, error) {
	t := &gainTable{rows: make([][]float64, good), bad: bad}
	row := make([]float64, bad+1)
	for i := range t.rows {
		used := 0
		for a := range row {
			v := gain.GoodGain(i, a, good, bad)
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("%s gives good document %d below %d bad ones %v, expected a finite non-negative number", gain.Name(), i+1, a, v)
			}
			if row[a] = v; v != 0 {
				used = a + 1
			}
		}
		if i > 0 && equal(t.rows[i-1], row[:used]) {
			t.rows[i] = t.rows[i-1]
			continue
		}
		t.rows[i] = append([]float64(nil), row[:used]...)
	}
	if best := t.column(0); best > 1+1e-9 {
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

// at returns γ_i(a).
func (t *gainTable) at(i, a int) float64 {
	if row := t.rows[i]; a < len(row) {
		return row[a]
	}
	return 0
}

// column returns Σ_i γ_i(a), the gain when all goods have a bads above them.
func (t *gainTable) column(a int) float64 {
	var sum float64
	for i := range t.rows {
		sum += t.at(i, a)
	}
	return sum
}

// perInversion tells whether every inverted pair costs the same, as with AUC:
// γ_i(a) = γ_i(0) − a·step for all i and a.
func (t *gainTable) perInversion() (step float64, ok bool) {
	step = (t.at(0, 0) - t.at(0, t.bad)) / float64(t.bad)
	for i := range t.rows {
		top := t.at(i, 0)
		for a := range t.bad + 1 {
			if math.Abs(t.at(i, a)-(top-float64(a)*step)) > 1e-12*max(top, t.at(0, 0)) {
				return 0, false
			}
		}
	}
	return step, true
}
