package tree

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Bins have about equally many documents, a value with more than its share one of its own,
// and every value lies between the bounds of its bin.
func TestBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n = 20000
	x := make([]float32, n)
	for i := range x {
		if x[i] = float32(rng.NormFloat64()); rng.IntN(2) == 0 {
			x[i] = 0
		}
	}
	b, err := NewBins(x, 1, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	cuts := b.cuts[0]
	if len(cuts) < 40 || len(cuts) > 49 || !slices.IsSorted(cuts) {
		t.Fatalf("%d cuts: %v", len(cuts), cuts)
	}
	counts := make([]int, 256)
	for _, v := range x {
		c := b.Code(0, v)
		counts[c]++
		if int(c) < len(cuts) && v > cuts[c] || c > 0 && v <= cuts[c-1] {
			t.Fatalf("%v has code %d of %v", v, c, cuts)
		}
	}
	for c, count := range counts[:len(cuts)+1] {
		if zero := int(b.Code(0, 0)) == c; zero && count < n/2-300 || !zero && (count > 600 || count < 50) {
			t.Errorf("bin %d of %d has %d documents", c, len(cuts)+1, count)
		}
	}
	for _, bad := range []struct{ values, features, most int }{{5, 2, 255}, {4, 2, 1}, {4, 2, 256}, {4, 0, 255}} {
		if _, err := NewBins(make([]float32, bad.values), bad.features, bad.most, 1); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
