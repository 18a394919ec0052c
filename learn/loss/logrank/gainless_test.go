package logrank

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
)

// Where all sampled rankings have gain 0, only ExpGain has nothing to learn: E[G] = 0 makes
// L2 the constant β, L3 = MLE + β and ConvexLoss = MLE + β (Δ = 1 for all rankings), each
// with MLE's derivatives.
func TestSampleWithoutGain(t *testing.T) {
	const beta = 3
	grades := make([]float64, 34)
	for i := 30; i < len(grades); i++ {
		grades[i] = 1
	}
	// Walks of 5 steps from the worst ranking reach no good document into the first ten.
	o := Options{Form: Sampled, Gain: additive(t, "ndcg@10"), Beta: beta, Sampler: sample.Options{Samples: 50, Steps: 5, Thin: 1}}
	bind := func(l loss.Loss) loss.QueryLoss {
		bound, err := l.Bind(grades, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatalf("%T: %v", l, err)
		}
		return bound
	}
	if bind(ExpGain{o}) != loss.Nothing {
		t.Error("ExpGain learns from rankings without gain")
	}
	scores, scratch := make([]float64, len(grades)), new(loss.Scratch)
	for i := range scores {
		scores[i] = math.Sin(float64(i))
	}
	mle, want := bind(MLE{o}), make([]float64, len(grades))
	value := mle.Eval(scores, want, scratch)
	if value == 0 || want[0] == 0 {
		t.Fatal("MLE learns nothing, so the comparison says nothing")
	}
	for name, c := range map[string]struct {
		l      loss.Loss
		value  float64
		lambda float64 // times MLE's
	}{
		"L2": {L2{o}, beta, 0}, "L3": {L3{o}, value + beta, 1}, "ConvexLoss": {ConvexLoss{o}, value + beta, 1},
	} {
		lambda := make([]float64, len(grades))
		if got := bind(c.l).Eval(scores, lambda, scratch); !near(got, c.value, 1e-12) {
			t.Errorf("%s: %v, expected %v", name, got, c.value)
		}
		for i, v := range lambda {
			if !near(v, c.lambda*want[i], 1e-12) {
				t.Errorf("%s: λ[%d] = %v, expected %v", name, i, v, c.lambda*want[i])
			}
		}
	}
}
