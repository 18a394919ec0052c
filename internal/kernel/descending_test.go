package kernel

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSortDescending compares the losses' merge sort with the library's.
func TestSortDescending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.Float64Range(-3, 3), 0, 100).Draw(t, "keys")
		for i, k := range keys {
			if i%2 == 0 {
				keys[i] = math.Round(k) // ties
			}
		}
		n := len(keys)
		places := make([]float64, n)
		for i := range places {
			places[i] = float64(i)
		}
		want := slices.Clone(places)
		slices.SortStableFunc(want, func(i, j float64) int { return cmp.Compare(keys[int(j)], keys[int(i)]) })
		sorted := slices.Clone(keys)
		SortDescending(sorted, places, make([]float64, n), make([]float64, n))
		if !slices.Equal(places, want) {
			t.Fatalf("order %v, want %v", places, want)
		}
		for i, at := range places {
			if sorted[i] != keys[int(at)] {
				t.Fatalf("keys %v do not go with places %v", sorted, places)
			}
		}
	})
}
