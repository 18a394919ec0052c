package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestParseLambda: every name reads back, and errors list the names.
func TestParseLambda(t *testing.T) {
	for i, info := range Lambdas() {
		k, err := ParseLambda(info.Name)
		if err != nil || int(k) != i || k.String() != info.Name {
			t.Errorf("%s reads as %v, %v", info.Name, k, err)
		}
		if info.Explanation == "" || strings.Contains(info.Explanation, "\n") {
			t.Errorf("%s is explained by %q", info.Name, info.Explanation)
		}
	}
	_, err := ParseLambda("steep")
	if err == nil {
		t.Fatal("steep reads")
	}
	if want := `lambda function "steep", expected logistic, step, spring, logistic-nearest, step-nearest, spring-nearest or difference`; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if got := Lambda(40).String(); got != "Lambda(40)" {
		t.Errorf("an unknown one is called %s", got)
	}
}

// TestLambdaRankRefuses: options out of range are errors that name them.
func TestLambdaRankRefuses(t *testing.T) {
	m := additive(t, "ndcg@10")
	for want, l := range map[string]LambdaRank{
		"no measure":                        {},
		"lambda function 7, expected":       {Measure: m, Kind: 7},
		"lambda function -1":                {Measure: m, Kind: -1},
		"truncation -2":                     {Measure: m, Truncation: -2},
		"margin -1":                         {Measure: m, Margin: -1},
		"margin NaN":                        {Measure: m, Margin: math.NaN()},
		"alpha -1":                          {Measure: m, Alpha: -1},
		"alpha NaN":                         {Measure: m, Alpha: math.NaN()},
		"alpha +Inf":                        {Measure: m, Alpha: math.Inf(1)},
		"sigma -1":                          {Measure: m, Sigma: -1},
		"sigma 2: the lambda function step": {Measure: m, Kind: LambdaStep, Sigma: 2},
		"truncation 5: the lambda function difference": {Measure: m, Kind: LambdaDifference, Truncation: 5},
	} {
		if _, err := l.Bind([]float64{0, 1}, seedOfTies()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	_, err := LambdaRank{Measure: m}.Bind([]float64{0, 2000, 1}, seedOfTies())
	if err == nil || !strings.Contains(err.Error(), "ndcg@10: the gains of grade 2000 overflow") {
		t.Errorf("error %v for a grade of 2000", err)
	}
}

// TestNothingToRank: without a relevant document, or with relevant ones only, the loss is
// Nothing.
func TestNothingToRank(t *testing.T) {
	for name, queries := range map[string][][]float64{
		"ndcg@10": {{0, 0, 0}, {3}, {2, 2}}, "map": {{0, 0}, {1, 2}, {0.5, 0}}, "mrr": {{0}, {1, 1}}, "err": {{0, 0}},
	} {
		for _, grades := range queries {
			bound, err := LambdaRank{Measure: additiveOrOther(t, name)}.Bind(grades, seedOfTies())
			if err != nil || bound != Nothing {
				t.Errorf("%s of grades %v: %v, %v", name, grades, bound, err)
			}
		}
	}
}

// TestTiesAreDrawnOnce: equal scores stand in an order that Bind draws, independent of the
// order of the file, and that no evaluation changes.
func TestTiesAreDrawnOnce(t *testing.T) {
	grades := []float64{3, 2, 1, 0, 0, 0, 0, 0, 0, 0}
	values := map[float64]int{}
	for seed := range uint64(40) {
		bound, err := LambdaRank{Measure: additive(t, "ndcg@5")}.Bind(grades, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		var scratch Scratch
		v := bound.Eval(make([]float64, len(grades)), nil, &scratch)
		bound.Eval(normals(rand.New(rand.NewPCG(1, 1)), len(grades), 1), nil, &scratch)
		if again := bound.Eval(make([]float64, len(grades)), nil, &scratch); again != v {
			t.Errorf("tied scores have the value %v, then %v", v, again)
		}
		values[v]++
	}
	if len(values) < 20 {
		t.Errorf("40 seeds give %d values only", len(values))
	}
}

// TestTruncationChangesNothingBelowTheCutOff: λ_ij is 0 where a swap does not change the
// measure, so a truncation at the measure's cutoff changes nothing, and a smaller one
// does.
func TestTruncationChangesNothingBelowTheCutOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	grades, s := gradesOf(rng, 50), normals(rng, 50, 1)
	for _, name := range []string{"ndcg@10", "err@10", "p@10"} {
		m := additiveOrOther(t, name)
		full := evaluate(t, LambdaRank{Measure: m}, grades, s)
		for _, truncation := range []int{10, 30} {
			same := evaluate(t, LambdaRank{Measure: m, Truncation: truncation}, grades, s)
			if !slices.Equal(full.lambda, same.lambda) {
				t.Errorf("%s: a truncation at %d changes λ", name, truncation)
			}
		}
		if fewer := evaluate(t, LambdaRank{Measure: m, Truncation: 3}, grades, s); slices.Equal(full.lambda, fewer.lambda) {
			t.Errorf("%s: a truncation at 3 does not change λ", name)
		}
	}
}

// TestLambdaRankFollowsItsLambda: with small steps along λ, from tied scores, every
// λ function sorts a list.
func TestLambdaRankFollowsItsLambda(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	grades := gradesOf(rng, 15)
	for k := range lambdas {
		for _, name := range []string{"ndcg", "map", "err"} {
			l := LambdaRank{Measure: additiveOrOther(t, name), Kind: Lambda(k)}
			bound, err := l.Bind(grades, seedOfTies())
			if err != nil {
				t.Fatal(err)
			}
			s, lambda := make([]float64, len(grades)), make([]float64, len(grades))
			var scratch Scratch
			first := bound.Eval(s, lambda, &scratch)
			best := first
			for range 3000 {
				best = min(best, bound.Eval(s, lambda, &scratch))
				top := max(slices.Max(lambda), -slices.Min(lambda))
				for i := range s {
					if top > 0 {
						s[i] += 0.01 * lambda[i] / top
					}
				}
			}
			if best > 0.25*first {
				t.Errorf("%v %s: the cost goes from %v to %v only", Lambda(k), name, first, best)
			}
		}
	}
}
