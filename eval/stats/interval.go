package stats

import (
	"math"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
)

// FewQueries is the number of queries below which intervals of means are Student's t intervals.
// Bootstrap intervals of so few values are too narrow.
const FewQueries = 10

// interval returns the bootstrap interval of the mean m of x. off contains, for each bootstrap
// sample, the sample's mean minus m. s has the variance due to seeds, which interval uses only if
// there are too few values for the bootstrap. interval sorts off.
//
// The result is the percentile interval of the samples, corrected for bias and skewness (BCa: Efron
// 1987, JASA 82). A sample varies less than its population. So the interval is widened by the
// factor by which a Student's t interval is wider than a normal interval with the divisor n in the
// variance (expanded percentiles: Hesterberg 2015, The American Statistician 69(4)).
//
// For fewer than FewQueries values, the result is Student's t interval. If these few values are all
// equal and there is no variance due to seeds, the result is Unbounded, since the values do not
// show their variance.
func interval(x []float64, m float64, s spread, off []float64) Interval {
	if len(x) < FewQueries || alike(x) {
		se, df := s.standardError(x)
		switch {
		case se > 0:
			half := float64(studentQuantile(1-Alpha/2, df) * se)
			return Interval{m - half, m + half}
		case len(x) < FewQueries:
			return Unbounded
		}
		return Interval{m, m}
	}
	n := float64(len(x))
	slices.Sort(off)
	z := studentQuantile(1-Alpha/2, n-1) * math.Sqrt(n/(n-1))
	low, high := bcaLevels(z, bias(off), acceleration(x))
	return Interval{m + quantile(off, low), m + quantile(off, high)}
}

// bcaLevels returns the levels of the two quantiles of the samples' means that are the ends of the
// interval. If the means were normal, the interval would extend z standard errors to either side.
// z0 is the bias z₀, and a is the acceleration:
//
//	Φ(z₀ + (z₀ ± z)/(1 − a(z₀ ± z)))            Efron 1987, equation 2.3
func bcaLevels(z, z0, a float64) (low, high float64) {
	level := func(z float64) float64 {
		// if the denominator is not positive, the interval ends with the samples
		if d := 1 - float64(a*(z0+z)); d > 0 {
			return normal(z0 + (z0+z)/d)
		} else if z > 0 {
			return 1
		}
		return 0
	}
	return level(-z), level(z)
}

// bias returns z₀, the normal quantile of the proportion of negative elements of off, where an
// element 0 counts half. off must be sorted.
func bias(off []float64) float64 {
	below, _ := slices.BinarySearch(off, 0)
	above := below
	for above < len(off) && off[above] == 0 {
		above++
	}
	n := float64(len(off))
	share := (float64(below) + float64(above)) / 2 / n
	return normalQuantile(min(max(share, 0.5/n), 1-0.5/n))
}

// acceleration returns a, a sixth of the skewness of the mean of x, estimated by the jackknife.
func acceleration(x []float64) float64 {
	m := mean(x)
	var squares, cubes float64
	for _, v := range x {
		d := v - m
		squares += float64(d * d)
		cubes += float64(d * d * d)
	}
	return cubes / (6 * elementary.Pow(squares, 1.5))
}

// quantile interpolates linearly between sorted values (definition 7 of Hyndman and Fan 1996). There
// must be at least one value.
func quantile(sorted []float64, p float64) float64 {
	at := float64(p * float64(len(sorted)-1))
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + float64((at-float64(i))*(sorted[j]-sorted[i]))
}
