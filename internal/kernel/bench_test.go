package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// The lower bounds in the comments are those of AVX2 on Zen 3, per vector of four float64:
// two 32-byte loads a cycle, one store, two multiply-adds, about one widening of four
// float32, a division every five cycles. At 3.4 GHz a cycle is 0.29 ns, or 0.074 ns an
// element. The measured times are the fastest of many runs on such a machine.

func random(n int) []float64 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// perElement reports the time divided by the elements a call handles.
func perElement(b *testing.B, elements int, f func()) {
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(elements), "ns/element")
}

var sink float64

// Dot: two loads a vector, a cycle: 0.074 ns an element. Measured 0.084 at 1024; at
// 64 the call and the last additions, 20 cycles, are two thirds of 0.15; at 4096
// the 64 KiB come from the second cache at 32 bytes a cycle, 0.15.
func BenchmarkDot(b *testing.B) {
	for _, n := range []int{64, 1024, 4096} {
		x, y := random(n), random(n)
		b.Run(fmt.Sprintf("kernel/%d", n), func(b *testing.B) { perElement(b, n, func() { sink = Dot(x, y) }) })
		u, v := blas64.Vector{N: n, Data: x, Inc: 1}, blas64.Vector{N: n, Data: y, Inc: 1}
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) { perElement(b, n, func() { sink = blas64.Dot(u, v) }) })
	}
}

type system struct {
	rows, columns int
	x32           []float32
	x, w, lambda  []float64
}

func systems() []system {
	var all []system
	for _, shape := range [][2]int{{150, 45}, {1000, 64}, {120, 136}} {
		s := system{rows: shape[0], columns: shape[1]}
		s.x, s.w, s.lambda = random(s.rows*s.columns), random(s.columns), random(s.rows)
		s.x32 = singles(s.x)
		all = append(all, s)
	}
	return all
}

// Gemv, GemvT: one widening a vector, a cycle or somewhat less: 0.06 to 0.074 ns an
// element; the 16 bytes come from the first or second cache in half of that.
// Measured 0.058 to 0.07, and 0.079 for Gemv of 45 columns, whose last additions
// count.
func BenchmarkGemv(b *testing.B)  { benchmarkGemv(b, blas.NoTrans) }
func BenchmarkGemvT(b *testing.B) { benchmarkGemv(b, blas.Trans) }

func benchmarkGemv(b *testing.B, trans blas.Transpose) {
	for _, s := range systems() {
		in, out := s.w, make([]float64, s.rows)
		ours := func() { Gemv(out, s.x32, s.w) }
		if trans == blas.Trans {
			in, out = s.lambda, make([]float64, s.columns)
			ours = func() { GemvT(out, s.x32, s.lambda) }
		}
		size := fmt.Sprintf("/%dx%d", s.rows, s.columns)
		b.Run("kernel"+size, func(b *testing.B) { perElement(b, len(s.x), ours) })

		x := blas64.General{Rows: s.rows, Cols: s.columns, Stride: s.columns, Data: s.x}
		u, v := blas64.Vector{N: len(in), Data: in, Inc: 1}, blas64.Vector{N: len(out), Data: out, Inc: 1}
		b.Run("gonum64"+size, func(b *testing.B) {
			perElement(b, len(s.x), func() { blas64.Gemv(trans, 1, x, u, 0, v) })
		})
		x32 := blas32.General{Rows: s.rows, Cols: s.columns, Stride: s.columns, Data: s.x32}
		u32, v32 := blas32.Vector{N: len(in), Data: singles(in), Inc: 1}, blas32.Vector{N: len(out), Data: singles(out), Inc: 1}
		b.Run("gonum32"+size, func(b *testing.B) {
			perElement(b, len(s.x), func() { blas32.Gemv(trans, 1, x32, u32, 0, v32) })
		})
	}
}

