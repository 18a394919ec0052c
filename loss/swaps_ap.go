package loss

// apSwaps are swaps under average precision. With x = 1 for the R relevant
// documents and 0 for the others, i = a+1 and j = b+1 ranks from 1, m_k relevant
// ones among the first k and h_k = Σ_{l≤k} x_l/l,
//
//	a relevant, b not:  loss = ( m_i/i      − m_j/j + h_{j−1} − h_i)/R
//	b relevant, a not: −loss = ((m_i + 1)/i − m_j/j + h_{j−1} − h_i)/R
//
// Each is a term of the upper plus a term of the lower document.
type apSwaps struct {
	relevant []float64 // by document
	scale    float64   // 1/R
}

func newAPSwaps(relevant []float64) apSwaps {
	var count float64
	for _, x := range relevant {
		count += x
	}
	return apSwaps{relevant, 1 / count}
}

func (s apSwaps) counts() []float64 { return s.relevant }

func (s apSwaps) work(n int) int { return 2 * n }

func (s apSwaps) prepare(x, work []float64) (ranks int) {
	upper, lower := work[:len(x)], work[len(x):]
	var found, h float64 // m and h of the ranks above
	for r, v := range x {
		rank := float64(r + 1)
		lower[r] = h - (found+v)/rank
		found += v
		h += v / rank
		upper[r] = (found+1-v)/rank - h
	}
	return len(x)
}

func (s apSwaps) row(loss, x, work []float64, a, to int) {
	own, upper, lower := x[a], work[a], work[len(x):][:to]
	loss, x = loss[:to], x[:to]
	for b := a + 1; b < len(lower); b++ {
		loss[b] = s.scale * (own - x[b]) * (upper + lower[b])
	}
}
