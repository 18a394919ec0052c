package loss

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// peerCase is what another program makes of a query: see tools/trees/gradients.py.
type peerCase struct {
	Program          string
	Settings         map[string]any
	Top              int
	Sigma            float64
	SumNorm, GapNorm bool
	ExponentialGain  bool
	Grades, Scores   []float64
	Gradient, Second []float64
}

// TestLambdasOfPeers: LambdaRank's λ and second derivatives are minus the gradients and the
// second derivatives of LightGBM's and XGBoost's lambdarank, in each one's settings; XGBoost
// doubles the latter.
func TestLambdasOfPeers(t *testing.T) {
	text, err := os.ReadFile("testdata/lambdas.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []peerCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 30 {
		t.Errorf("%d cases", len(cases))
	}
	for _, c := range cases {
		convention, twice := "standard", 1.0
		if !c.ExponentialGain {
			convention = "trec"
		}
		if strings.HasPrefix(c.Program, "XGBoost") {
			twice = 2
		}
		parsed, err := measure.ParseConvention(convention)
		if err != nil {
			t.Fatal(err)
		}
		l := LambdaRank{
			Measure: measure.MustParse("ndcg", parsed), Sigma: c.Sigma, Truncation: c.Top, SumNorm: c.SumNorm, GapNorm: c.GapNorm,
		}
		ideal := 1.0
		if !c.SumNorm && !c.GapNorm {
			// Without a norm NDCG is that of whole lists; the others divide by the ideal
			// DCG of the ranks that count.
			if n := newLambdaNorm(LambdaRank{Measure: l.Measure, Truncation: c.Top, SumNorm: true}, c.Grades, PairWeights{}); n.ideal != 0 {
				ideal = n.ideal
			}
		}
		n := len(c.Grades)
		lambda, second := make([]float64, n), make([]float64, n)
		bind(t, l, c.Grades).(Diagonal).EvalSecond(c.Scores, lambda, second, new(Scratch))
		for i := range lambda {
			got, want := ideal*lambda[i], -c.Gradient[i]
			if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s %v: λ of document %d is %v, want %v", c.Program, c.Settings, i, got, want)
			}
			got, want = twice*ideal*second[i], c.Second[i]
			if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s %v: second derivative of document %d is %v, want %v", c.Program, c.Settings, i, got, want)
			}
		}
	}
}
