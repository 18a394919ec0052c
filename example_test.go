package listwise_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/floats"

	"github.com/listwise/listwise"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune"
)

var ndcg10 = measure.MustParse("ndcg@10", measure.Standard)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Learn from a file of judged queries, and see what the model is worth on another.
func Example() {
	data, err := datafile.Open("testdata/train.txt", dataset.Options{})
	check(err)
	m, err := listwise.Train(context.Background(), data, listwise.Options{Method: "convexloss", Measure: "ndcg@10"})
	check(err)

	test, err := datafile.Open("testdata/test.txt", dataset.Options{})
	check(err)
	scores, err := m.Score(test)
	check(err)
	result, err := measure.Evaluate(test, scores, []measure.Measure{ndcg10}, measure.TiesAverage)
	check(err)
	fmt.Printf("NDCG@10 %.3f on %d queries\n", result.Mean(ndcg10), len(test.Queries))
	// Output:
	// NDCG@10 0.702 on 16 queries
}

// Load a model and rank incoming documents, one query at a time.
func ExampleRank() {
	m, err := listwise.Load("testdata/model.json")
	check(err)
	queries := [][][]float32{
		{{0.1, 0.9, 0.3, 0.2, 0.5}, {0.8, 0.1, 0.7, 0.9, 0.4}, {0.4, 0.4, 0.4, 0.4, 0.4}},
		{{1, 1, 0, 0, 0}, {0, 0, 1, 1, 1}},
	}
	for _, documents := range queries {
		order, err := listwise.Rank(m, documents)
		check(err)
		fmt.Println(order)
	}
	// Output:
	// [1 0 2]
	// [0 1]
}

// Score one query's documents without copies and without allocation.
func ExampleModel_ScoreQuery() {
	m, err := listwise.Load("testdata/model.json")
	check(err)
	x := []float32{ // a document a line
		0.1, 0.9, 0.3, 0.2, 0.5,
		0.8, 0.1, 0.7, 0.9, 0.4,
	}
	scores := make([]float64, 2)
	check(m.ScoreQuery(scores, x))
	fmt.Printf("%.2f\n", scores)
	// Output:
	// [5.45 5.64]
}

// squares is a loss of one's own: the sum of (grade − score)².
type squares []float64 // the grades

func (squares) Traits() loss.Traits { return loss.Traits{Convex: true, Smooth: true} }
func (squares) Bind(grades []float64, _ *rand.Rand) (loss.QueryLoss, error) {
	return squares(grades), nil
}
func (grades squares) Eval(scores, lambda []float64, _ *loss.Scratch) float64 {
	d := floats.SubTo(make([]float64, len(scores)), grades, scores)
	for i := range lambda {
		lambda[i] = 2 * d[i]
	}
	return floats.Dot(d, d)
}

// penalty is a setting of one's own.
type penalty struct{ C float64 }

// Train a loss of one's own, linear and as a network, tuned on folds; save, load and score.
func Example_ownLoss() {
	dir, err := os.MkdirTemp("", "listwise")
	check(err)
	defer os.RemoveAll(dir)
	_, err = datafile.Fold(context.Background(), dir, "testdata/train.txt", 4, 1, dataset.Options{}, nil)
	check(err)
	folds, err := tune.ReadFolds(dir, dataset.Options{})
	check(err)
	c := tune.Config{Folds: folds, Select: ndcg10}
	for _, a := range []train.Architecture{train.Linear, train.Network(4, scorer.Tanh)} {
		c.Entries = append(c.Entries, tune.OwnOf(a(1).Kind(), []penalty{{1}, {100}}, func(s penalty) (loss.Loss, train.Learner, error) {
			return squares{}, train.LBFGS{Architecture: a, C: s.C}, nil
		}))
	}
	r, err := tune.Run(context.Background(), c)
	check(err)
	for _, row := range r.Rows {
		path := filepath.Join(dir, row.Entry.Name)
		check(row.Folds[0].Model.Save(path))
		m, err := listwise.Load(path)
		check(err)
		scores, err := m.Score(folds[0].Test)
		check(err)
		fmt.Printf("%s: %d scores, pooled NDCG@10 %.2f\n", m.Scorer.Kind(), len(scores), row.Measures[0].Pooled)
	}
	// Output:
	// linear: 57 scores, pooled NDCG@10 0.70
	// net: 57 scores, pooled NDCG@10 0.70
}

// Compare two systems of which only scores are known: NDCG@10 and a paired test.
func Example_compareScores() {
	rng := rand.New(rand.NewPCG(1, 2))
	var grades, good, poor [][]float64
	for range 30 {
		var g, a, b []float64
		for range 20 {
			grade := float64(rng.IntN(3))
			g = append(g, grade)
			a, b = append(a, grade+rng.NormFloat64()), append(b, grade+3*rng.NormFloat64())
		}
		grades, good, poor = append(grades, g), append(good, a), append(poor, b)
	}
	var results []*measure.Result
	for _, scores := range [][][]float64{good, poor} {
		r, err := measure.EvaluateLists(grades, scores, []measure.Measure{ndcg10}, measure.TiesAverage)
		check(err)
		results = append(results, r)
	}
	c, err := measure.Compare(ndcg10, stats.Config{Baseline: -1, Permutations: 10_000, Resamples: 1000, Seed: 1}, results...)
	check(err)
	fmt.Printf("difference %.3f, p %.4f\n", c.Pairs[0].Difference, c.Pairs[0].Randomization.P)
	// Output:
	// difference 0.179, p 0.0001
}
