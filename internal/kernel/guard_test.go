//go:build linux

package kernel

import (
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns n elements, all 1, that end where the process may read no
// further.
func fenced[T float32 | float64 | int32 | uint8 | uint64](t *testing.T, n int) []T {
	t.Helper()
	const page, pages = 4096, 8
	memory, err := syscall.Mmap(-1, 0, (pages+1)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory map: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	if err := syscall.Mprotect(memory[pages*page:], syscall.PROT_NONE); err != nil {
		t.Skipf("no protection: %v", err)
	}
	var one T = 1
	size := int(unsafe.Sizeof(one))
	all := unsafe.Slice((*T)(unsafe.Pointer(&memory[0])), pages*page/size)
	for i := range all {
		all[i] = one
	}
	return all[len(all)-n:]
}

// No kernel reads or writes beyond its slices: a fault would end the test.
func TestNothingReadsBeyondItsSlices(t *testing.T) {
	const most = 70
	x, y := fenced[float64](t, most), fenced[float64](t, most)
	f, w := fenced[float32](t, 5*most), fenced[float64](t, most)
	plus, minus := fenced[int32](t, most), fenced[int32](t, most)
	for n := 0; n <= most; n++ {
		x, y, w := x[most-n:], y[most-n:], w[most-n:]
		sink = Dot(x, y) + Dot32(f[5*most-n:], w) + Sum(x) + Max(x) + LogSumExp(x) + ExpSum(y, x, 1)
		ExpPlus(w, x, 1, y)
		for _, f := range []func(dst, x []float64){Exp, Log, Softplus, Logistic, Add} {
			f(y, x)
		}
		Axpy(1, x, y)
		Scale(0.5, y)
		Adam(y, x, w, x, 0.9, 0.999, 1e-3, 1e-8)
		LogisticRow(1, x, y)
		SlopeRow(1, 1, x, y)
		SwapLaw{1, 1, 1}.Add(new(SwapSums), w, y, x, x)
		DivideByGaps(w, x, 1, 1)
		if n >= RowPadding {
			clear(x)
			LogisticRows(w[:1], x, y, []int32{0})
			for i := range x {
				x[i] = 1
			}
		}
		if n%8 == 0 {
			words, others := fenced[uint64](t, n), fenced[uint64](t, n)
			Subtract(words, others)
			DivisionBound(words, 0, 1, 0, 0)
		}
		for rows := range 6 {
			lambda := x[:min(rows, n)]
			m := f[5*most-len(lambda)*n:]
			Gemv(lambda, m, w)
			GemvTBefore(w, m, lambda, f[4*most:])
		}
		for rows := 1; rows <= 3; rows++ {
			for units := range 8 {
				results, vectors := fenced[float64](t, rows*units), fenced[float64](t, units*n)
				Gemm(results, f[5*most-rows*n:], vectors, rows, n)
				GemmT(vectors, f[5*most-rows*n:], results, rows, n)
			}
		}
	}
	clear(minus)
	for width := 1; width < most; width++ {
		pairs := (most/width - 1) * width
		e := y[most-width-pairs:]
		SuffixRows(e, width)
		p := NewPairs(2, plus[most-pairs:], minus[most-pairs:])
		p.PrefixDiff(e, 2, x[most-2:], width)
		p.ExpWalks(e, 2, x[most-2:], 1, w[most-len(e):], NewKept(len(e)/width, width, nil))
		p.TransposeDiff(x[most-2:], 2, w[most-pairs-1:], fenced[float64](t, p.Work()))
	}
}

// Neither do the loops of scoring with trees.
func TestForestReadsNothingBeyondItsSlices(t *testing.T) {
	for leaves := 1; leaves <= 20; leaves++ {
		tree := DecisionTree{Leaves: leaves}
		for n := 1; n < leaves; n++ {
			tree.Splits = append(tree.Splits, Split{At: uint8(n - 1), To: uint8(n)})
		}
		f := NewForest([]int{255}, []DecisionTree{tree})
		values, codes := fenced[float64](t, leaves), fenced[uint8](t, ForestDocs)
		for docs := 0; docs <= ForestDocs; docs += 1 + docs/8 {
			f.Add(fenced[float64](t, docs), values, codes, make([]uint64, f.Work()))
		}
	}
	for n := range 140 {
		Codes(fenced[uint8](t, n), fenced[float32](t, n), fenced[float32](t, n))
	}
}

// Nor do those that bring together what trees are grown on.
func TestWordsReadNothingBeyondTheirSlices(t *testing.T) {
	for n := range 40 {
		Without(fenced[uint64](t, n), fenced[uint64](t, n), fenced[uint64](t, n), uint64(n%3))
		for width := 1; width < 20; width++ {
			rows := make([]uint32, n)
			for i := range rows {
				rows[i] = uint32(n - 1 - i)
			}
			Columns(fenced[uint64](t, width*n), n, fenced[uint64](t, width*n), width, width, rows)
		}
	}
}
