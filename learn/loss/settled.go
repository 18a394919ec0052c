package loss

import (
	"math"

	"github.com/listwise/listwise/eval/measure"
)

// settled reports whether the measure of a query is the same for all rankings, or
// is left out of means: there is nothing to learn.
func settled(m measure.Measure, grades []float64) bool {
	worst, best, ok := measure.Extremes(m, grades)
	return !ok || best == worst
}

// depthOf returns the number of ranks that count in a measure, MaxInt if all do.
func depthOf(m measure.Measure) int {
	if k := measure.CutoffOf(m); k > 0 {
		return k
	}
	return math.MaxInt
}
