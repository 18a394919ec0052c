package logrank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
)

// sampledLaw is the law of the form [Sampled], over a sample of rankings, which random walks draw
// (LogRank, section 4). A ranking of the sample is called a state. A sum over the sample replaces
// the sum over all rankings:
//
//	A(β)     = log Σ_y ω_y exp(e_y + βΔ_y),   e_y = −w·δφ(y),   Σ_y ω_y = 1
//	log E[G] = log Σ_y ω_y exp(e_y) G_y − A(0)
//
// Let p_y = ω_y exp(e_y + βΔ_y)/exp A(β). Then ∂A/∂s = Σ_y p_y ∂e_y/∂s. Let p^G_y ∝ ω_y exp(e_y) G_y.
// Then ∂ log E[G]/∂s = Σ_y (p^G_y − p_y) ∂e_y/∂s.
//
// e_y is called the energy of y. Each step of a walk changes one pair, so the energies are running
// sums of score differences along the walks. The derivatives are running sums in the opposite
// direction. One pass over the steps computes the energies and their exponentials, and two passes
// compute the derivatives. The law is immutable and may be used concurrently.
type sampledLaw struct {
	set      *sample.Set   // without Plus and Minus, which are in flips, and without LogWeight if kept replaces it
	flips    *kernel.Pairs // the steps of all walks
	scale    float64       // 2κ
	limit    float64       // energies are finite if no score exceeds it in absolute value
	logTotal float64       // log of the sum of the unnormalised weights

	// kept marks the states that count, if all of them have the same weight. It takes less memory
	// than a weight for each state.
	kept      kernel.Kept
	dropIdeal bool // the ideal ranking is an additional state that does not count

	restarts  []restart // states at which walks start, except the ideal ranking
	fromIdeal bool      // the ideal ranking is in the sample
	gainless  bool      // every ranking of the sample has gain 0
}

// restart is a state at which walks start, other than the ideal ranking.
type restart struct {
	coefficients []float64 // coefficients of the scores in the energy of the state, divided by 2κ
	walks        []float64 // 1 for each walk that starts at the state, 0 for all other walks
}

var _ curved = (*sampledLaw)(nil)

// newSampledLaw draws a sample of rankings and returns its law, with the loss Δ = 1 − gain. kappa
// is the scale κ > 0 of score differences. more are additional gains that the sample records for
// each state, for [sampledLaw.under]. newSampledLaw returns an error if kappa or opts are out of
// range.
func newSampledLaw(
	pairs bipartite.Classes, gain measure.Additive, kappa float64, opts sample.Options, rng *rand.Rand, more ...ranking.Gain,
) (*sampledLaw, error) {
	if !(kappa > 0) || math.IsInf(kappa, 1) {
		return nil, fmt.Errorf("kappa %v, expected a positive number", kappa)
	}
	set, err := sample.Draw(pairs, gain, opts, rng, more...)
	if err != nil {
		return nil, fmt.Errorf("sample of rankings: %w", err)
	}
	return newLawOf(set, pairs, kappa), nil
}

// newLawOf returns the law of a sample.
func newLawOf(set *sample.Set, pairs bipartite.Classes, kappa float64) *sampledLaw {
	// |e| is at most 2κ·(inverted pairs)·(difference of two scores).
	largest := 2 * max(2*kappa, 1) * float64(pairs.Pairs()+set.Steps)
	flips := kernel.NewPairs(pairs.Docs(), set.Plus, set.Minus)
	rest := *set
	rest.Plus, rest.Minus = nil, nil
	repeats, equal := repeatsOf(set.LogWeight)
	if equal {
		rest.LogWeight = nil
	}
	states := set.Rows() * set.Walks
	dropIdeal := len(repeats) > 0 && int(repeats[len(repeats)-1]) == states
	if dropIdeal {
		repeats = repeats[:len(repeats)-1]
	}
	l := &sampledLaw{
		set:      &rest,
		flips:    flips,
		scale:    2 * kappa,
		limit:    math.MaxFloat64 / 4 / largest,
		logTotal: elementary.Log(set.Total),

		kept:      kernel.NewKept(set.Rows(), set.Walks, repeats),
		dropIdeal: dropIdeal,
		fromIdeal: set.Ideal || slices.Contains(set.Start, 0),
		gainless:  slices.Max(set.Gain) <= 0,
	}
	for r, coefficients := range set.Restarts[1:] {
		walks := make([]float64, set.Walks)
		for w, start := range set.Start {
			if int(start) == r+1 {
				walks[w] = 1
			}
		}
		l.restarts = append(l.restarts, restart{coefficients, walks})
	}
	return l
}

