package train_test

import (
	"context"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// A loss and a learner make a model.
func ExampleRun() {
	var b dataset.Builder
	for _, id := range []string{"1", "2", "3"} {
		grades, x := []float64{2, 1, 0}, []float32{0.9, 0.5, 0.5, 0.2, 0.1, 0.6}
		if err := b.Add(id, grades, x, nil); err != nil {
			panic(err)
		}
	}
	m, err := train.Run(context.Background(), &train.Problem{
		Data: b.Dataset(), Loss: loss.ListNet{}, Learner: train.LBFGS{C: 10, Tolerance: 1e-9, Iterations: 100},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Scorer.Kind(), m.Params[0] > 0, *m.Training.Converged)
	// Output:
	// linear true true
}
