package block

import (
	"runtime"
	"testing"
)

// A block is all zeros and may be written from end to end, whether its memory is
// new or was used before.
func TestBlocksAreZero(t *testing.T) {
	for _, n := range []int{0, 1, Huge - 1, Huge, 3*Huge + 7} {
		for range 3 { // the second finds what the first left
			x := New(n)
			if len(x) != n {
				t.Fatalf("%d numbers, expected %d", len(x), n)
			}
			for i := range x {
				if x[i] != 0 {
					t.Fatalf("number %d of %d is %v, expected 0", i, n, x[i])
				}
				x[i] = float32(i + 1)
			}
			for i := range x {
				if x[i] != float32(i+1) {
					t.Fatalf("number %d of %d became %v", i, n, x[i])
				}
			}
			runtime.GC()
		}
	}
}
