package measure

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// expectedRR is expected reciprocal rank (Chapelle, Metzler, Zhang and Grinspan, Expected Reciprocal
// Rank for Graded Relevance, 2009). A user reads the list from the top. A document of grade l satisfies
// the user with probability
//
//	R(l) = (2^l − 1)/2^max
//
// and the user then stops. ERR@k = Σ_{r ≤ k} 1/r · P(stops at r). max is the highest grade of the
// scale. It is a constant of the measure, not of the query.
type expectedRR struct {
	base
	k        int // 0 for no cutoff
	maxGrade float64
}

func newERR(s spec) Averager { return expectedRR{newBase(s), s.k, s.maxGrade} }

var (
	_ gradeLimit = expectedRR{}
	_ Swapper    = expectedRR{}
)

func (m expectedRR) under(c Convention) Measure {
	return reparsed(m.name, c, Options{MaxGrade: m.maxGrade})
}

// checkGrade implements gradeLimit. It rejects grades above the scale.
func (m expectedRR) checkGrade(highest float64) error {
	if highest > m.maxGrade {
		return fmt.Errorf("%s reckons with grades up to %g but the data have %g; raise the highest grade (--max-grade)", m.name, m.maxGrade, highest)
	}
	return nil
}

// stop returns R(l). It treats a grade above the scale as the highest grade.
func (m expectedRR) stop(l float64) float64 {
	l = min(l, m.maxGrade)
	if m.maxGrade > largestGrade {
		return elementary.Exp2(l-m.maxGrade) - elementary.Exp2(-m.maxGrade)
	}
	return exponentialGain.of(l) * elementary.Exp2(-m.maxGrade)
}

// Value implements Measure.
func (m expectedRR) Value(ranked []float64) (float64, bool) {
	if !anyGain(ranked) {
		return m.convention.valueless()
	}
	sum, on := 0.0, 1.0 // on: the probability that the user is still reading
	for i, l := range ranked[:cutoff(m.k, len(ranked))] {
		if l > 0 {
			r := m.stop(l)
			sum += on * r / float64(i+1)
			on *= 1 - r
		}
	}
	return sum, true
}

// Average implements Averager. Let P_j be the mean of Π (1 − R) over all sets of j documents of a
// group. It is the probability that a user who reads j documents of the group in random order then
// continues. on is the probability that the user continues after all groups above. A group then adds
//
//	on · Σ_j (P_j − P_{j+1})/(start + j + 1)
func (m expectedRR) Average(ranked []float64, ends []int) (float64, bool) {
	if !anyGain(ranked) {
		return m.convention.valueless()
	}
	s := getScratch()
	defer s.put()
	k := cutoff(m.k, len(ranked))
	sum, on, start := 0.0, 1.0, 0
	for _, end := range ends {
		if start >= k || on == 0 {
			break
		}
		group := ranked[start:end]
		p := m.readOn(s, group, min(end, k)-start)
		for j := 0; j+1 < len(p); j++ {
			sum += on * (p[j] - p[j+1]) / float64(start+j+1)
		}
		for _, l := range group {
			on *= 1 - m.stop(l)
		}
		start = end
	}
	return sum, true
}

// readOn returns P_0 … P_depth of a group. Adding a document that the user continues after with
// probability q = 1 − R changes P by the recurrence
//
//	P_j ← (1 − j/n)·P_j + (j/n)·q·P_{j−1}      n documents, including the added one
//
// because a random set of j documents contains the added one with probability j/n. Initially the group
// has only the documents without gain, for which P_j = 1.
func (m expectedRR) readOn(s *scratch, group []float64, depth int) []float64 {
	n := 0
	var total float64
	for _, l := range group {
		if l == 0 {
			n++
		}
		total += 1 - m.stop(l)
	}
	p := resize(s.sums, depth+1)
	s.sums = p
	for j := range p {
		p[j] = 1
	}
	// P_j ≤ (P_1)^j (Maclaurin's inequality). Values below 1e-20 are negligible.
	if last := math.Ceil(-46 / elementary.Log(total/float64(len(group)))); last < float64(depth) {
		p = p[:int(max(last, 1))+1]
	}
	for _, l := range group {
		if l == 0 {
			continue
		}
		n++
		q := 1 - m.stop(l)
		for j := min(n, len(p)-1); j > 0; j-- {
			share := float64(j) / float64(n)
			p[j] = float64((1-share)*p[j]) + float64(share*q*p[j-1])
		}
	}
	return p
}

// errSwaps are swaps under expected reciprocal rank. Let x be the probability that a document satisfies
// the user. Let v_r = 1/(r+1), or 0 beyond the cutoff, and
//
//	P_a = Π_{r<a} (1 − x_r),   Q_b = Π_{a<r<b} (1 − x_r),   S_b = Σ_{a<r<b} v_r Q_r x_r.
//
// The ranks from a to b contribute P_a [v_a x_a + (1 − x_a)(S_b + v_b Q_b x_b)] to ERR. A swap does not
// change the other contributions, so
//
//	loss = P_a (x_a − x_b)(v_a − S_b − v_b Q_b).
type errSwaps struct {
	stops []float64 // by document
	cut   int       // number of ranks that count
}

// Swaps implements Swapper.
func (m expectedRR) Swaps(grades []float64) (Swaps, error) {
	s := errSwaps{make([]float64, len(grades)), cutoff(m.k, len(grades))}
	for i, g := range grades {
		if g > 0 {
			s.stops[i] = m.stop(g)
		}
	}
	return s, nil
}

func (s errSwaps) Counts() []float64 { return s.stops }

func (s errSwaps) Work(n int) int { return 2 * n }

func (s errSwaps) Prepare(x, work []float64) (ranks int) {
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

func (s errSwaps) Row(loss, x, work []float64, a, to int) {
	reach, value := work[a], work[len(x):][:to]
	own, top := x[a], value[a]
	loss, x = loss[:to], x[:to]
	sum, on := 0.0, 1.0
	for b := a + 1; b < len(value); b++ {
		loss[b] = reach * (own - x[b]) * (top - sum - float64(value[b]*on))
		sum += float64(value[b] * on * x[b])
		on *= 1 - x[b]
	}
}

// anyGain reports whether any grade is positive.
func anyGain(grades []float64) bool {
	for _, l := range grades {
		if l > 0 {
			return true
		}
	}
	return false
}
