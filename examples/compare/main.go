// Command compare tests whether two methods differ by more than chance, against a baseline on the same queries.
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

func main() {
	ndcg := measure.MustParse("ndcg@10", measure.Standard)
	problem, test := &method.Problem{Problem: train.Problem{Data: made(1), Valid: made(2), Measure: ndcg, Seed: 1}}, made(3)
	methods := []string{"singlefeature", "regression", "listnet"}
	// The tests need a value for each system and query, because queries are the units of the tests.
	values := make([][]float64, len(methods))
	for i, name := range methods {
		m := must(must(method.Lookup(name)).Train(context.Background(), problem))
		values[i] = must(measure.Evaluate(test, must(m.Score(test)), []measure.Measure{ndcg}, measure.TiesInput)).PerQuery(ndcg)
	}
	// The zero configuration compares all systems with the first. Fewer random draws than by default make this fast.
	c := must(stats.Compare(values, stats.Config{Permutations: 10_000, Resamples: 1000, Seed: 1}))
	for i, s := range c.Systems {
		fmt.Printf("%-13s %.3f [%.3f, %.3f]\n", methods[i], s.Mean, s.Interval.Low, s.Interval.High)
	}
	// Holm's correction keeps the probability of any false positive below 0.05. A true difference of less than Detectable
	// would probably go unnoticed.
	for _, p := range c.Pairs {
		fmt.Printf("%s - %s: %.3f [%.3f, %.3f], p = %.4f (Holm), detectable %.3f\n",
			methods[p.A], methods[p.B], p.Difference, p.Interval.Low, p.Interval.High, p.Randomization.Holm, p.Detectable)
	}
}

// made returns queries of one task, which differ by the seed.
func made(seed uint64) *dataset.Dataset {
	return must(must(synth.Lookup("ohsumed")).Generate(synth.Options{Queries: 60, Docs: 10, Features: 5, Relevant: 3, Noise: 1, Seed: seed}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
