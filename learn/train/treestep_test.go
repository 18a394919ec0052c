package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
)

// Claim: where a loss has no second derivatives, its unit does not matter: neither the line
// search nor plain steps along λ that is no gradient learn another model from a multiple of
// it (by a power of two, so that all is exact).
func TestTreesKnowNoUnit(t *testing.T) {
	d := curved(t, 20, 7)
	learner := Trees{Rounds: 15, Rate: 0.1, Options: tree.Options{Leaves: 6, LeafDocuments: 5}}
	one, _ := trained(t, &Problem{Data: d, Loss: loss.RankSVM{}, Learner: learner})
	large, _ := trained(t, &Problem{Data: d, Loss: loss.RankSVM{Weight: 1 << 20}, Learner: learner})
	if !slices.Equal(one, large) {
		t.Error("a multiple of a loss learns another model by line search")
	}
	lambda := loss.LambdaRank{Measure: measure.MustParse("ndcg", measure.LETOR3), Kind: loss.LambdaStep}
	one, _ = trained(t, &Problem{Data: d, Loss: lambda, Learner: learner})
	large, _ = trained(t, &Problem{Data: d, Loss: times{lambda, 1 << 20}, Learner: learner})
	if !slices.Equal(one, large) {
		t.Error("a multiple of a loss learns another model by plain steps")
	}
}

// times is a multiple of a loss, without its second derivatives.
type times struct {
	loss.Loss
	factor float64
}

func (l times) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	b, err := l.Loss.Bind(grades, rng)
	if b == loss.Nothing || err != nil {
		return b, err
	}
	return boundTimes{b, l.factor}, nil
}

type boundTimes struct {
	bound  loss.QueryLoss
	factor float64
}

func (b boundTimes) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	value := b.bound.Eval(scores, lambda, scratch)
	for i := range lambda {
		lambda[i] *= b.factor
	}
	return b.factor * value
}

// Claim: the line search finds the minimum along a tree. With a rate of 1 and least squares
// without second derivatives, a tree's step is the Newton step, to the digits of the search.
func TestTreeSearchFindsTheNewtonStep(t *testing.T) {
	d := curved(t, 20, 8)
	learner := Trees{Rounds: 1, Rate: 1, Options: tree.Options{Leaves: 6, LeafDocuments: 5}}
	newton, _ := trained(t, &Problem{Data: d, Loss: loss.SquaredError{}, Learner: learner})
	searched, _ := trained(t, &Problem{Data: d, Loss: times{loss.SquaredError{}, 1}, Learner: learner})
	var first float64
	for i, v := range newton {
		if v == 0 {
			continue
		}
		if first == 0 {
			first = searched[i] / v
		}
		if ratio := searched[i] / v; math.Abs(ratio-first) > 1e-9 {
			t.Fatalf("document %d: %v, by Newton %v; another one %v times as much", i, searched[i], v, first)
		}
	}
	// The slope at the step is at most half of that at its start.
	if first < 0.5 || first > 1.5 {
		t.Errorf("the step is %v times Newton's", first)
	}
}

