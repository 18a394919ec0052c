package stats

import (
	"fmt"
	"math"
)

// Welch returns the difference of the means of two independent samples, a minus b, with Welch's t
// interval and test (Welch 1947, Biometrika 34). It returns an error unless both samples have at least
// two values, all finite.
func Welch(a, b []float64) (Difference, error) {
	for _, x := range [][]float64{a, b} {
		if len(x) < 2 {
			return Difference{}, fmt.Errorf("found a sample of %d, expected at least two", len(x))
		}
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Difference{}, fmt.Errorf("found the value %v, expected a finite number", v)
			}
		}
	}
	sa, sb := deviation(a), deviation(b)
	va, vb := float64(sa*sa)/float64(len(a)), float64(sb*sb)/float64(len(b))
	v := va + vb
	d := Difference{Mean: mean(a) - mean(b), Error: math.Sqrt(v), DF: math.Inf(1), P: 1}
	half := 0.0
	if v > 0 {
		d.DF = float64(v*v) / (float64(va*va)/float64(len(a)-1) + float64(vb*vb)/float64(len(b)-1))
		d.P = studentTails(d.Mean/d.Error, d.DF)
		half = float64(studentQuantile(1-Alpha/2, d.DF) * d.Error)
	} else if math.Abs(d.Mean) > Same {
		d.P = 0
	}
	d.Interval = Interval{d.Mean - half, d.Mean + half}
	return d, nil
}

// Covary returns the slope of the regression of y on x and their correlation. Both are 0 if x or y does
// not vary. x and y must have the same length.
func Covary(x, y []float64) (slope, correlation float64) {
	mx, my := mean(x), mean(y)
	var xx, xy, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += float64(dx * dx)
		xy += float64(dx * dy)
		yy += float64(dy * dy)
	}
	if !(xx > 0 && yy > 0) {
		return 0, 0
	}
	return xy / xx, xy / math.Sqrt(xx) / math.Sqrt(yy)
}
