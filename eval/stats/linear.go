package stats

import "math"

// Linear returns an estimate with Student's t interval and test, by the linearised variance. influence has,
// for each independent unit, its first-order contribution to the error of the estimate, so that the sum is 0 up
// to rounding. A ratio of sums e = Σx/Σy has the influences (x − e·y)/Σy (Cochran 1977, Sampling Techniques,
// section 6.3). With n units, the standard error is √(n/(n−1)·Σ influence²), with n − 1 degrees of freedom.
// The hypothesis of P is that the true value is 0. With fewer than two units, the interval is [Unbounded].
//
// variance is that of the estimate from sources other than the units, such as parameters from other data. It is
// added to that of the units.
func Linear(value float64, influence []float64, variance float64) Difference {
	n := float64(len(influence))
	d := Difference{Mean: value, P: 1, DF: n - 1, Interval: Unbounded}
	if n < 2 {
		return d
	}
	squares := 0.0
	for _, v := range influence {
		squares += float64(v * v)
	}
	d.Error = math.Sqrt(float64(squares*n/(n-1)) + variance)
	half := 0.0
	if d.Error > 0 {
		d.P = studentTails(value/d.Error, d.DF)
		half = float64(studentQuantile(1-Alpha/2, d.DF) * d.Error)
	} else if math.Abs(value) > Same {
		d.P = 0
	}
	d.Interval = Interval{value - half, value + half}
	return d
}

// Lower returns the lower end of the one-sided interval that contains the true value with probability
// 1 − alpha, for alpha below 1/2.
func (d *Difference) Lower(alpha float64) float64 {
	if !(d.DF >= 1) {
		return math.Inf(-1)
	}
	if d.Error == 0 {
		return d.Mean
	}
	return d.Mean - float64(studentQuantile(1-alpha, d.DF)*d.Error)
}
