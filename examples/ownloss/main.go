// Command ownloss tunes a loss of its own on four scorers, and compares them with a method of the catalogue.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// huber is quadratic in an error up to Delta, and linear above. Its exported fields are hyperparameters.
type huber struct{ Delta float64 }

// Traits returns the properties of the loss. L-BFGS certifies the minimum of a convex loss.
func (huber) Traits() loss.Traits { return loss.Traits{Convex: true, Smooth: true} }

// Bind prepares the loss for a query. Numeric needs only the value, and computes the derivatives by differences. That is
// slow, so once the idea works, return a loss.QueryLoss that computes them.
func (h huber) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return loss.Numeric{Name: "huber", Properties: h.Traits(), Value: h.value}.Bind(grades, rng)
}

func (h huber) value(grades []float64) func(scores []float64) float64 {
	return func(scores []float64) (sum float64) {
		for i, s := range scores {
			e := math.Abs(s - grades[i])
			square := min(e, h.Delta) // the part of the error in which the loss is quadratic
			sum += square * (e - square/2)
		}
		return sum
	}
}

func main() {
	ndcg := measure.MustParse("ndcg@10", measure.Standard)
	// A method has a loss, and the scorers, learners, defaults and grids of the catalogue. Fields of the loss have no default grid.
	own := must(method.Gradient("huber", huber{Delta: 1}))
	entries := must(tune.NewEntries(own, map[string][]string{"Delta": {"0.5", "1"}}))
	entries = append(entries, must(tune.NewEntry(must(method.Lookup("listnet")), nil)))
	r := must(tune.Run(context.Background(), tune.Config{
		Folds:   []tune.Fold{{Name: "made", Train: made(1), Valid: made(2), Test: made(3)}},
		Entries: entries, Select: ndcg, Budget: tune.Budget{Settings: 8}, // of each grid, at random
	}))
	for _, row := range r.Rows {
		fmt.Printf("%-12s NDCG@10 %.3f, λ %s\n", row.Entry.Name, row.Measures[0].Mean, cmp.Or(row.Folds[0].Model.Training.Lambda, "derived"))
	}
	for _, p := range must(r.Compare(ndcg, stats.Config{Baseline: len(entries) - 1})).Pairs {
		fmt.Printf("%s - listnet: %+.3f, p = %.3f (Holm)\n", entries[p.A].Name, p.Difference, p.Randomization.Holm)
	}
}

// made returns queries of one task, which differ by the seed.
func made(seed uint64) *dataset.Dataset {
	return must(must(synth.Lookup("ohsumed")).Generate(synth.Options{Queries: 20, Docs: 10, Features: 5, Relevant: 3, Noise: 1, Seed: seed}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
