// Command train stops the training of boosted trees by validation data, saves the model and measures it on test data.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/listwise/listwise"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
)

func main() {
	// Every round adds a tree. Training stops 20 rounds after the best NDCG@10 on the validation data, and keeps the
	// trees up to that round.
	m := must(listwise.Train(context.Background(), made(1), listwise.Options{
		Method: "lambdamart", Measure: "ndcg@10", Valid: made(2), Seed: 1,
		Settings: map[string]string{"patience": "20"},
	}))
	fmt.Printf("best of %d rounds: %d, validation NDCG@10 %.3f\n", m.Training.Iterations, m.Training.BestEpoch, *m.Training.Validation)

	dir := must(os.MkdirTemp("", "train"))
	path := filepath.Join(dir, "model.json")
	check(m.Save(path))
	loaded := must(listwise.Load(path))
	test, ndcg := made(3), measure.MustParse("ndcg@10", measure.Standard)
	r := must(measure.Evaluate(test, must(loaded.Score(test)), []measure.Measure{ndcg}, measure.TiesAverage))
	fmt.Printf("the saved model on test data: NDCG@10 %.3f\n", r.Mean(ndcg))
	check(os.RemoveAll(dir))
}

// made returns queries of one task, which differ by the seed. datafile.Open reads them from a file.
func made(seed uint64) *dataset.Dataset {
	return must(must(synth.Lookup("ohsumed")).Generate(synth.Options{Queries: 60, Docs: 10, Features: 5, Relevant: 3, Noise: 1, Seed: seed}))
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
