package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/internal/testing/numtest"
)

// finite draws numbers of ordinary size.
func finite(t *rapid.T, n int, label string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-8, 8), n, n).Draw(t, label)
}

func checkClose(t *rapid.T, got, want, tolerance float64, what string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s is %v, want %v to within %.3g", what, got, want, tolerance)
	}
}

// The sums against the loops of their definitions.
func TestSumsFollowTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "n")
		x, y := finite(t, n, "x"), finite(t, n, "y")
		f := singles(x)
		var sum, dot, dot32 float64
		largest := math.Inf(-1)
		for i := range x {
			sum += x[i]
			dot += x[i] * y[i]
			dot32 += float64(f[i]) * y[i]
			largest = math.Max(largest, x[i])
		}
		checkClose(t, Sum(x), sum, 1e-12, "Sum")
		checkClose(t, Dot(x, y), dot, 1e-11, "Dot")
		checkClose(t, Dot32(f, y), dot32, 1e-11, "Dot32")
		if got := Max(x); got != largest {
			t.Fatalf("Max is %v, want %v", got, largest)
		}
		axpy, scaled := slices.Clone(y), slices.Clone(x)
		Axpy(1.5, x, axpy)
		Scale(-2, scaled)
		Add(scaled, y)
		for i := range x {
			checkClose(t, axpy[i], y[i]+1.5*x[i], 1e-14, "Axpy")
			checkClose(t, scaled[i], -2*x[i]+y[i], 1e-14, "Scale, then Add")
		}
	})
}

// Gemv against its definition, and GemvT as its adjoint: λ·(Xw) = w·(Xᵀλ).
func TestGemvAndItsAdjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(0, 7).Draw(t, "rows"), rapid.IntRange(0, 50).Draw(t, "columns")
		x := singles(finite(t, rows*columns, "x"))
		w, lambda := finite(t, columns, "w"), finite(t, rows, "lambda")
		scores, grad := make([]float64, rows), make([]float64, columns)
		Gemv(scores, x, w)
		for i, s := range scores {
			want := 0.0
			for j, v := range w {
				want += float64(x[i*columns+j]) * v
			}
			checkClose(t, s, want, 1e-11, "Gemv")
		}
		GemvT(grad, x, lambda)
		checkClose(t, Dot(grad, w), Dot(lambda, scores), 1e-9, "the adjoint")
		GemvT(grad, x, lambda)
		checkClose(t, Dot(grad, w), 2*Dot(lambda, scores), 1e-9, "the adjoint, added twice")
	})
}

// PrefixDiff against sums made anew for each row; SuffixRows and TransposeDiff as its
// adjoint: of what it makes of s and the first row, the product with c is that of
// what they make of c with s and the first row.
func TestPairsAndTheirAdjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "documents")
		rows, width := rapid.IntRange(0, 9).Draw(t, "rows"), rapid.IntRange(1, 45).Draw(t, "width")
		plus, minus := indices(t, rows*width, n, "plus"), indices(t, rows*width, n, "minus")
		p := NewPairs(n, plus, minus)
		s, start, c := finite(t, n, "s"), finite(t, width, "start"), finite(t, (1+rows)*width+1, "c")
		e := append(slices.Clone(start), make([]float64, p.Len())...)
		a := rapid.Float64Range(-2, 2).Draw(t, "a")
		p.PrefixDiff(e, a, s, width)
		for i, got := range e {
			want := start[i%width]
			for j := i%width + width; j <= i; j += width {
				want += a * (s[plus[j-width]] - s[minus[j-width]])
			}
			checkClose(t, got, want, 1e-12, "PrefixDiff")
		}
		product := Dot(e, c[:len(e)])
		back := make([]float64, n)
		SuffixRows(c[:len(e)], width)
		p.TransposeDiff(back, a, c[width:], make([]float64, p.Work()))
		checkClose(t, Dot(back, s)+Dot(start, c[:width]), product, 1e-8, "the adjoint")
	})
}

// SuffixRows against sums made anew for each row.
func TestSuffixRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, width := rapid.IntRange(0, 6).Draw(t, "rows"), rapid.IntRange(1, 45).Draw(t, "width")
		x := finite(t, rows*width, "x")
		suffix := slices.Clone(x)
		SuffixRows(suffix, width)
		for i, got := range suffix {
			want := 0.0
			for j := i; j < len(x); j += width {
				want += x[j]
			}
			checkClose(t, got, want, 1e-13, "SuffixRows")
		}
	})
}