// under returns the law of the same sample with another gain. gain has the gain of each state.
func (l *sampledLaw) under(gain []float64) *sampledLaw {
	set, other := *l.set, *l
	set.Gain = gain
	other.set, other.gainless = &set, slices.Max(gain) <= 0
	return &other
}

// repeatsOf returns the states with weight 0, in ascending order. equal reports whether all other states
// have the weight 1.
func repeatsOf(logWeight []float64) (repeats []int32, equal bool) {
	for y, w := range logWeight {
		switch {
		case math.IsInf(w, -1):
			repeats = append(repeats, int32(y))
		case w != 0:
			return nil, false
		}
	}
	return slices.Clip(repeats), true
}

// logPartition implements law.
func (l *sampledLaw) logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64 {
	return l.logPartitionSecond(beta, s, grad, nil, scratch)
}

// logPartitionSecond implements curved; grad and second may be nil.
func (l *sampledLaw) logPartitionSecond(beta float64, s, grad, second []float64, scratch *loss.Scratch) float64 {
	e, shift := l.exponentials(beta, s, scratch)
	sum := l.suffixSums(e)
	if !exact(sum) {
		e, shift = l.exponents(beta, s, scratch)
		p := e[:l.set.Len()]
		kernel.Exp(p, p)
		sum = l.suffixSums(e)
	}
	if grad != nil {
		l.back(grad, e, 1/sum, scratch)
	}
	if second != nil {
		l.variances(second, grad, e, 1/sum, scratch)
	}
	return shift + elementary.Log(sum) + beta - l.logTotal
}

// exponentials returns ω_y exp(e_y − βG_y − shift) for all states y, where ω is not normalised. The
// slice e has the layout that energies describes.
func (l *sampledLaw) exponentials(beta float64, s []float64, scratch *loss.Scratch) (e []float64, shift float64) {
	set := l.set
	if set.Thin > 1 || set.LogWeight != nil {
		e, shift = l.energies(s, scratch)
		l.weigh(e)
		kernel.ExpPlus(e[:set.Len()], e[:set.Len()], -beta, set.Gain)
		l.drop(e, 0)
		return e, shift
	}
	e, rows, shift := l.begin(s, scratch)
	l.flips.ExpWalks(rows, l.scale, s, -beta, set.Gain[:len(rows)], l.kept)
	if set.Ideal {
		ideal := e[len(rows):set.Len()]
		ideal[0] = -shift
		kernel.ExpPlus(ideal, ideal, -beta, set.Gain[len(rows):])
	}
	if l.dropIdeal {
		e[len(rows)] = 0
	}
	return e, shift
}

// weigh adds log ω_y to the energy of each state.
func (l *sampledLaw) weigh(e []float64) {
	if l.set.LogWeight != nil {
		kernel.Axpy(1, l.set.LogWeight, e[:l.set.Len()])
	}
}

// drop sets the elements of e for states that do not count to v.
func (l *sampledLaw) drop(e []float64, v float64) {
	states := l.set.Rows() * l.set.Walks
	l.kept.Drop(e[:states], v)
	if l.dropIdeal {
		e[states] = v
	}
}

// tiny is the smallest sum of exponentials that is accepted as exact. Terms of a smaller sum may
// have lost digits by underflow.
const tiny = 1e-250

