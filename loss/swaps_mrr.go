package loss

// mrrSwaps are swaps under the reciprocal rank of the first relevant document.
// With x = 1 for relevant documents and 0 for others, v_r = 1/(r+1), 0 beyond the
// cut-off, and c the first relevant document below a, for a no lower than the
// first relevant document of all,
//
//	loss = (x_a − x_b)(v_a − v_min(b,c)).
//
// (A relevant a leaves the first place to b or c; an irrelevant one leaves the
// place to b, and c was first.) Swaps further down change nothing.
type mrrSwaps struct {
	relevant []float64 // by document
	cut      int       // ranks that count
}

func (s mrrSwaps) counts() []float64 { return s.relevant }

func (s mrrSwaps) work(int) int { return 0 }

func (s mrrSwaps) prepare(x, _ []float64) (ranks int) {
	for r, v := range x[:s.cut] {
		if v != 0 {
			return r + 1
		}
	}
	return s.cut
}

func (s mrrSwaps) row(loss, x, _ []float64, a, to int) {
	own, top := x[a], 1/float64(a+1)
	best, found := 0.0, false // of the ranks from a+1 to b
	for b := a + 1; b < to; b++ {
		if !found {
			if best = 0; b < s.cut {
				best = 1 / float64(b+1)
			}
			found = x[b] != 0
		}
		loss[b] = (own - x[b]) * (top - best)
	}
}