// Lists of every length, cut and uncut, and documents without any, are added up.
func TestTransposeDiffOfLongAndEmptyLists(t *testing.T) {
	for _, length := range []int{0, 1, longest - 1, longest, longest + 1, 3 * longest, 1000, 1<<16 - 1, 1 << 16, 70000} {
		plus, minus := make([]int32, length), make([]int32, length)
		c := make([]float64, length+1)
		want := make([]float64, 40)
		for i := range plus {
			c[i] = float64(i%7 - 2)
			plus[i], minus[i] = 3, int32(5+i%30) // of 40, some in no pair
			want[3] += c[i]
			want[minus[i]] -= c[i]
		}
		p := NewPairs(len(want), plus, minus)
		got := make([]float64, len(want))
		p.TransposeDiff(got, 1, c, make([]float64, p.Work()))
		if !slices.Equal(got, want) {
			t.Errorf("%d pairs: %v, want %v", length, got, want)
		}
		e := make([]float64, 1+length)
		p.PrefixDiff(e, 1, want, 1)
		if last := want[3]*float64(length) - Dot(want, count(minus, len(want))); e[length] != last {
			t.Errorf("%d pairs: the sum of all differences is %v, want %v", length, e[length], last)
		}
	}
}

// count returns how often each of n numbers occurs.
func count(index []int32, n int) []float64 {
	times := make([]float64, n)
	for _, i := range index {
		times[i]++
	}
	return times
}

// Max's rules for NaN, infinities and zeros, at every place.
func TestMaxRules(t *testing.T) {
	zero := math.Copysign(0, -1)
	for n := range 40 {
		x := make([]float64, n)
		for i := range x {
			x[i] = zero
		}
		want := 0.0
		if n == 0 {
			want = math.Inf(-1)
		}
		if got := Max(x); !sameBits(got, want) {
			t.Fatalf("Max of %d times −0 is %v, want %v", n, got, want)
		}
		for i := range x {
			for _, v := range []float64{math.NaN(), math.Inf(1), 3} {
				x[i] = v
				if got := Max(x); !sameBits(got, v) {
					t.Fatalf("Max with %v at %d of %d is %v", v, i, n, got)
				}
			}
			x[i] = math.Inf(-1)
		}
		if got := Max(x); !math.IsInf(got, -1) {
			t.Fatalf("Max of %d times −Inf is %v", n, got)
		}
	}
}

// LogisticRow's stated errors against 256 bits: tiny, mixed and largest odds.
func TestLogisticRowAccuracy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 3, 8, 107, 400} {
		for _, size := range [][2]float64{{-900, -850}, {-60, -40}, {-20, 20}, {0, 1}, {99, 100}} {
			a := math.Exp2(size[0] / 2)
			e, grad := make([]float64, n), make([]float64, n)
			product, probs := numtest.Big(0), numtest.Big(0) // product less one
			product.SetPrec(2000)
			for b := range e {
				e[b] = math.Exp2(size[0]/2 + (size[1]-size[0])*r.Float64())
				odds := new(big.Float).SetPrec(2000).SetFloat64(a * e[b])
				onePlus := new(big.Float).SetPrec(2000).Add(odds, numtest.Big(1))
				probs.Add(probs, numtest.BigQuo(odds, onePlus))
				grad[b] = float64(b % 2)
				product.Mul(product, onePlus)
				product.Add(product, odds)
			}
			start := slices.Clone(grad)
			logSum, probSum := LogisticRow(a, e, grad)
			limit := (float64(n)/4 + 10) * 0x1p-52
			if err := numtest.Relative(logSum, bigLog1p(product)); err > limit {
				t.Errorf("%d odds of 2^%v: Σ log(1+r) = %v, relative error %.3g, want at most %.3g", n, size, logSum, err, limit)
			}
			if err := numtest.Relative(probSum, probs); err > limit {
				t.Errorf("%d odds of 2^%v: Σ p = %v, relative error %.3g, want at most %.3g", n, size, probSum, err, limit)
			}
			for b, g := range grad {
				odds := a * e[b]
				want := start[b] + odds/(1+odds)
				if math.Abs(g-want) > 0x1p-51*want {
					t.Errorf("%d odds of 2^%v: grad[%d] = %v, want %v", n, size, b, g, want)
				}
			}
		}
	}
}

