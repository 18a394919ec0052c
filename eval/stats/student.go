package stats

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// TTest is a two-sided paired t-test (Student 1908).
//
//	t = D̄ / SE
//
// For single runs, SE is s/√n, where s is the standard deviation of the n differences. For methods
// with several runs, SE is the standard error that [Between] computes without pairing of runs. If
// D̄ is 0, T is 0 and P is 1. If only SE is 0, T is ±Inf and P is 0.
type TTest struct {
	T    float64 // the statistic t
	DF   float64 // degrees of freedom; n − 1 for single runs
	P    float64 // p value of this pair alone, from 0 to 1
	Holm float64 // P, corrected over all pairs of the comparison, see the function Holm
}

func tTest(d []float64, s spread) TTest {
	t := TTest{DF: float64(len(d) - 1), P: 1}
	m := mean(d)
	se, df := s.standardError(d)
	if df > 0 {
		t.DF = df
	}
	if m != 0 {
		t.T = m / se
		t.P = studentTails(t.T, t.DF)
	}
	return t
}

// alike reports whether all values are equal up to rounding.
func alike(d []float64) bool {
	for _, v := range d {
		if math.Abs(v-d[0]) > Same {
			return false
		}
	}
	return true
}

// studentTails returns the two-sided tail probability of |t| under Student's t distribution with df
// degrees of freedom. It is a regularised incomplete beta function (Abramowitz and Stegun 1964,
// 26.7.1).
func studentTails(t, df float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return elementary.Beta(df/2, 0.5, df/(df+float64(t*t)))
}

// studentQuantile returns the quantile of Student's t with df degrees of freedom at the level p > 1/2.
func studentQuantile(p, df float64) float64 {
	x := elementary.BetaInverse(0.5, df/2, 2*p-1) // t²/(df + t²)
	return math.Sqrt(df * x / (1 - x))
}

// normal returns the standard normal distribution function at z.
func normal(z float64) float64 { return elementary.Erfc(-z/math.Sqrt2) / 2 }

// normalQuantile returns the standard normal quantile at the level p.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * elementary.Erfcinv(2*p) }
