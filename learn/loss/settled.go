package loss

import (
	"math"

	"github.com/listwise/listwise/eval/measure"
)

// settled reports whether a query has nothing to learn: its measure is the same for all rankings, or the
// mean of the measure excludes the query.
func settled(m measure.Measure, grades []float64) bool {
	worst, best, ok := measure.Extremes(m, grades)
	return !ok || best == worst
}

// depthOf returns the cutoff of a measure, or MaxInt if it has none.
func depthOf(m measure.Measure) int {
	if k := measure.CutoffOf(m); k > 0 {
		return k
	}
	return math.MaxInt
}