// bigLog1p returns log(1 + x), by its series where x is small.
func bigLog1p(x *big.Float) *big.Float {
	if v, _ := x.Float64(); v < 1e-9 {
		sum, power := numtest.Big(0), numtest.Big(1)
		for k := 1; k < 12; k++ {
			power.Mul(power, x)
			sum.Add(sum, numtest.BigQuo(power, numtest.Big(float64(k))))
			power.Neg(power)
		}
		return sum
	}
	y := new(big.Float).SetPrec(256).Add(x, numtest.Big(1))
	return numtest.BigLog(y)
}

// Wrong shapes and indices panic, and leave what is written as it was.
func TestShapeMistakesPanic(t *testing.T) {
	two, three, f := make([]float64, 2), make([]float64, 3), make([]float32, 7)
	roomy := make([]float64, 2, 8) // its capacity must not pass for its length
	pairs := NewPairs(2, make([]int32, 2), make([]int32, 2))
	for name, f := range map[string]func(){
		"SwapLaw, second": func() { SwapLaw{}.Add(new(SwapSums), three, roomy, three, three) },
		"SwapLaw, losses": func() { SwapLaw{}.Add(new(SwapSums), three, three, roomy, three) },
		"SwapLaw, e":      func() { SwapLaw{}.Add(new(SwapSums), three, three, three, roomy) },
		"DivideByGaps":    func() { DivideByGaps(three, roomy, 1, 1) },
		"Dot":             func() { Dot(three, roomy) },
		"Dot, longer":     func() { Dot(two, three) },
		"Dot32":           func() { Dot32(f, two) },
		"Axpy":            func() { Axpy(1, three, roomy) },
		"Add":             func() { Add(roomy, three) },
		"Adam":            func() { Adam(three, three, three, roomy, 0.9, 0.9, 1, 1) },
		"Gemv":            func() { Gemv(two, f, three) },
		"GemvT":           func() { GemvT(two, f[:5:7], three) },
		"Gemm, x":         func() { Gemm(two, f[:5:7], three, 2, 3) },
		"Gemm, w":         func() { Gemm(two, f[:6], roomy, 2, 3) },
		"Gemm, dst":       func() { Gemm(three, f[:6], three, 2, 3) },
		"Gemm, no rows":   func() { Gemm(two, nil, nil, 0, 3) },
		"GemmT":           func() { GemmT(roomy, f[:6], two, 2, 3) },
		"Exp":             func() { Exp(roomy, three) },
		"Log":             func() { Log(roomy, three) },
		"Softplus":        func() { Softplus(roomy, three) },
		"Logistic":        func() { Logistic(roomy, three) },
		"ExpSum":          func() { ExpSum(roomy, three, 0) },
		"LogisticRow":     func() { LogisticRow(1, three, roomy) },
		"LogisticRows":    func() { LogisticRows(two, make([]float64, 9), make([]float64, 9), []int32{0, 3}) },
		"LogisticRows, −": func() { LogisticRows(two, make([]float64, 9), make([]float64, 9), []int32{0, -1}) },
		"LogisticRows, e": func() { LogisticRows(nil, make([]float64, 9), make([]float64, 8), nil) },
		"LogisticRows, n": func() { LogisticRows(two, make([]float64, 9), make([]float64, 9), nil) },
		"ExpPlus":         func() { ExpPlus(roomy, three, 0, three) },
		"ExpPlus, y":      func() { ExpPlus(three, three, 0, roomy) },
		"NewPairs":        func() { NewPairs(2, make([]int32, 1, 2), make([]int32, 2)) },
		"NewPairs, none":  func() { NewPairs(0, make([]int32, 2), make([]int32, 2)) },
		"PrefixDiff":      func() { pairs.PrefixDiff(three, 1, roomy, 2) },
		"PrefixDiff, s":   func() { pairs.PrefixDiff(three, 1, three, 2) },
		"PrefixDiff, row": func() { pairs.PrefixDiff(make([]float64, 5), 1, two, 3) },
		"PrefixDiff, 0":   func() { pairs.PrefixDiff(two, 1, two, 0) },
		"TransposeDiff":   func() { pairs.TransposeDiff(three, 1, three, make([]float64, pairs.Work())) },
		"TransposeDiff c": func() { pairs.TransposeDiff(two, 1, roomy, make([]float64, pairs.Work())) },
		"TransposeDiff w": func() { pairs.TransposeDiff(two, 1, three, make([]float64, pairs.Work()-1, 99)) },
		"SuffixRows":      func() { SuffixRows(three, -3) },
		"SuffixRows, 0":   func() { SuffixRows(three, 0) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func TestIndicesOutOfRangePanic(t *testing.T) {
	const documents = 10
	for count := 1; count < 40; count++ {
		for at := range count {
			for _, index := range []int32{documents, -1, math.MaxInt32, math.MinInt32} {
				wrong, right := make([]int32, count), make([]int32, count)
				wrong[at] = index
				if !panics(func() { NewPairs(documents, wrong, right) }) || !panics(func() { NewPairs(documents, right, wrong) }) {
					t.Fatalf("index %d at %d of %d: no panic", index, at, count)
				}
			}
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// Nothing to do is done without touching memory or panicking.
func TestZeroLengths(t *testing.T) {
	if s := Dot(nil, nil) + Dot32(nil, nil) + Sum(nil) + ExpSum(nil, nil, 1); s != 0 {
		t.Errorf("empty sums give %v", s)
	}
	if l, p := LogisticRow(1, nil, nil); l != 0 || p != 0 {
		t.Errorf("LogisticRow of nothing gives %v and %v", l, p)
	}
	for _, f := range []func(dst, x []float64){Exp, Log, Softplus, Logistic, Add} {
		f(nil, nil)
	}
	Axpy(1, nil, nil)
	Adam(nil, nil, nil, nil, 0.9, 0.9, 1, 1)
	ExpPlus(nil, nil, 1, nil)
	Scale(1, nil)
	SuffixRows(nil, 0)
	none := NewPairs(0, nil, nil)
	none.PrefixDiff(nil, 1, nil, 0)
	none.TransposeDiff(nil, 1, make([]float64, 1), make([]float64, none.Work()))

	scores := []float64{1, 2, 3}
	Gemv(scores, nil, nil)
	if Max(scores) != 0 {
		t.Errorf("scores without features are %v, want zeros", scores)
	}
	grad := []float64{1, 2, 3}
	GemvT(grad, nil, nil)
	if !slices.Equal(grad, []float64{1, 2, 3}) {
		t.Errorf("a gradient without documents changed to %v", grad)
	}
	Gemm(nil, nil, nil, 0, 3)
	GemmT(nil, nil, nil, 3, 0)
	Gemv(nil, nil, scores)
	GemvT(nil, nil, scores)
}

func TestNothingAllocates(t *testing.T) {
	x, y := make([]float64, 100), make([]float64, 110)
	pairs := NewPairs(100, make([]int32, 100), make([]int32, 100))
	work := make([]float64, pairs.Work())
	if n := testing.AllocsPerRun(10, func() {
		var block [100]float64
		sink = LogSumExp(x) + ExpSum(block[:], x, 0) + Dot(x, block[:])
		pairs.PrefixDiff(y, 1, x, 10)
		pairs.TransposeDiff(x, 1, y[9:], work)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// Claim: SlopeRow and OddsRow give the slopes and values of the logistic function at log odds of
// any size below the limit, and lose nothing where it is near 0 or 1.
func TestSlopeRow(t *testing.T) {
	const a, c = 0.25, -3.0
	var logs []float64
	for x := -60.0; x <= 60; x += 0.75 {
		logs = append(logs, x)
	}
	e, grad, odds := make([]float64, len(logs)), make([]float64, len(logs)), make([]float64, len(logs))
	var slopes, values float64
	for i, x := range logs {
		e[i], grad[i] = math.Exp(x)/a, 1
		slopes += 1 / (2 + math.Exp(x) + math.Exp(-x))
		values += 1 / (1 + math.Exp(-x))
	}
	if got := SlopeRow(a, c, e, grad); math.Abs(got-slopes) > 1e-14*slopes {
		t.Errorf("slopes add up to %v, expected %v", got, slopes)
	}
	if got := OddsRow(a, e, odds); math.Abs(got-values) > 1e-14*values {
		t.Errorf("values add up to %v, expected %v", got, values)
	}
	for i, x := range logs {
		one := []float64{0}
		want := 1 / (2 + math.Exp(x) + math.Exp(-x))
		if SlopeRow(a, 1, e[i:i+1], one); math.Abs(one[0]-want) > 1e-14*want {
			t.Errorf("slope at %v is %v, expected %v", x, one[0], want)
		}
		if d := grad[i] - (1 + c*want); math.Abs(d) > 1e-15 {
			t.Errorf("sum at %v is off by %v", x, d)
		}
		if want := 1 / (1 + math.Exp(-x)); math.Abs(odds[i]-want) > 1e-14*want {
			t.Errorf("value at %v is %v, expected %v", x, odds[i], want)
		}
	}
}
