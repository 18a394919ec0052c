package interchange

import "math"

// doubleThreshold returns the largest double that becomes at most t when it is rounded to
// float32, as features are when they are read: x ≤ t for a feature x as float32, and
// x ≤ doubleThreshold(t) for the double it was, are the same.
func doubleThreshold(t float32) float64 {
	next := float64(2*float64(t)) - float64(math.Nextafter32(t, float32(math.Inf(-1)))) // of t's spacing below
	if up := math.Nextafter32(t, float32(math.Inf(1))); !math.IsInf(float64(up), 0) {
		next = float64(up)
	}
	middle := float64(t) + float64((next-float64(t))/2)
	if math.Float32bits(t)&1 == 1 { // a tie rounds to the even neighbour, away from t
		return math.Nextafter(middle, math.Inf(-1))
	}
	return middle
}
