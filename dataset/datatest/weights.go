package datatest

import (
	"fmt"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Weighed returns a copy of the data with weights of queries and documents. nil means weights of 1.
func Weighed(t testing.TB, d *dataset.Dataset, queries, documents []float64) *dataset.Dataset {
	t.Helper()
	d = d.Clone()
	if err := d.Weigh(queries, documents); err != nil {
		t.Fatal(err)
	}
	return d
}

// Copies returns the data with every query, and every document in it, repeated as often as its weight says.
// Data with these weights must give the same results.
func Copies(t testing.TB, d *dataset.Dataset, queries, documents []float64) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for i := range d.Queries {
		q := &d.Queries[i]
		var grades []float64
		var x []float32
		for j, g := range q.Grades {
			for range int(documents[q.Start+j]) {
				grades, x = append(grades, g), append(x, q.Row(j)...)
			}
		}
		for k := range int(queries[i]) {
			if err := b.Add(fmt.Sprintf("%s copy %d", q.ID, k), grades, x, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Dataset()
}
