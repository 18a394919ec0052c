//go:build !race

package objective

import (
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// Claim: a term allocates nothing once its memory is pooled. (The race detector
// empties pools at random.)
func TestEvalTermAllocatesNothing(t *testing.T) {
	r := newRisk(t, randomData(t, 5, 3), loss.RankNet{}, Options{})
	w, grad := randomPoint(3, 1), make([]float64, 3)
	r.EvalTerm(0, w, grad)
	if n := testing.AllocsPerRun(100, func() { r.EvalTerm(0, w, grad) }); n != 0 {
		t.Errorf("a term allocates %v times", n)
	}
}
