// Command tune searches hyperparameters on folds. It trains every setting on the training data, selects on the validation
// data and measures on the test data.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune"
)

// size is a setting of our network. Results record its fields by name.
type size struct {
	Hidden int
	C      float64
}

func main() {
	// Two folds of made data. tune.ReadFolds reads folds in LETOR's layout. With Dir, the run keeps models and results, and
	// can be resumed.
	a, b, c := made(1), made(2), made(3)
	config := tune.Config{
		Folds:  []tune.Fold{{Name: "Fold1", Train: a, Valid: b, Test: c}, {Name: "Fold2", Train: b, Valid: c, Test: a}},
		Select: measure.MustParse("ndcg@10", measure.Standard), Seed: 1,
	}
	// A method of the catalogue, with our grid of C. Other hyperparameters keep their defaults or default grids.
	listnet := must(tune.NewEntry(must(method.Lookup("listnet")), map[string][]string{"C": {"0.01", "1", "100"}}))
	// A learner of our own choice, with typed settings.
	network := tune.OwnOf("network", []size{{1, 100}, {4, 100}, {4, 1}}, func(s size) (loss.Loss, train.Learner, error) {
		return loss.ListNet{}, train.Descent{Architecture: train.Network(s.Hidden, scorer.Tanh), C: s.C, Epochs: 20}, nil
	})
	config.Entries = []tune.Entry{listnet, network}
	for _, row := range must(tune.Run(context.Background(), config)).Rows {
		fmt.Printf("%s: mean test NDCG@10 %.3f\n", row.Entry.Name, row.Measures[0].Mean)
		for _, f := range row.Folds {
			fmt.Printf("  %s: validation %.3f of %.3f, C=%s\n", f.Fold, f.Validation, f.Tried, f.Chosen.Text("C"))
		}
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
