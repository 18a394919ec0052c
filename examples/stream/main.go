// Command stream trains on data that do not fit into memory. Their features stay on disk and are read query by query.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/listwise/listwise"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/synth"
)

const limit = 1 << 20 // bytes of memory for data

func main() {
	dir, err := os.MkdirTemp("", "stream")
	check(err)
	text, cache := filepath.Join(dir, "train.txt"), filepath.Join(dir, "train.lwd")
	shape, err := synth.Lookup("mq2008")
	check(err)
	made, err := shape.Generate(shape.Defaults) // small here
	check(err)
	check(datafile.Write(text, made, datafile.TextOptions{}))

	// Convert once. The converter has a few queries in memory at a time.
	c, err := datafile.Convert(datafile.Conversion{Inputs: []string{text}, Out: cache, Options: dataset.Options{MaxBytes: limit}})
	check(err)
	// Open the cache. A data set above the limit is streamed: Queries[i].X is nil, and Reader reads the queries.
	data, err := datafile.Open(cache, dataset.Options{Stream: true, MaxBytes: limit})
	check(err)
	fmt.Printf("features: %d KiB, limit: %d KiB, streamed: %t\n", c.Documents*c.Features*4>>10, limit>>10, data.Streamed())

	// Train and score as usual. The weights have the same bits as after a training in memory.
	streamed, err := listwise.Train(context.Background(), data, listwise.Options{Method: "listnet"})
	check(err)
	scores, err := streamed.Score(data)
	check(err)
	whole, err := datafile.Open(text, dataset.Options{})
	check(err)
	inMemory, err := listwise.Train(context.Background(), whole, listwise.Options{Method: "listnet"})
	check(err)
	fmt.Printf("%d scores; same weights as in memory: %t\n", len(scores), slices.Equal(streamed.Params, inMemory.Params))
	check(errors.Join(data.Close(), os.RemoveAll(dir)))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
