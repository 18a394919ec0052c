package kernel

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// special are the values on which arithmetic goes wrong first.
var special = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, 2, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
	0x1p-1022, -0x1p-1022, 0x1.fffffffffffffp-1023, 1 - 0x1p-53, 1 + 0x1p-52, math.Sqrt2, math.Sqrt2 / 2,
	709.7, 709.782712893384, 709.7827128933841, 709.79, 710, 711, -708.4, -709, -740.3, -745.13, -745.1332191019412, -745.14, -746, -747, -1417.5, -1418, -1418.5, 1e5, -1e5,
}

// numbers draws n of them: ordinary ones, some of any size, and where odd, one in
// eight a special one.
func numbers(t *rapid.T, n int, label string) []float64 {
	odd := rapid.Bool().Draw(t, label+" odd")
	seed := rapid.Uint64().Draw(t, label)
	x := make([]float64, n)
	for i := range x {
		seed = seed*6364136223846793005 + 1442695040888963407
		u := float64(seed>>11)*0x1p-52 - 1
		switch which := seed >> 3 & 7; {
		case odd && which == 0:
			x[i] = special[seed>>32%uint64(len(special))]
		case which == 1:
			x[i] = math.Ldexp(u, int(seed>>40%600)-300)
		case which == 2:
			x[i] = 700 * u
		default:
			x[i] = 4 * u
		}
	}
	return x
}

func singles(x []float64) []float32 {
	s := make([]float32, len(x))
	for i, v := range x {
		s[i] = float32(v)
	}
	return s
}

// fence is what stands around a slice handed to a kernel; nothing may change it.
const fence = 123

// shifted returns a copy of x that starts offset elements into its array, with a
// fence on both sides.
func shifted[T float32 | float64 | uint64](x []T, offset int) []T {
	a := make([]T, offset+len(x)+9)
	for i := range a {
		a[i] = fence
	}
	copy(a[offset:], x)
	return a[offset : offset+len(x)]
}

func checkFence(t *rapid.T, x []float64) {
	t.Helper()
	for i, v := range x[len(x) : len(x)+9] {
		if v != fence {
			t.Fatalf("element %d after the slice was overwritten with %v", i, v)
		}
	}
}

func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func checkSame(t *rapid.T, got, want []float64, what string) {
	t.Helper()
	for i := range want {
		if !sameBits(got[i], want[i]) {
			t.Fatalf("%s: element %d of %d is %v (%x), the reference gives %v (%x)", what, i, len(want),
				got[i], math.Float64bits(got[i]), want[i], math.Float64bits(want[i]))
		}
	}
}

var (
	lengths = rapid.IntRange(0, 300)
	offsets = rapid.IntRange(0, 7)
)

// The claim of the package comment: the chosen implementation gives the bits of
// the reference at every length and alignment, special values included. (Under
// noasm the two are the same and only the fences are tested.)
func TestReductionsGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := lengths.Draw(t, "n")
		x := shifted(numbers(t, n, "x"), offsets.Draw(t, "x offset"))
		y := shifted(numbers(t, n, "y"), offsets.Draw(t, "y offset"))
		f := shifted(singles(x), offsets.Draw(t, "f offset"))
		shift := rapid.Float64Range(-800, 800).Draw(t, "shift")
		checkSame(t, []float64{Dot(x, y)}, []float64{dotGo(x, y)}, "Dot")
		checkSame(t, []float64{Dot32(f, y)}, []float64{dot32Go(f, y)}, "Dot32")
		checkSame(t, []float64{Sum(x)}, []float64{sumGo(x)}, "Sum")
		checkSame(t, []float64{Max(x)}, []float64{maxGo(x)}, "Max")
		checkSame(t, []float64{sumExp(x, shift)}, []float64{sumExpGo(x, shift)}, "sumExp")
		dst := shifted(y, offsets.Draw(t, "dst offset"))
		s := ExpSum(dst, x, shift)
		checkSame(t, []float64{s}, []float64{sumExpGo(x, shift)}, "ExpSum")
		want := make([]float64, n)
		expSumGo(want, x, shift)
		checkSame(t, dst, want, "ExpSum's terms")
		checkFence(t, dst)

		expPlusGo(want, x, shift, y)
		ExpPlus(dst, x, shift, y)
		checkSame(t, dst, want, "ExpPlus")
		checkFence(t, dst)
	})
}

