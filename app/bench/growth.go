package bench

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Slope is that of the line through the points' logarithms by least squares: the exponent with
// which y grows. Fewer than two points, or one that is not positive, have none: NaN.
func Slope(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("bench: as many x as y")
	}
	var mx, my float64
	for i := range x {
		if !(x[i] > 0 && y[i] > 0) {
			return math.NaN()
		}
		mx += elementary.Log(x[i]) / float64(len(x))
		my += elementary.Log(y[i]) / float64(len(x))
	}
	var products, squares float64
	for i := range x {
		dx := elementary.Log(x[i]) - mx
		products += float64(dx * (elementary.Log(y[i]) - my))
		squares += float64(dx * dx)
	}
	if squares == 0 {
		return math.NaN()
	}
	return products / squares
}

// Growth are the exponents of a work's processor time, reckoned with its usual passes, and of
// its peak memory over the number of documents; NaN where there are too few points.
func (s *Series) Growth() (time, memory float64) {
	var x, t, m []float64
	for _, p := range s.Points {
		x = append(x, float64(p.Documents))
		t = append(t, p.SetupCPU+float64(float64(s.Work.Usual)*p.PassCPU))
		m = append(m, float64(p.Memory))
	}
	return Slope(x, t), Slope(x, m)
}
