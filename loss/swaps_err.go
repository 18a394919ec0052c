package loss

import "github.com/listwise/listwise/measure"

// errSwaps are swaps under expected reciprocal rank. With x the probability that a
// document satisfies, v_r = 1/(r+1), 0 beyond the cut-off, and
//
//	P_a = Π_{r<a} (1 − x_r),   Q_b = Π_{a<r<b} (1 − x_r),   S_b = Σ_{a<r<b} v_r Q_r x_r,
//
// ERR = … + P_a [v_a x_a + (1 − x_a)(S_b + v_b Q_b x_b)] + …, where what stands
// before and after does not change, and so
//
//	loss = P_a (x_a − x_b)(v_a − S_b − v_b Q_b).
type errSwaps struct {
	stops []float64 // by document
	cut   int       // ranks that count
}

func newERRSwaps(m measure.Measure, grades []float64, cut int) errSwaps {
	s := errSwaps{make([]float64, len(grades)), cut}
	for i, g := range grades {
		if g > 0 {
			// Alone, a document is at rank 1 and its ERR the probability.
			s.stops[i], _ = m.Value([]float64{g})
		}
	}
	return s
}

func (s errSwaps) counts() []float64 { return s.stops }

func (s errSwaps) work(n int) int { return 2 * n }

func (s errSwaps) prepare(x, work []float64) (ranks int) {
	reach, value := work[:len(x)], work[len(x):]
	on := 1.0
	for r, v := range x {
		reach[r] = on
		on *= 1 - v
		value[r] = 0
		if r < s.cut {
			value[r] = 1 / float64(r+1)
		}
	}
	return s.cut
}

func (s errSwaps) row(loss, x, work []float64, a, to int) {
	reach, value := work[a], work[len(x):][:to]
	own, top := x[a], value[a]
	loss, x = loss[:to], x[:to]
	sum, on := 0.0, 1.0
	for b := a + 1; b < len(value); b++ {
		loss[b] = reach * (own - x[b]) * (top - sum - value[b]*on)
		sum += value[b] * on * x[b]
		on *= 1 - x[b]
	}
}
