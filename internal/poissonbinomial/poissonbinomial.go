// Package poissonbinomial computes Poisson-binomial distributions and their derivatives. The
// distribution is that of the number of events that happen, where the events are independent and
// event j has probability p[j] = 1 − q[j].
//
// Start reading at [Distribution]. A measure with a cutoff depends on the first values only, so the
// functions compute the first T values, in O(nT) for n events. All their sums have non-negative
// terms, so the results have a small relative error. The package must not import other packages of
// the module.
package poissonbinomial

// Distribution sets f[t] to unit times the probability that exactly t events happen, for t <
// len(f).
func Distribution(f, p, q []float64, unit float64) {
	q = q[:len(p)]
	clear(f)
	if len(f) == 0 {
		return
	}
	f[0] = unit
	for j, pj := range p {
		AddEvent(f[:min(j+2, len(f))], pj, q[j])
	}
}

// AddEvent updates the distribution f of the number of events for one more event.
func AddEvent(f []float64, p, q float64) {
	var below float64
	for t, v := range f {
		f[t] = float64(v*q) + float64(below*p)
		below = v
	}
}

// withEvent sets next to the distribution f with one more event. next has as many elements as f, or
// one more.
func withEvent(next, f []float64, p, q float64) {
	var below float64
	for t, v := range f {
		next[t] = float64(v*q) + float64(below*p)
		below = v
	}
	if len(next) > len(f) {
		next[len(f)] = below * p
	}
}

// LeaveOneOut sets dst[j] to unit·Σ_t P(t of the events except j happen)·d[t]. This is the
// derivative with respect to p[j] of unit·E[h], where h is a function of the number of events with
// h(t+1) − h(t) = d[t]. d[t] counts as 0 for t ≥ len(d).
//
// LeaveOneOut multiplies the distribution of the events before j by the expectation of d over the
// events after j. It takes O(nT) time for T = len(d). work has LeaveOneOutWork(n, T) elements.
func LeaveOneOut(dst, d, p, q []float64, unit float64, work []float64) {
	n, width := len(p), len(d)
	if width == 0 {
		clear(dst)
		return
	}
	before, after := work[:n*width], work[n*width:]
	before[0] = unit
	for j := range n - 1 {
		row, next := before[j*width:(j+1)*width], before[(j+1)*width:]
		withEvent(next[:min(j+2, width)], row[:min(j+1, width)], p[j], q[j])
	}
	copy(after, d)
	after[width] = 0
	for j := n - 1; j >= 0; j-- {
		m := min(j+1, width)
		dst[j] = dotAndRemove(before[j*width:j*width+m], after[:m+1], p[j], q[j])
	}
}

// LeaveOneOutWork returns the length of the work slice of [LeaveOneOut] for n events and width =
// len(d).
func LeaveOneOutWork(n, width int) int { return n*width + width + 1 }

// dotAndRemove returns Σ f[t]·after[t] and replaces after[t] by
// q·after[t] + p·after[t+1], for t < len(f).
func dotAndRemove(f, after []float64, p, q float64) float64 {
	after = after[:len(f)+1]
	sum, v := 0.0, after[0]
	for t, ft := range f {
		next := after[t+1]
		sum += float64(ft * v)
		after[t] = float64(q*v) + float64(p*next)
		v = next
	}
	return sum
}