func TestMappingsGiveTheReferencesBits(t *testing.T) {
	for name, f := range map[string][2]func(dst, x []float64){
		"Exp":      {Exp, expGo},
		"Log":      {Log, logGo},
		"Softplus": {Softplus, softplusGo},
		"Logistic": {Logistic, logisticGo},
		"Add":      {Add, addGo},
		"Axpy":     {func(dst, x []float64) { Axpy(-1.1, x, dst) }, func(dst, x []float64) { axpyGo(-1.1, x, dst) }},
		"Scale":    {func(dst, _ []float64) { Scale(1.1, dst) }, func(dst, _ []float64) { scaleGo(1.1, dst) }},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			n := lengths.Draw(t, "n")
			x, y := numbers(t, n, "x"), numbers(t, n, "y")
			want := append([]float64(nil), y...)
			f[1](want, x)
			dst := shifted(y, offsets.Draw(t, "dst offset"))
			f[0](dst, shifted(x, offsets.Draw(t, "x offset")))
			checkSame(t, dst, want, name)
			checkFence(t, dst)

			if name == "Axpy" {
				return // the only one without a use for it
			}
			want = append([]float64(nil), x...)
			f[1](want, want)
			dst = shifted(x, offsets.Draw(t, "own offset"))
			f[0](dst, dst)
			checkSame(t, dst, want, name+" in place")
			checkFence(t, dst)
		}))
	}
}

func TestAdamGivesTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := lengths.Draw(t, "n")
		var got, want [4][]float64
		for i, name := range []string{"x", "grad", "m", "v"} {
			want[i] = numbers(t, n, name)
			got[i] = shifted(want[i], offsets.Draw(t, name+" offset"))
		}
		beta1, beta2 := rapid.Float64Range(0, 1).Draw(t, "beta1"), rapid.Float64Range(0, 1).Draw(t, "beta2")
		rate, epsilon := rapid.Float64Range(0, 10).Draw(t, "rate"), rapid.Float64Range(0, 1).Draw(t, "epsilon")
		adamGo(want[0], want[1], want[2], want[3], beta1, beta2, rate, epsilon)
		Adam(got[0], got[1], got[2], got[3], beta1, beta2, rate, epsilon)
		for i, name := range []string{"x", "grad", "m", "v"} {
			checkSame(t, got[i], want[i], name)
			checkFence(t, got[i])
		}
	})
}

func TestMatricesGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 9).Draw(t, "rows")
		columns := rapid.OneOf(rapid.IntRange(0, 70), rapid.SampledFrom([]int{45, 46, 64, 136, 300})).Draw(t, "columns")
		x := shifted(singles(numbers(t, rows*columns, "x")), offsets.Draw(t, "x offset"))
		w := shifted(numbers(t, columns, "w"), offsets.Draw(t, "w offset"))
		lambda := shifted(numbers(t, rows, "lambda"), offsets.Draw(t, "lambda offset"))

		scores := shifted(lambda, offsets.Draw(t, "scores offset"))
		Gemv(scores, x, w)
		want := make([]float64, rows)
		gemvGo(want, x, w)
		checkSame(t, scores, want, "Gemv")
		checkFence(t, scores)
		for i := range want {
			checkSame(t, []float64{Dot32(x[i*columns:(i+1)*columns], w)}, want[i:i+1], "Dot32 of a row")
		}

		want = append([]float64(nil), w...)
		gemvTGo(want, x, lambda)
		GemvTBefore(w, x, lambda, singles(scores))
		checkSame(t, w, want, "GemvT")
		checkFence(t, w)
	})
}

