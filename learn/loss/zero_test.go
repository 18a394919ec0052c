package loss

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// Claim: the zero value of every loss is the loss that its documentation says, or an error
// that says what it lacks.
func TestZeroLosses(t *testing.T) {
	grades, scores := []float64{0, 2, 1, 0, 1, 3}, []float64{0.3, -1, 0.2, 0.9, 0.1, 0.4}
	for _, c := range []struct {
		zero, full Loss
		want       string // part of zero's error
	}{
		{ApproxNDCG{}, ApproxNDCG{Convention: measure.Standard, Alpha: 10}, ""},
		{SoftRank{}, SoftRank{Convention: measure.Standard, Sigma: 1, Cutoff: len(grades)}, ""},
		{LambdaLoss{}, LambdaLoss{Convention: measure.Standard, Weights: NDCGLoss2PP, Sigma: 1, Mu: 10}, ""},
		{ListMLE{}, ListMLE{Ties: MLETiesRandom}, ""},
		{ListMLE{Ties: MLETiesAverage}, ListMLE{Ties: MLETiesAverage, Draws: 10}, ""},
		{ListNet{}, ListNet{Top: 1}, ""},
		{RankNet{}, RankNet{Sigma: 1}, ""},
		{RankSVM{}, RankSVM{Weight: 1}, ""},
		{GradedHinge{}, GradedHinge{Convention: measure.Standard, Cutoff: len(grades), Ranks: RootWeights, Weight: 1}, ""},
		{BoltzRank{}, BoltzRank{Alpha: 1, Threshold: 1, Sampler: PermutationOptions{Rankings: 100, Sharpness: []float64{0.5, 1, 2, 4, math.Inf(1)}}}, ""},
		{RankCosine{}, RankCosine{Mapping: LinearMapping}, ""},
		{LambdaRank{}, nil, "no measure to train for"},
		{StructuredHinge{}, nil, "no measure to train for"},
	} {
		zero, err := c.zero.Bind(grades, stream(1))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%T: error is %v, want %s in it", c.zero, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%T: %v", c.zero, err)
			continue
		}
		full, err := c.full.Bind(grades, stream(1))
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]float64, len(grades)), make([]float64, len(grades))
		if a, b := zero.Eval(scores, got, new(Scratch)), full.Eval(scores, want, new(Scratch)); a != b || !slices.Equal(got, want) {
			t.Errorf("%T: the zero value is %v, λ %v; with its defaults %v, %v", c.zero, a, got, b, want)
		}
	}
}
