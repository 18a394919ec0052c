package dataset

import (
	"slices"
	"testing"
)

// Scales are the ranges of the columns over all queries, and their ratio leaves out
// constant ones.
func TestScales(t *testing.T) {
	var b Builder
	for _, q := range []struct {
		id string
		x  []float32
	}{{"1", []float32{-1, 5, 1e6, 0, 3, 5, 3e6, 0}}, {"2", []float32{0, 5, -1e6, 0.5}}} {
		if err := b.Add(q.id, make([]float64, len(q.x)/4), q.x, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := b.Dataset()
	if got, want := d.Scales(), []float64{4, 0, 4e6, 0.5}; !slices.Equal(got, want) {
		t.Errorf("scales %v, want %v", got, want)
	}
	if got := d.ScaleRatio(); got != 8e6 {
		t.Errorf("ratio %v, want 8e6", got)
	}
	var none Builder
	if err := none.Add("1", []float64{1, 0}, []float32{2, 2}, nil); err != nil {
		t.Fatal(err)
	}
	if got := none.Dataset().ScaleRatio(); got != 1 {
		t.Errorf("ratio %v of constant features, want 1", got)
	}
}