// exact reports whether a sum of exponentials has lost no digits to overflow or underflow. The
// subtraction of shift nearly always prevents such a loss. So most evaluations do not need the
// method exponents, which takes another pass to find the largest exponent.
func exact(sum float64) bool { return sum > tiny && sum < 1/tiny }

// logGain implements law.
func (l *sampledLaw) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	if l.gainless {
		clear(grad)
		return math.Inf(-1)
	}
	e, shift := l.exponentials(0, s, scratch)
	p := e[:l.set.Len()]
	sum := kernel.Sum(p)
	if !exact(sum) {
		e, shift = l.exponents(0, s, scratch)
		p = e[:l.set.Len()]
		sum = kernel.ExpSum(p, p, 0)
	}
	total := kernel.Dot(p, l.set.Gain)
	if !(total > tiny*max(sum, 1)) {
		return l.logSmallGain(s, grad, p, shift, sum, scratch)
	}
	if grad != nil {
		a, b := 1/total, 1/sum
		for i, g := range l.set.Gain {
			p[i] *= float64(a*g) - b
		}
		l.suffixSums(e)
		l.back(grad, e, 1, scratch)
	}
	return elementary.Log(total / sum)
}

// logSmallGain is logGain for the case that all rankings with a nonzero gain are very improbable.
// It divides the terms G_y ω_y exp(e_y) of these rankings by the largest of them, so that they do
// not underflow. p contains ω_y exp(e_y − shift), and sum is the sum of p.
func (l *sampledLaw) logSmallGain(s, grad, p []float64, shift, sum float64, scratch *loss.Scratch) float64 {
	e, shiftGain := l.exponents(0, s, scratch)
	q := e[:len(p)]
	for i, g := range l.set.Gain {
		if g > 0 {
			q[i] += elementary.Log(g)
		} else {
			q[i] = math.Inf(-1)
		}
	}
	top := kernel.Max(q)
	sumGain := kernel.ExpSum(q, q, top)
	if grad != nil {
		for i, v := range p {
			q[i] = q[i]/sumGain - v/sum
		}
		l.suffixSums(e)
		l.back(grad, e, 1, scratch)
	}
	return (shiftGain - shift) + top + elementary.Log(sumGain/sum)
}

// exponents returns e_y + log ω_y − βG_y − shift for all states y, where ω is not normalised. The
// slice e has the layout that energies describes. The largest element is 0. shift is finite at all
// scores.
func (l *sampledLaw) exponents(beta float64, s []float64, scratch *loss.Scratch) (e []float64, shift float64) {
	e, shift = l.energies(s, scratch)
	top := l.tilt(beta, e[:l.set.Len()])
	if v := shift + top; math.IsInf(v, 0) || math.IsNaN(v) {
		// This happens only for scores near the largest float64.
		limited := scratch.Floats(len(s))
		for i, v := range s {
			limited[i] = max(-l.limit, min(l.limit, v))
		}
		e, shift = l.energies(limited, scratch)
		top = l.tilt(beta, e[:l.set.Len()])
	}
	for i := range e[:l.set.Len()] {
		e[i] -= top
	}
	return e, shift + top
}

// tilt replaces the energies e_y by e_y + log ω_y − βG_y and returns the largest of these numbers.
func (l *sampledLaw) tilt(beta float64, e []float64) float64 {
	l.weigh(e)
	l.drop(e, math.Inf(-1))
	kernel.Axpy(-beta, l.set.Gain, e)
	return kernel.Max(e)
}

// energies returns e_y − shift for all states: first the states of the walks, row after row as in
// [sample.Set], and then the ideal ranking if it is an additional state. shift is the largest
// energy of the states at which walks start. e has additional elements at its end, so that it can
// contain a number for each step of each walk and one more number, as the method back requires.
func (l *sampledLaw) energies(s []float64, scratch *loss.Scratch) (e []float64, shift float64) {
	set, w := l.set, l.set.Walks
	e, rows, shift := l.begin(s, scratch)
	l.flips.PrefixDiff(rows, l.scale, s, w)
	if set.Thin > 1 {
		for k := range set.Rows() {
			copy(rows[k*w:(k+1)*w], rows[k*set.Thin*w:])
		}
	}
	if set.Ideal {
		e[set.Len()-1] = -shift
	}
	return e, shift
}

