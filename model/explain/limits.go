package explain

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
)

// mostBytes is what the contributions of one query, or of a set, may take. A model file of one
// line may ask for any number of features.
const mostBytes = 1 << 30

// importanceBytes is about what one feature's importance takes.
const importanceBytes = 256

// checkWidth returns an error if a query's features and contributions would take more than
// mostBytes.
func checkWidth(features int, d *dataset.Dataset) error {
	longest := 0
	for i := range d.Queries {
		longest = max(longest, d.Queries[i].Len())
	}
	return checkCells("a query", longest, features, 12) // a float32 and a float64
}

// checkCells returns an error for so many rows and columns if they would take more than
// mostBytes.
func checkCells(what string, rows, columns, bytes int) error {
	if size := float64(rows) * float64(columns) * float64(bytes); size > mostBytes {
		return fmt.Errorf("found %d documents of %d features: to explain %s of them would take %.0f GiB, and at most %d are taken", rows, columns, what, size/(1<<30), mostBytes>>30)
	}
	return nil
}
