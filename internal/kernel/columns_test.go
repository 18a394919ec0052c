package kernel

import (
	"testing"

	"pgregory.net/rapid"
)

// By definition, for rows in any order, and nothing else is written.
func TestColumnsAreOfTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, extra := rapid.IntRange(1, 20).Draw(t, "width"), rapid.IntRange(0, 3).Draw(t, "stride beyond it")
		all := rapid.IntRange(1, 50).Draw(t, "rows of the matrix")
		rows := rapid.SliceOfN(rapid.Uint32Range(0, uint32(all-1)), 0, 60).Draw(t, "rows")
		apart := len(rows) + rapid.IntRange(0, 5).Draw(t, "apart beyond them")
		matrix := numbersOfBits(t, all*(width+extra))
		dst := make([]uint64, width*apart+1)
		for i := range dst {
			dst[i] = fence
		}
		Columns(dst, apart, matrix, width+extra, width, rows)
		for k, got := range dst {
			want := uint64(fence)
			if apart > 0 && k/apart < width && k%apart < len(rows) {
				want = matrix[int(rows[k%apart])*(width+extra)+k/apart]
			}
			if got != want {
				t.Fatalf("word %d is %x, want %x", k, got, want)
			}
		}
	})
}

// A row that is not there, or columns that overlap, panic before anything is written.
func TestColumnsRefuseRowsOutOfRange(t *testing.T) {
	for name, do := range map[string]func(dst []uint64){
		"row":   func(dst []uint64) { Columns(dst, 2, make([]uint64, 8), 4, 4, []uint32{0, 2}) },
		"apart": func(dst []uint64) { Columns(dst, 1, make([]uint64, 8), 4, 4, []uint32{0, 1}) },
		"dst":   func(dst []uint64) { Columns(dst[:7], 2, make([]uint64, 8), 4, 4, []uint32{0, 1}) },
	} {
		dst := make([]uint64, 8)
		dst[0] = 77
		func() {
			defer func() {
				if recover() == nil || dst[0] != 77 {
					t.Errorf("%s: nothing panics, or not before writing", name)
				}
			}()
			do(dst)
		}()
	}
}