// begin allocates e for energies. It sets the first row of e to the energy of each walk's start
// state minus shift. rows is the part of e with a row for each step of the walks.
func (l *sampledLaw) begin(s []float64, scratch *loss.Scratch) (e, rows []float64, shift float64) {
	w := l.set.Walks
	e = scratch.Floats((l.set.Steps+1)*w + 1)
	rows = e[:(l.set.Steps+1)*w]
	return e, rows, l.start(rows[:w], s, scratch)
}

// start sets row[w] to the energy of the start state of walk w minus shift, and returns shift.
func (l *sampledLaw) start(row, s []float64, scratch *loss.Scratch) (shift float64) {
	if len(l.restarts) == 0 {
		clear(row)
		return 0
	}
	energies := scratch.Floats(len(l.restarts))
	for i, r := range l.restarts {
		energies[i] = l.scale * kernel.Dot(r.coefficients, s)
	}
	shift = slices.Max(energies)
	if l.fromIdeal {
		shift = max(shift, 0)
	}
	for i := range row {
		row[i] = -shift
	}
	for i, r := range l.restarts {
		kernel.Axpy(energies[i], r.walks, row)
	}
	return shift
}

// suffixSums takes a number c_y for each state, in e, and replaces these numbers by sums along each
// walk. Row t of e gets, for each walk, the sum of c_y over the states after t or more steps. It
// returns the sum of all c_y.
func (l *sampledLaw) suffixSums(e []float64) float64 {
	set, w := l.set, l.set.Walks
	rows := e[:(set.Steps+1)*w]
	var ideal float64
	if set.Ideal {
		ideal = e[set.Len()-1]
	}
	if set.Thin > 1 {
		for k := set.Rows() - 1; k > 0; k-- {
			copy(rows[k*set.Thin*w:], rows[k*w:(k+1)*w])
			clear(rows[((k-1)*set.Thin+1)*w : k*set.Thin*w])
		}
	}
	kernel.SuffixRows(rows, w)
	return kernel.Sum(rows[:w]) + ideal
}

// back sets grad to factor·Σ_y c_y ∂e_y/∂s. e contains the sums that suffixSums computes from c.
func (l *sampledLaw) back(grad, e []float64, factor float64, scratch *loss.Scratch) {
	factor *= l.scale
	l.flips.TransposeDiff(grad, factor, e[l.set.Walks:], scratch.Floats(l.flips.Work()))
	for _, r := range l.restarts {
		kernel.Axpy(factor*kernel.Dot(r.walks, e[:l.set.Walks]), r.coefficients, grad)
	}
}

// variances sets second[i] to factor·Σ_y c_y (∂e_y/∂s_i)² − grad[i]². e contains the sums that
// suffixSums computes from c, and grad[i] is factor·Σ_y c_y ∂e_y/∂s_i. Each ∂e_y/∂s_i is 2κ times
// an integer n_y. A step changes the integers of two documents, so
//
//	Σ_y c_y n_y² = Σ_y c_y n_start² + Σ_steps (Σ_{y from the step on} c_y) (n_after² − n_before²).
func (l *sampledLaw) variances(second, grad, e []float64, factor float64, scratch *loss.Scratch) {
	w := l.set.Walks
	clear(second)
	for _, r := range l.restarts {
		c := kernel.Dot(r.walks, e[:w])
		for i, n := range r.coefficients {
			second[i] += float64(c * n * n)
		}
	}
	number := scratch.Floats(len(second))
	for walk, start := range l.set.Start {
		if coefficients := l.set.Restarts[start]; coefficients != nil {
			copy(number, coefficients)
		} else {
			clear(number)
		}
		l.flips.AddSquares(second, number, e[w:], w, walk)
	}
	factor *= l.scale * l.scale
	for i, g := range grad {
		second[i] = max(0, float64(factor*second[i])-float64(g*g))
	}
}