// Products with several vectors at once have the bits of those with one after the
// other, for every number of them.
func TestSeveralVectorsGiveTheBitsOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, units := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(0, 17).Draw(t, "units")
		columns := rapid.OneOf(rapid.IntRange(0, 70), rapid.SampledFrom([]int{45, 46, 64, 136, 300})).Draw(t, "columns")
		x := shifted(singles(numbers(t, rows*columns, "x")), offsets.Draw(t, "x offset"))
		w := shifted(numbers(t, units*columns, "w"), offsets.Draw(t, "w offset"))
		delta := shifted(numbers(t, units*rows, "delta"), offsets.Draw(t, "delta offset"))

		products := shifted(delta, offsets.Draw(t, "products offset"))
		Gemm(products, x, w, rows, columns)
		want := make([]float64, units*rows)
		gemmGo(want, x, w, rows, columns)
		checkSame(t, products, want, "Gemm")
		checkFence(t, products)

		want = append([]float64(nil), w...)
		gemmTGo(want, x, delta, rows, columns)
		GemmT(w, x, delta, rows, columns)
		checkSame(t, w, want, "GemmT")
		checkFence(t, w)
	})
}

func TestRowsGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, width := rapid.IntRange(0, 12).Draw(t, "rows"), rapid.IntRange(1, 80).Draw(t, "width")
		x := numbers(t, rows*width, "x")
		want := append([]float64(nil), x...)
		suffixRowsGo(want, width)
		got := shifted(x, offsets.Draw(t, "offset"))
		SuffixRows(got, width)
		checkSame(t, got, want, "SuffixRows")
		checkFence(t, got)
	})
}

func indices(t *rapid.T, count, n int, label string) []int32 {
	return rapid.SliceOfN(rapid.Int32Range(0, int32(n-1)), count, count).Draw(t, label)
}

func TestLogisticRowGivesTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := lengths.Draw(t, "n")
		e, grad := numbers(t, n, "e"), numbers(t, n, "grad")
		scale := rapid.Float64Range(0, 69).Draw(t, "log2 of r")
		for i, v := range e {
			e[i] = math.Exp2(math.Mod(math.Abs(v), scale+1) - scale/2)
			if v != v || math.IsInf(v, 0) {
				e[i] = 0
			}
		}
		a := math.Exp2(rapid.Float64Range(-200, 60).Draw(t, "log2 of a"))
		want := append([]float64(nil), grad...)
		u, k, p := logisticRowGo(a, e, want)
		got := shifted(grad, offsets.Draw(t, "offset"))
		gu, gk, gp := logisticRow(a, shifted(e, offsets.Draw(t, "e offset")), got)
		checkSame(t, got, want, "grad")
		checkSame(t, []float64{gu, float64(gk), gp}, []float64{u, float64(k), p}, "u, k, probSum")
		checkFence(t, got)
	})
}

func TestSlopeRowGivesTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := lengths.Draw(t, "n")
		e, grad := numbers(t, n, "e"), numbers(t, n, "grad")
		for i, v := range e {
			e[i] = math.Exp2(math.Mod(math.Abs(v), 40) - 20)
			if v != v || math.IsInf(v, 0) {
				e[i] = 0
			}
		}
		a, c := math.Exp2(rapid.Float64Range(-200, 80).Draw(t, "log2 of a")), rapid.Float64Range(-9, 9).Draw(t, "c")
		want := append([]float64(nil), grad...)
		sum := slopeRowGo(a, c, e, want)
		got := shifted(grad, offsets.Draw(t, "offset"))
		gotSum := slopeRow(a, c, shifted(e, offsets.Draw(t, "e offset")), got)
		checkSame(t, got, want, "grad")
		checkSame(t, []float64{gotSum}, []float64{sum}, "sum")
		checkFence(t, got)
	})
}

