package tree

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Keys of any number and range are in the order that comparing puts them in.
func TestSortKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	var spare []uint32
	for _, n := range []int{0, 1, 4095, 4096, 50_000, 20_000} {
		keys := make([]uint32, n)
		mask := uint32(1)<<rng.IntN(32) - 1
		for i := range keys {
			if keys[i] = rng.Uint32(); i%2 == 0 {
				keys[i] &= mask
			}
		}
		want := slices.Sorted(slices.Values(keys))
		if keys, spare = sortKeys(keys, spare); !slices.Equal(keys, want) {
			t.Errorf("%d keys are not sorted", n)
		}
	}
}

func BenchmarkSortKeys(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 1))
	from := make([]uint32, sampleRows)
	for i := range from {
		from[i] = uint32(rng.NormFloat64() * 1e9)
	}
	keys, spare := make([]uint32, len(from)), make([]uint32, len(from))
	b.Run("digits", func(b *testing.B) {
		for b.Loop() {
			copy(keys, from)
			keys, spare = sortKeys(keys, spare)
		}
	})
	b.Run("comparing", func(b *testing.B) {
		for b.Loop() {
			copy(keys, from)
			slices.Sort(keys)
		}
	})
}
