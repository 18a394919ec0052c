package loss

import (
	"math"

	"github.com/listwise/listwise/measure"
)

// anySwaps are swaps under any measure: each is made and the measure computed
// anew, in O(n) a swap.
type anySwaps struct {
	measure measure.Measure
	grades  []float64
	cut     int // ranks that count
}

func (s anySwaps) counts() []float64 { return s.grades }

func (s anySwaps) work(int) int { return 1 }

func (s anySwaps) prepare(x, work []float64) (ranks int) {
	work[0], _ = s.measure.Value(x)
	return s.cut
}

func (s anySwaps) row(loss, x, work []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		loss[b] = 0
		if x[a] != x[b] {
			x[a], x[b] = x[b], x[a]
			after, _ := s.measure.Value(x)
			x[a], x[b] = x[b], x[a]
			loss[b] = math.Copysign(work[0]-after, x[a]-x[b])
		}
	}
}