// Gemm, GemmT: with ten vectors a widening serves two or three of them in one
// direction and five in the other, so that the multiply-adds are left, half a cycle
// a vector of four: 0.037 ns an element. Measured 0.046 and 0.045 at 368 columns; 45
// columns, of which one in a masked vector takes as long as eight, 0.07 and 0.065.
// Gemv and GemvT ten times over take 0.068 and 0.062 at 368.
func BenchmarkGemm(b *testing.B) {
	const units = 10
	for _, shape := range [][2]int{{26, 368}, {152, 45}} {
		rows, columns := shape[0], shape[1]
		x, w, z := singles(random(rows*columns)), random(units*columns), make([]float64, units*rows)
		size := fmt.Sprintf("/%dx%dx%d", rows, columns, units)
		b.Run("Gemm"+size, func(b *testing.B) {
			perElement(b, units*len(x), func() { Gemm(z, x, w, rows, columns) })
		})
		clear(z)
		b.Run("GemmT"+size, func(b *testing.B) {
			perElement(b, units*len(x), func() { GemmT(w, x, z, rows, columns) })
		})
	}
}

// Dot32: two accumulators, each waiting four cycles for its last multiply-add, so
// 0.15 ns an element and not the 0.074 of its widening: the price of sharing its
// bits with Gemv. It is reached from 136 elements on.
func BenchmarkDot32(b *testing.B) {
	for _, n := range []int{45, 136, 1024} {
		x, w := singles(random(n)), random(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) { perElement(b, n, func() { sink = Dot32(x, w) }) })
	}
}

// Exp: 17 multiplications and multiply-adds a vector, 8.5 cycles, 0.63 ns an element;
// measured 0.82. ExpSum and LogSumExp add an addition, a subtraction and Max: measured
// 0.93 and 1.0. Log, Softplus and Logistic have a division and, the first two, 16 more
// operations for the other polynomial: lower bounds near 0.8, 1.3 and 0.7, measured 1.7,
// 2.0 and 1.2.
func BenchmarkMap(b *testing.B) {
	const n = 1000
	x, dst := random(n), make([]float64, n)
	positive := make([]float64, n)
	Exp(positive, x)
	b.Run("Exp", func(b *testing.B) { perElement(b, n, func() { Exp(dst, x) }) })
	b.Run("Exp/underflow", func(b *testing.B) {
		far := make([]float64, n)
		for i := range far {
			far[i] = -900 - 100*math.Abs(x[i])
		}
		perElement(b, n, func() { Exp(dst, far) })
	})
	b.Run("Exp/subnormal", func(b *testing.B) {
		far := make([]float64, n)
		for i := range far {
			far[i] = -725 - 5*math.Abs(x[i])
		}
		perElement(b, n, func() { Exp(dst, far) })
	})
	b.Run("math.Exp", func(b *testing.B) {
		perElement(b, n, func() {
			for i, v := range x {
				dst[i] = math.Exp(v)
			}
		})
	})
	b.Run("ExpSum", func(b *testing.B) { perElement(b, n, func() { sink = ExpSum(dst, x, 1) }) })
	b.Run("LogSumExp", func(b *testing.B) { perElement(b, n, func() { sink = LogSumExp(x) }) })
	b.Run("Log", func(b *testing.B) { perElement(b, n, func() { Log(dst, positive) }) })
	b.Run("math.Log", func(b *testing.B) {
		perElement(b, n, func() {
			for i, v := range positive {
				dst[i] = math.Log(v)
			}
		})
	})
	b.Run("Softplus", func(b *testing.B) { perElement(b, n, func() { Softplus(dst, x) }) })
	b.Run("Logistic", func(b *testing.B) { perElement(b, n, func() { Logistic(dst, x) }) })
}

// Max, Sum: a load a vector, half a cycle, 0.037 ns an element; measured 0.08, for
// Max also looks for NaN, and 0.06. Axpy, Add, Scale: a store a vector, a cycle,
// 0.074; measured 0.13, 0.13 and 0.08.
func BenchmarkSweep(b *testing.B) {
	const n = 1000
	x, y := random(n), random(n)
	b.Run("Max", func(b *testing.B) { perElement(b, n, func() { sink = Max(x) }) })
	b.Run("Sum", func(b *testing.B) { perElement(b, n, func() { sink = Sum(x) }) })
	b.Run("Axpy", func(b *testing.B) { perElement(b, n, func() { Axpy(1e-3, x, y) }) })
	b.Run("Add", func(b *testing.B) { perElement(b, n, func() { Add(y, x) }) })
	b.Run("Scale", func(b *testing.B) { perElement(b, n, func() { Scale(1, x) }) })
}

