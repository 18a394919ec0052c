// Command auto lets listwise choose: it tries methods, scorers and forms of the features, and combines the best.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/auto"
)

func main() {
	ndcg := measure.MustParse("ndcg@10", measure.Standard)
	// Trials limits the work. With a Budget in its place, the number of trials depends on the machine.
	r, err := auto.Run(context.Background(), auto.Config{Data: made(1), Trials: 4, Tune: tune.Config{Select: ndcg, Seed: 1}})
	check(err)
	for _, c := range r.Candidates {
		fmt.Printf("%-25s NDCG@10 %.3f, members: %d\n", c.Name, c.Mean, c.Members)
	}
	fmt.Println("chosen:", r.Chosen.Name)
	for _, m := range r.Members {
		fmt.Printf("  %.2f × %s\n", m.Weight, m.Entry.Name)
	}

	// Nested validation predicts the measure on other queries, with a 95 % interval.
	test := made(2)
	scores, err := r.Model.Score(test)
	check(err)
	result, err := measure.Evaluate(test, scores, []measure.Measure{ndcg}, measure.TiesAverage)
	check(err)
	fmt.Printf("predicted %.3f [%.3f, %.3f], on test data %.3f\n", r.Nested.Mean, r.Nested.Interval.Low, r.Nested.Interval.High, result.Mean(ndcg))
}

// made returns queries of the same task, which differ by the seed.
func made(seed uint64) *dataset.Dataset {
	shape, err := synth.Lookup("ohsumed")
	check(err)
	d, err := shape.Generate(synth.Options{Queries: 40, Docs: 10, Features: 5, Relevant: 4, Noise: 1, Seed: seed})
	check(err)
	return d
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
