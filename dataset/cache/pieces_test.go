package cache

import (
	"crypto/sha256"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/internal/block"
)

// Claim: the sums of pieces that are looked at as they are written are those of the file in the end, in whatever parts and
// order it was written, and of parts that were written once more; a value that is infinite is found.
func TestPiecesAsTheyAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	rapid.Check(t, func(t *rapid.T) {
		const head = 24
		values := rapid.IntRange(1, matrixPiece).Draw(t, "values") // four pieces at most
		x := make([]float32, values)
		for i := range x {
			x[i] = float32(i*i%1013) / 7
		}
		x[rapid.IntRange(0, values-1).Draw(t, "hole")] = float32(math.NaN())
		infinite := -1
		if rapid.Bool().Draw(t, "infinite") {
			infinite = rapid.IntRange(0, values-1).Draw(t, "place")
			x[infinite] = float32(math.Inf(1))
		}
		bytes := block.LittleEndian(x)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close() //nolint:errcheck // of a test
		write := func(from, to int) {
			if _, err := f.WriteAt(bytes[from:to], int64(head+from)); err != nil {
				t.Fatal(err)
			}
		}
		w := newWritten(f, head, len(bytes))
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(bytes)), 0, 8).Draw(t, "cuts")
		parts := partsBetween(cuts, len(bytes))
		for _, i := range rapid.Permutation(indices(len(parts))).Draw(t, "order") {
			write(parts[i][0], parts[i][1])
			w.wrote(int64(parts[i][0]), int64(parts[i][1]))
		}
		w.end()
		for i, left := range w.left {
			if left != 0 || !w.sums[i].known {
				t.Fatalf("of piece %d there are %d bytes left, and it is known: %v", i, left, w.sums[i].known)
			}
		}
		again := rapid.IntRange(0, values-1).Draw(t, "again")
		x[again] = 3
		write(4*again, 4*again+4)
		w.changed(int64(4*again), int64(4*again+4))
		w.rest()
		for i, s := range w.sums {
			piece := bytes[i*matrixPiece : i*matrixPiece+w.length(i)]
			crc, bad, holes := checkPiece(piece, true)
			if (s.err != nil) != (bad >= 0) || bad >= 0 && infinite/(matrixPiece/4) != i {
				t.Fatalf("piece %d: error %v, want one about value %d", i, s.err, bad)
			}
			if s.crc != crc || s.holes != holes || s.sha != sha256.Sum256(piece) {
				t.Fatalf("piece %d has other sums", i)
			}
		}
	})
}

// partsBetween returns the parts of n bytes that are cut at some places.
func partsBetween(cuts []int, n int) (parts [][2]int) {
	ends := append(slices.Clone(cuts), n)
	slices.Sort(ends)
	from := 0
	for _, to := range ends {
		parts = append(parts, [2]int{from, to})
		from = to
	}
	return parts
}

func indices(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}