// Claim: rules of λ without derivatives, which are no gradients, raise the measure that they
// are made for by plain steps.
func TestPlainStepsRaiseTheMeasure(t *testing.T) {
	d := curved(t, 30, 9)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	for _, kind := range []loss.Lambda{loss.LambdaStep, loss.LambdaStepNearest, loss.LambdaDifference} {
		var objectives []float64
		p := &Problem{
			Data: d, Loss: loss.LambdaRank{Measure: ndcg, Kind: kind}, Seed: 1,
			Learner: Trees{Rounds: 60, Rate: 0.1, Options: tree.Options{Leaves: 6, LeafDocuments: 5}},
			Observe: func(it Iteration) { objectives = append(objectives, it.Objective) },
		}
		trained(t, p)
		f, err := objective.NewFunctional(d, p.Loss, 1, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := f.Eval(make([]float64, d.Docs()), nil)
		if last := objectives[len(objectives)-1]; len(objectives) != 60 || last > before/4 {
			t.Errorf("%v: %d trees, Σ 1 − NDCG@10 over %d queries goes from %v to %v", kind, len(objectives), len(d.Queries), before, last)
		}
	}
}

// Claim: what a loss draws is drawn before every tree if that is asked for: the model is
// another one from the second tree on, and the same for any number of workers. A search that
// goes along a tree of half the queries ends in no rise of the whole loss.
func TestTreesRedraw(t *testing.T) {
	d := curved(t, 20, 10)
	run := func(rounds, workers int, redraw bool) []float64 {
		learner := Trees{Rounds: rounds, Rate: 0.1, Redraw: redraw, Options: tree.Options{Leaves: 6, LeafDocuments: 5}}
		scores, _ := trained(t, &Problem{Data: d, Loss: loss.ListMLE{}, Learner: learner, Seed: 3, Workers: workers})
		return scores
	}
	if !slices.Equal(run(1, 1, true), run(1, 1, false)) {
		t.Error("the first tree is another one")
	}
	if slices.Equal(run(5, 1, true), run(5, 1, false)) {
		t.Error("nothing is drawn anew")
	}
	if !slices.Equal(run(5, 1, true), run(5, 3, true)) {
		t.Error("other workers learn another model")
	}
	var objectives []float64
	learner := Trees{Rounds: 30, Rate: 0.05, QueryFraction: 0.5, Options: tree.Options{Leaves: 6, LeafDocuments: 5}}
	trained(t, &Problem{Data: d, Loss: loss.RankSVM{}, Learner: learner, Observe: func(it Iteration) { objectives = append(objectives, it.Objective) }})
	for i, v := range objectives[1:] {
		if v >= objectives[i] {
			t.Errorf("with half the queries the loss goes from %v to %v in round %d", objectives[i], v, i+2)
		}
	}
}

// Claim: weights of 1 learn the model without weights; those of documents that are better count
// by query, so that queries of weight 0 teach nothing: the model is that of the others' data.
// What does not take weights refuses them.
func TestTreesWeigh(t *testing.T) {
	d := curved(t, 20, 15)
	ndcg := measure.MustParse("ndcg", measure.LETOR3)
	learner := Trees{Rounds: 8, Rate: 0.2, Options: tree.Options{Leaves: 6, LeafCurvature: 1e-3}}
	ones, some := make([]float64, d.Docs()), make([]float64, d.Docs())
	for i := range ones {
		ones[i] = 1
		if i >= d.Queries[10].Start {
			some[i] = 1
		}
	}
	run := func(w loss.PairWeights) []float64 {
		scores, _ := trained(t, &Problem{Data: d, Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Learner: learner, Weights: w})
		return scores
	}
	plain, half := run(loss.PairWeights{}), run(loss.PairWeights{Better: some})
	if !slices.Equal(plain, run(loss.PairWeights{Better: ones, Worse: ones})) {
		t.Error("weights of 1 learn another model")
	}
	if slices.Equal(plain, half) {
		t.Error("weights change nothing")
	}
	// The first half teaches nothing: other grades there learn the same.
	for i := range d.Queries[:10] {
		slices.Reverse(d.Queries[i].Grades)
	}
	if !slices.Equal(half, run(loss.PairWeights{Better: some})) {
		t.Error("queries of weight 0 teach")
	}
	for name, p := range map[string]*Problem{
		"no pairs":        {Loss: loss.ListNet{}, Learner: learner, Weights: loss.PairWeights{Better: ones}},
		"another learner": {Loss: loss.LambdaRank{Measure: ndcg}, Learner: Descent{}, Weights: loss.PairWeights{Better: ones}},
		"too few":         {Loss: loss.LambdaRank{Measure: ndcg}, Learner: learner, Weights: loss.PairWeights{Better: ones[1:]}},
	} {
		p.Data = d
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "weights of documents in pairs") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	one, two := Problem{Data: d, Weights: loss.PairWeights{Better: ones}}, Problem{Data: d, Weights: loss.PairWeights{Worse: ones}}
	if one.identity() == two.identity() || one.identity() == (&Problem{Data: d}).identity() {
		t.Error("checkpoints do not tell weights apart")
	}
}