// LogisticRows gives its reference's bits; its probabilities and gradients have
// those of LogisticRow, row by row, and its logarithms add up to LogisticRow's.
func TestLogisticRowsGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, rows := rapid.IntRange(0, 90).Draw(t, "columns"), rapid.IntRange(1, 90).Draw(t, "rows")
		e, grad := make([]float64, n+RowPadding), numbers(t, n+RowPadding, "grad")
		scale := rapid.Float64Range(0, 69).Draw(t, "log2 of r")
		for i, v := range numbers(t, n, "e") {
			if v == v && !math.IsInf(v, 0) {
				e[i] = math.Exp2(math.Mod(math.Abs(v), scale+1) - scale/2)
			}
		}
		clear(grad[n:])
		a, from := make([]float64, rows), make([]int32, rows)
		top := rapid.Float64Range(-200, 60).Draw(t, "log2 of a")
		for r := range a {
			a[r] = math.Exp2(top - float64(r%3))
			from[r] = int32(rapid.IntRange(0, n).Draw(t, "from"))
		}
		wantA, wantGrad := append([]float64(nil), a...), append([]float64(nil), grad...)
		u, k := logisticRowsGo(wantA, e, wantGrad, from)
		gotA, gotGrad := shifted(a, offsets.Draw(t, "a offset")), shifted(grad, offsets.Draw(t, "grad offset"))
		gu, gk := logisticRows(gotA, shifted(e, offsets.Draw(t, "e offset")), gotGrad, from)
		checkSame(t, gotGrad, wantGrad, "grad")
		checkSame(t, gotA, wantA, "probSums")
		checkSame(t, []float64{gu, float64(gk)}, []float64{u, float64(k)}, "u, k")
		checkFence(t, gotGrad)
		checkFence(t, gotA)

		oneA, oneGrad, total := append([]float64(nil), a...), append([]float64(nil), grad...), 0.0
		for r, f := range from {
			var l float64
			l, oneA[r] = LogisticRow(a[r], e[f:n], oneGrad[f:n])
			total += l
		}
		logs := LogisticRows(a, e, grad, from)
		checkSame(t, grad, oneGrad, "LogisticRow's grad")
		checkSame(t, a, oneA, "LogisticRow's probSums")
		if !(math.Abs(logs-total) <= 1e-12*total) {
			t.Fatalf("logarithms add up to %v, LogisticRow's to %v", logs, total)
		}
	})
}

// Every length and offset once with ordinary numbers: the tails' branches.
func TestEveryLengthAndOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := numbers(t, 320, "x"), numbers(t, 320, "y")
		offset := offsets.Draw(t, "offset")
		for n := range 301 {
			a, b := x[offset:offset+n], y[:n]
			checkSame(t, []float64{Dot(a, b), Sum(a), Max(a)}, []float64{dotGo(a, b), sumGo(a), maxGo(a)}, fmt.Sprintf("Dot, Sum, Max of %d", n))
		}
	})
}

// Sums of any bits, and of few documents: most words are 0 then.
func TestDivisionsGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 8 * rapid.IntRange(0, 40).Draw(t, "eights")
		words := shifted(numbersOfBits(t, n), offsets.Draw(t, "offset"))
		if rapid.Bool().Draw(t, "sparse") {
			for i := range words {
				if rapid.IntRange(0, 30).Draw(t, "kept") > 0 {
					words[i] = 0
				}
			}
		}
		left, total := rapid.Uint64().Draw(t, "left"), rapid.Uint64().Draw(t, "total")
		l2 := rapid.SampledFrom([]float32{0, 0x1p-20, 1, 12345.678, 0x1p40}).Draw(t, "l2")
		least := rapid.SampledFrom([]float32{0, 1, 1e5, 0x1p31}).Draw(t, "least")
		got, want := DivisionBound(words, left, total, l2, least), divisionBoundGo(words, left, total, l2, least)
		checkSame(t, []float64{float64(got)}, []float64{float64(want)}, "DivisionBound")

		dst := shifted(numbersOfBits(t, n), offsets.Draw(t, "dst offset"))
		difference := append([]uint64(nil), dst...)
		subtractGo(difference, words)
		Subtract(dst, words)
		for i := range dst {
			if dst[i] != difference[i] {
				t.Fatalf("Subtract: element %d is %x, the reference gives %x", i, dst[i], difference[i])
			}
		}
		for _, v := range dst[n : n+9] {
			if v != fence {
				t.Fatalf("Subtract: %x stands after the slice", v)
			}
		}
	})
}

func numbersOfBits(t *rapid.T, n int) []uint64 {
	seed := rapid.Uint64().Draw(t, "words")
	x := make([]uint64, n)
	for i := range x {
		seed = seed*6364136223846793005 + 1442695040888963407
		x[i] = seed ^ seed>>29
	}
	return x
}
