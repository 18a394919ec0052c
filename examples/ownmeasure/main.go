// Command ownmeasure selects the epoch of a training by a measure of its own, and reports it and NDCG.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
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
	// LambdaRank optimises NDCG. Select, on the validation data, chooses the epoch.
	m := must(must(method.Lookup("lambdarank")).Train(context.Background(), &method.Problem{
		Problem: train.Problem{Data: made(1), Valid: made(2), Measure: ndcg, Select: own, Seed: 1},
	}))
	fmt.Printf("epoch %d: %.3f on the validation data\n", m.Training.BestEpoch, *m.Training.Validation)
	test := made(3)
	r := must(measure.Evaluate(test, must(m.Score(test)), []measure.Measure{own, ndcg}, measure.TiesInput))
	fmt.Printf("test data: %s %.3f, %s %.3f\n", own.Name(), r.Mean(own), ndcg.Name(), r.Mean(ndcg))
}

// made returns queries of one task, which differ by the seed.
func made(seed uint64) *dataset.Dataset {
	return must(synth.Shapes()[2].Generate(synth.Options{Queries: 40, Docs: 10, Features: 5, Relevant: 3, Noise: 1, Seed: seed}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
