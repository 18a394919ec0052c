package kernel

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Softplus sets dst[i] = log(1 + exp(x[i])). The slices have the same length and may be the same
// slice. The relative error is below 4e-16 unless the result is subnormal. NaN gives NaN.
func Softplus(dst, x []float64) {
	mustMatch(len(dst), len(x))
	softplus(dst, x)
}

func softplusGo(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		l := elementary.Log1pUnit(elementary.Exp(math.Copysign(v, -1)))
		if !(v < 0) { // NaN passes
			l += v
		}
		dst[i] = l
	}
}

// Logistic sets dst[i] = 1/(1 + exp(−x[i])). The slices have the same length and may be the same
// slice. The relative error is below 4e-16 unless the result is subnormal. NaN gives NaN.
func Logistic(dst, x []float64) {
	mustMatch(len(dst), len(x))
	logistic(dst, x)
}

func logisticGo(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		e := elementary.Exp(math.Copysign(v, -1))
		n := 1.0
		if math.Signbit(v) {
			n = e
		}
		dst[i] = n / (1 + e)
	}
}

// LogisticRow computes the pairwise logistic loss of one relevant document g against many
// irrelevant documents b. Let z be the scores, a = exp(−z_g), e[b] = exp(z_b) and r_b = a·e[b] =
// exp(z_b − z_g). LogisticRow returns Σ_b log(1 + r_b) and Σ_b p_b, where p_b = r_b/(1 + r_b), and
// adds p_b to grad[b]. Every r_b must be at most 2^100. a and e must be finite and non-negative.
// grad must have the length of e.
//
// LogisticRow takes one division per pair and one logarithm per row. It accumulates Π(1 + r_b) − 1
// instead of the product, so that tiny r_b lose no precision. The relative error of logSum is below
// (len(e)/4 + 10)·2⁻⁵², which is 1e-13 for 1700 pairs. The relative error of every p_b is below
// 2⁻⁵¹.
func LogisticRow(a float64, e, grad []float64) (logSum, probSum float64) {
	mustMatch(len(grad), len(e))
	u, k, probSum := logisticRow(a, e, grad)
	u, k = normalise(u, k)
	return math.FMA(float64(k), math.Ln2, elementary.Log1pUnit(u)), probSum
}

// logisticRowGo returns u and k such that Π(1 + r_b) is 2^k·(1 + u), with 0 ≤ u < 2^8. It
// distributes the pairs over eight lanes, eight pairs at a time. If four or more pairs remain, four
// go to the first four lanes. The last one to three pairs go to the last four lanes.
func logisticRowGo(a float64, e, grad []float64) (u float64, k int64, probSum float64) {
	var o odds
	for block := 1; len(e) >= 8; block++ {
		o.pass(0, a, e[:8], grad)
		if block%8 == 0 {
			o.normalise()
		}
		e, grad = e[8:], grad[8:]
	}
	if len(e) >= 4 {
		o.pass(0, a, e[:4], grad)
		e, grad = e[4:], grad[4:]
	}
	o.pass(4, a, e, grad)
	o.normalise()
	u, k = o.product()
	return u, k, o.probSum()
}

// SlopeRow adds c·p_b(1 − p_b) to grad[b] and returns Σ_b p_b(1 − p_b). p_b is the logistic
// function of z_b − z_g, and p_b(1 − p_b) is its derivative. The arguments must meet the conditions
// of [LogisticRow]. SlopeRow takes one division per pair.
func SlopeRow(a, c float64, e, grad []float64) (sum float64) {
	mustMatch(len(grad), len(e))
	return slopeRow(a, c, e, grad)
}

// slopeRowGo distributes the pairs over the lanes as logisticRowGo does.
func slopeRowGo(a, c float64, e, grad []float64) float64 {
	var o odds
	pass := func(from, n int) {
		for b, v := range e[:n] {
			r := float64(a * v)
			d := 1 + r
			slope := r / float64(d*d)
			grad[b] = math.FMA(c, slope, grad[b])
			o.sum[from+b] += slope
		}
		e, grad = e[n:], grad[n:]
	}
	for len(e) >= 8 {
		pass(0, 8)
	}
	if len(e) >= 4 {
		pass(0, 4)
	}
	pass(4, len(e))
	return o.probSum()
}

// OddsRow does what [LogisticRow] does, but does not compute the sum of logarithms. It adds p_b to
// grad[b] and returns Σ_b p_b.
func OddsRow(a float64, e, grad []float64) (probSum float64) {
	mustMatch(len(grad), len(e))
	_, _, probSum = logisticRow(a, e, grad)
	return probSum
}

// odds has, per lane, a product 2^k·(1 + u) and a sum of probabilities.
type odds struct {
	u, sum [8]float64
	k      [8]int64
}

func (o *odds) pass(from int, a float64, e, grad []float64) {
	for b, v := range e {
		r := float64(a * v)
		p := r / (1 + r)
		grad[b] += p
		l := from + b
		o.sum[l] += p
		o.u[l] = both(o.u[l], r)
	}
}

// normalise moves the exponents of the products into k, which prevents overflow. Between two calls,
// a lane's product is multiplied by at most eight factors of at most 1 + 2^100.
func (o *odds) normalise() {
	for l := range o.u {
		o.u[l], o.k[l] = normalise(o.u[l], o.k[l])
	}
}

// product returns the product over all lanes as 2^k·(1 + u).
func (o *odds) product() (u float64, k int64) {
	for l := range 4 {
		o.u[l] = both(o.u[l], o.u[l+4])
	}
	for _, n := range o.k {
		k += n
	}
	return both(both(o.u[0], o.u[2]), both(o.u[1], o.u[3])), k
}

// probSum returns the sum over all lanes.
func (o *odds) probSum() float64 {
	s := &o.sum
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// both returns w such that 1 + w = (1 + u)·(1 + v).
func both(u, v float64) float64 { return math.FMA(u, v, u+v) }

const (
	oneBits      = uint64(1023) << 52 // the bits of 1
	mantissaBits = 1<<52 - 1
)

// normalise moves the exponent of 1 + u into k if u ≥ 1. The returned u is in [0, 1), and the
// returned k leaves 2^k·(1 + u) unchanged. If u is less than 1 or NaN, normalise returns its
// arguments.
func normalise(u float64, k int64) (float64, int64) {
	if !(u >= 1) {
		return u, k
	}
	bits := math.Float64bits(1 + u)
	return math.Float64frombits(bits&mantissaBits|oneBits) - 1, k + int64(bits>>52) - 1023
}
