package kernel

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// By definition: what is kept stands in its order at the front, and the sum is of the others.
func TestWithoutKeepsTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "n")
		words, values := make([]uint64, n), numbersOfBits(t, n)
		for i := range words {
			words[i] = rapid.SampledFrom([]uint64{0, 1, 1 << 63, 0xffffffff}).Draw(t, "word")
		}
		word := rapid.SampledFrom([]uint64{0, 1, 2}).Draw(t, "dropped word")
		var left, its []uint64
		sum := uint64(0)
		for i, w := range words {
			if w != word {
				left, its = append(left, w), append(its, values[i])
			} else {
				sum += values[i]
			}
		}
		for _, f := range []func(words, kept, values []uint64, word uint64) (int, uint64){Without, withoutGo} {
			got, kept := shifted(words, offsets.Draw(t, "offset")), shifted(make([]uint64, n), offsets.Draw(t, "kept offset"))
			k, dropped := f(got, kept, values, word)
			if k != len(left) || dropped != sum || !slices.Equal(got[:k], left) || !slices.Equal(kept[:k], its) {
				t.Fatalf("%d words %x with %x and the sum %x, want %x with %x and %x", k, got[:k], kept[:k], dropped, left, its, sum)
			}
			for _, v := range append(got[n:cap(got)], kept[n:cap(kept)]...) {
				if v != fence {
					t.Fatalf("%x stands after the slices", v)
				}
			}
		}
	})
}
