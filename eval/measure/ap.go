package measure

// ap is average precision. For R relevant documents at the ranks r_1 < … < r_R,
//
//	AP = 1/R Σ_i i/r_i
//
// (Buckley and Voorhees, Retrieval System Evaluation, 2005). R is the number of relevant documents in
// the list, as in the LETOR scripts. The mean of AP over queries is MAP. With a cutoff, the sum is over
// ranks up to the cutoff, but R still counts all relevant documents (map_cut of trec_eval).
type ap struct {
	binary
	k int // 0 for no cutoff
}

func newAP(s spec) Averager { return ap{newBinary(s), s.k} }

var (
	_ Additive = ap{}
	_ Swapper  = ap{}
)

// Value implements Measure.
func (m ap) Value(ranked []float64) (float64, bool) {
	good := m.count(ranked)
	if good == 0 {
		return m.convention.valueless()
	}
	all, threshold := divideAll(good, len(ranked)), m.threshold
	seen, sum := 0, 0.0
	for i, l := range ranked[:cutoff(m.k, len(ranked))] {
		is := 0
		if l >= threshold {
			is = 1
		}
		if seen += is; all || is > 0 {
			sum += float64(is*seen) / float64(i+1)
		}
	}
	return sum / float64(good), true
}

// divideAll reports whether adding 0 for irrelevant documents is faster than a branch that skips them.
// Processors predict the branch well only if few documents are relevant.
func divideAll(good, docs int) bool {
	const part = 8
	return part*good > docs
}

// Average implements Averager. Consider a group of t documents with r relevant ones. The document at a
// rank of the group is relevant with probability r/t. Given that, j(r−1)/(t−1) of the j documents of
// the group above this rank are relevant on average.
func (m ap) Average(ranked []float64, ends []int) (float64, bool) {
	good := m.count(ranked)
	if good == 0 {
		return m.convention.valueless()
	}
	all, threshold := divideAll(good, len(ranked)), m.threshold
	seen, start, sum, k := 0, 0, 0.0, cutoff(m.k, len(ranked))
	for _, end := range ends {
		if end == start+1 { // the formula below without divisions by 1
			is := 0
			if ranked[start] >= threshold {
				is = 1
			}
			if seen += is; start < k && (all || is > 0) {
				sum += float64(is*seen) / float64(end)
			}
			start = end
			continue
		}
		r, t := m.count(ranked[start:end]), end-start
		if r > 0 {
			chance := float64(r) / float64(t)
			step := float64(r-1) / float64(max(t-1, 1))
			for i := start; i < min(end, k); i++ {
				above := float64(seen) + float64(float64(i-start)*step)
				sum += chance * (above + 1) / float64(i+1)
			}
		}
		seen += r
		start = end
	}
	return sum / float64(good), true // good includes relevant documents that were not retrieved
}

// GoodGain implements Additive.
func (m ap) GoodGain(i, a, good, bad int) float64 {
	if i+a >= cutoff(m.k, good+bad) {
		return 0
	}
	return float64(i+1) / float64(i+1+a) / float64(good)
}

// apSwaps are swaps under average precision. Let x be 1 for the R relevant documents and 0 for the
// others. Let i = a+1 and j = b+1 be the ranks counted from 1. Let m_k be the number of relevant
// documents among the first k, and h_k = Σ_{l≤k} x_l/l. Then
//
//	a relevant, b not:  loss = ( m_i/i      − m_j/j + h_{j−1} − h_i)/R
//	b relevant, a not: −loss = ((m_i + 1)/i − m_j/j + h_{j−1} − h_i)/R
//
// Each formula is the sum of a term for the upper document and a term for the lower document.
type apSwaps struct {
	relevant []float64 // by document
	scale    float64   // 1/R
}

// Swaps implements Swapper. The formula of apSwaps requires that there is no cutoff.
func (m ap) Swaps(grades []float64) (Swaps, error) {
	if m.k > 0 {
		return anySwaps{m, grades, cutoff(m.k, len(grades))}, nil
	}
	return apSwaps{m.relevances(grades), 1 / float64(m.count(grades))}, nil
}

func (s apSwaps) Counts() []float64 { return s.relevant }

func (s apSwaps) Work(n int) int { return 2 * n }

func (s apSwaps) Prepare(x, work []float64) (ranks int) {
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

func (s apSwaps) Row(loss, x, work []float64, a, to int) {
	own, upper, lower := x[a], work[a], work[len(x):][:to]
	loss, x = loss[:to], x[:to]
	for b := a + 1; b < len(lower); b++ {
		loss[b] = s.scale * (own - x[b]) * (upper + lower[b])
	}
}