// Adam: a root and a division a vector, fifteen cycles, 1.1 ns an element.
func BenchmarkAdam(b *testing.B) {
	const n = 3690 // a network of LambdaRank's
	x, g, m, v := random(n), random(n), make([]float64, n), make([]float64, n)
	b.Run("kernel", func(b *testing.B) { perElement(b, n, func() { Adam(x, g, m, v, 0.9, 0.999, 1e-6, 1e-8) }) })
	b.Run("Go", func(b *testing.B) { perElement(b, n, func() { adamGo(x, g, m, v, 0.9, 0.999, 1e-6, 1e-8) }) })
}

// LogisticRow: a division for four pairs, five cycles, 0.37 ns a pair; measured
// 0.39 at 1000. The one logarithm and the last products take 30 ns a row: 0.64 at
// 107, 1.7 at 20. Ten rows at once share them: 0.4 to 0.5 at 107, 0.6 at 20.
func BenchmarkLogisticRow(b *testing.B) {
	for _, n := range []int{20, 107, 1000} {
		e, grad := random(n), make([]float64, n)
		Exp(e, e)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			perElement(b, n, func() {
				l, p := LogisticRow(0.7, e, grad)
				sink = l + p
			})
		})
		b.Run(fmt.Sprintf("ten/%d", n), func(b *testing.B) {
			const rows = 10
			e, grad := append(e, make([]float64, RowPadding)...), make([]float64, n+RowPadding)
			a, from := make([]float64, rows), make([]int32, rows)
			perElement(b, rows*n, func() {
				for r := range a {
					a[r] = 0.7
				}
				sink = LogisticRows(a, e, grad, from)
			})
		})
	}
}

// PrefixDiff: of scores and indices eleven loads for four pairs, 0.41 ns a pair;
// measured 0.46. TransposeDiff: ten loads for four pairs, 0.37, with the groups'
// ends and a document's two sums; measured 0.53, where adding to the sums in memory,
// in Go as in assembly, takes 0.95. SuffixRows: a store a vector, 0.074 ns an
// element; measured 0.083.
func BenchmarkPairs(b *testing.B) {
	const steps, width, documents = 20, 48, 152
	r := rand.New(rand.NewPCG(1, 2))
	plus, minus := make([]int32, steps*width), make([]int32, steps*width)
	for i := range plus {
		plus[i], minus[i] = int32(r.IntN(45)), int32(45+r.IntN(documents-45))
	}
	p := NewPairs(documents, plus, minus)
	s, c := random(documents), random(p.Len()+1)
	e, work := make([]float64, width+p.Len()), make([]float64, p.Work())
	b.Run("PrefixDiff", func(b *testing.B) { perElement(b, p.Len(), func() { p.PrefixDiff(e, 2, s, width) }) })
	kept, y := NewKept(len(e)/width, width, nil), random(len(e))
	b.Run("ExpWalks", func(b *testing.B) {
		perElement(b, p.Len(), func() { clear(e[:width]); p.ExpWalks(e, 0.2, s, -1, y, kept) })
	})
	b.Run("PrefixDiff, ExpPlus", func(b *testing.B) {
		perElement(b, p.Len(), func() { clear(e[:width]); p.PrefixDiff(e, 0.2, s, width); ExpPlus(e, e, -1, y) })
	})
	b.Run("PrefixDiff/Go", func(b *testing.B) {
		perElement(b, p.Len(), func() { prefixDiffGo(e, 2, s, p.narrow.plus, p.narrow.minus, width) })
	})
	b.Run("TransposeDiff", func(b *testing.B) { perElement(b, p.Len(), func() { p.TransposeDiff(s, 2, c, work) }) })
	b.Run("TransposeDiff/Go", func(b *testing.B) {
		perElement(b, p.Len(), func() {
			for i, v := range c[:p.Len()] {
				s[plus[i]] += v
				s[minus[i]] -= v
			}
		})
	})
	b.Run("SuffixRows", func(b *testing.B) { perElement(b, len(e), func() { SuffixRows(e, width) }) })
}
