package logrank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// labelings calls each with every vector a of n labels, 0 for −1 and 1 for +1.
func labelings(n int, each func(a []int)) {
	a := make([]int, n)
	for mask := range 1 << n {
		for i := range a {
			a[i] = mask >> i & 1
		}
		each(a)
	}
}

// functions returns n functions of a label, drawn from spread times a normal law.
func functions(rng *rand.Rand, n int, spread float64) [][2]float64 {
	f := make([][2]float64, n)
	for i := range f {
		f[i] = [2]float64{spread * rng.NormFloat64(), spread * rng.NormFloat64()}
	}
	return f
}

func sumOf(f [][2]float64, a []int) float64 {
	var sum float64
	for i, label := range a {
		sum += f[i][label]
	}
	return sum
}

func productOf(f [][2]float64, a []int) float64 {
	product := 1.0
	for i, label := range a {
		product *= f[i][label]
	}
	return product
}

// both is f(−1) + f(+1).
func both(f [2]float64) float64 { return f[0] + f[1] }

// TestFigure1Identities checks the four identities of LogRank's Figure 1, as printed, against
// sums over all 2^n labelings.
func TestFigure1Identities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for n := 2; n <= 7; n++ {
		f, g, h := functions(rng, n, 1), functions(rng, n, 2), functions(rng, n, 0.7)
		var left, right [4]float64
		labelings(n, func(a []int) {
			left[0] += productOf(h, a)
			left[1] += sumOf(f, a) * sumOf(h, a) / math.Exp2(float64(n-2))
			left[2] += sumOf(f, a) * productOf(h, a)
			left[3] += sumOf(f, a) * sumOf(g, a) * productOf(h, a)
		})
		others := func(except ...int) float64 {
			product := 1.0
			for k := range n {
				if k != except[0] && k != except[len(except)-1] {
					product *= both(h[k])
				}
			}
			return product
		}
		right[0] = others(-1)
		for i := range n {
			fh := f[i][0]*h[i][0] + f[i][1]*h[i][1]
			right[1] += 2 * fh
			right[2] += fh * others(i)
			right[3] += (f[i][0]*g[i][0]*h[i][0] + f[i][1]*g[i][1]*h[i][1]) * others(i)
			for j := range n {
				if i != j {
					right[1] += both(f[i]) * both(h[j])
					right[3] += fh * (g[j][0]*h[j][0] + g[j][1]*h[j][1]) * others(i, j)
				}
			}
		}
		for k := range left {
			if !near(left[k], right[k], 1e-12) {
				t.Errorf("n = %d, identity %d: %v over all labelings, %v as printed", n, k+1, left[k], right[k])
			}
		}
	}
}

// TestClosedFormOfExpGain: section 2.3 prints h_gb(−1) where the sum over labelings has
// h_gb(+1). With h_gb(−1) the formula is the expected loss.
func TestClosedFormOfExpGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, c := range []struct {
		good, bad      int
		s              []float64
		right, printed string // −log of both; "" not known
	}{
		{1, 1, []float64{0.00306, 0}, "0.6901", "0.6962"},
		{2, 3, normals(rng, 5, 0.5), "", ""},
		{3, 3, normals(rng, 6, 2), "", ""},
	} {
		grades := make([]float64, c.good+c.bad)
		for g := range c.good {
			grades[g] = 1
		}
		h := func(g, b, label int) float64 {
			return math.Exp(float64(label) * (c.s[g] - c.s[c.good+b]))
		}
		// closed is Σ_gb h_gb(label) Π_(ij≠gb) (h_ij(−1) + h_ij(+1)) / (n⁺n⁻ Z).
		closed := func(label int) float64 {
			var sum float64
			for g := range c.good {
				for b := range c.bad {
					sum += h(g, b, label) / (h(g, b, -1) + h(g, b, 1))
				}
			}
			return -math.Log(sum / float64(c.good*c.bad))
		}
		var gain, lost, total float64
		labelings(c.good*c.bad, func(a []int) {
			p, kept := 1.0, 0
			for i, label := range a {
				p *= h(i/c.bad, i%c.bad, 2*label-1)
				kept += label
			}
			share := float64(kept) / float64(len(a))
			gain, lost, total = gain+p*share, lost+p*(1-share), total+p
		})
		got := evaluate(t, ExpGain{Options{Gain: additive(t, "auc")}}, grades, c.s).value
		if want := -math.Log(gain / total); !near(got, want, 1e-12) || !near(closed(1), want, 1e-12) {
			t.Errorf("%d×%d: ExpGain %v, with h(+1) %v, over all labelings %v", c.good, c.bad, got, closed(1), want)
		}
		if want := -math.Log(lost / total); !near(closed(-1), want, 1e-12) {
			t.Errorf("%d×%d: with h(−1) %v, the expected loss %v", c.good, c.bad, closed(-1), want)
		}
		if c.right != "" && (fmt.Sprintf("%.4f", got) != c.right || fmt.Sprintf("%.4f", closed(-1)) != c.printed) {
			t.Errorf("%d×%d: ExpGain %.4f and with h(−1) %.4f, expected %s and %s", c.good, c.bad, got, closed(-1), c.right, c.printed)
		}
	}
}
