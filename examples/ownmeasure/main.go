// Command ownmeasure selects the epoch of a training by NDCG and by a measure of its own, and tests the difference.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// answer is the measure of an assistant that reads the first document aloud: 1 for a relevant document, and otherwise
// minus the cost of a wrong answer.
type answer struct{ cost float64 }

func (answer) Name() string { return "answer" }

// Value gets the grades of a query in the order of the ranking. false would leave the query out of the mean.
func (a answer) Value(ranked []float64) (float64, bool) {
	if ranked[0] > 0 {
		return 1, true
	}
	return -a.cost, true
}

// Average returns the expected value with documents of equal scores in random order. Validation uses it, so that the
// order of the file does not matter. The documents of the highest score are ranked[:ends[0]].
func (a answer) Average(ranked []float64, ends []int) (sum float64, _ bool) {
	for i := range ends[0] {
		value, _ := a.Value(ranked[i:])
		sum += value / float64(ends[0])
	}
	return sum, true
}

func main() {
	own, ndcg := answer{cost: 0.5}, measure.MustParse("ndcg@10", measure.Standard)
	measures, test := []measure.Measure{ndcg, own}, made(3)
	var results []*measure.Result
	for _, choice := range measures {
		// LambdaRank optimises NDCG. Select, on the validation data, chooses the epoch.
		m := must(must(method.Lookup("lambdarank")).Train(context.Background(), &method.Problem{
			Problem: train.Problem{Data: made(1), Valid: made(2), Measure: ndcg, Select: choice, Seed: 1},
		}))
		fmt.Printf("chosen by %s: epoch %d\n", choice.Name(), m.Training.BestEpoch)
		results = append(results, must(measure.Evaluate(test, must(m.Score(test)), measures, measure.TiesAverage)))
	}
	for _, by := range measures {
		c := must(measure.Compare(by, stats.Config{}, results...))
		fmt.Printf("%s on test data: %.3f and %.3f, p = %.3f\n", by.Name(), c.Systems[0].Mean, c.Systems[1].Mean, c.Pairs[0].Randomization.P)
	}
}

// made returns queries of one task, which differ by the seed.
func made(seed uint64) *dataset.Dataset {
	return must(must(synth.Lookup("ohsumed")).Generate(synth.Options{Queries: 40, Docs: 10, Features: 5, Relevant: 3, Noise: 1, Seed: seed}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
