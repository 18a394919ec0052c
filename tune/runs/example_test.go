package runs_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune/runs"
)

// Record a training. "listwise runs list" in the same folder then lists it.
func ExampleStore_Train() {
	dir, err := os.MkdirTemp("", "listwise")
	check(err)
	defer os.RemoveAll(dir)
	record, err := runs.Open(dir, runs.Patience)
	check(err)
	data, err := datafile.Open("../../testdata/train.txt", dataset.Options{})
	check(err)
	_, err = record.Train(context.Background(), &train.Problem{
		Data: data, Loss: loss.ListNet{}, Learner: train.LBFGS{Architecture: train.Linear, C: 1}, Method: "my listnet",
	})
	check(err)
	list, err := record.List(runs.Filter{})
	check(err)
	fmt.Println(list[0].ID, list[0].Kind, list[0].Methods[0], list[0].Status, list[0].Data[0].Queries)
	check(record.Close())
	// Output:
	// 1 train my listnet finished 16
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
