package tree

import (
	"math/rand/v2"
	"testing"
)

// A slot's codes are the matrix's, whichever slots are kept, and no more are kept than half the
// blocks.
func TestColumnsAreThoseOfTheMatrix(t *testing.T) {
	m := emptyTogether(nearMatrix/2, 4*blockFeatures)
	var c columns
	rng := rand.New(rand.NewPCG(3, 4))
	kept := 0
	for range 200 {
		slot := rng.IntN(2 + rng.IntN(len(m.slots)-2))
		codes := c.of(m, slot, m.rows-rng.IntN(m.rows), 2)
		if codes == nil {
			continue
		}
		kept++
		for range 100 {
			if r := uint32(rng.IntN(m.rows)); codes[r] != m.codeAt(slot, r) {
				t.Fatalf("row %d of slot %d has the code %d, want %d", r, slot, codes[r], m.codeAt(slot, r))
			}
		}
	}
	if kept == 0 || len(c.codes) > m.blocks/2 {
		t.Errorf("%d requests were met by %d columns, want some, by at most %d", kept, len(c.codes), m.blocks/2)
	}
	near, small := emptyTogether(100, blockFeatures), new(columns)
	for range 5 {
		if small.of(near, 0, near.rows, 1) != nil {
			t.Fatal("a small matrix has columns, want none")
		}
	}
}
