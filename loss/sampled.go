package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/ranking"
	"github.com/listwise/listwise/sample"
)

// sampledLaw is the law over rankings whose sum is replaced by one over a sample
// drawn by random walks (LogRank, section 4):
//
//	A(β)     = log Σ_y ω_y exp(e_y + βΔ_y),   e_y = −w·δφ(y),   Σ_y ω_y = 1
//	log E[G] = log Σ_y ω_y exp(e_y) G_y − A(0)
//
// With p_y = ω_y exp(e_y + βΔ_y)/exp A(β), ∂A/∂s = Σ_y p_y ∂e_y/∂s; with p^G_y ∝
// ω_y exp(e_y) G_y, ∂ log E[G]/∂s = Σ_y (p^G_y − p_y) ∂e_y/∂s.
//
// A walk's states differ in one pair a step, so all e_y are running sums of
// score differences and the derivatives the same sums backwards: one pass over
// the steps gathers, one adds up, one takes exponentials, and two return. The
// law is immutable and may be used concurrently.
type sampledLaw struct {
	set      *sample.Set // Plus and Minus hold slots in place of documents
	slots    slots
	scale    float64 // 2κ
	limit    float64 // magnitude of scores at which energies surely are finite
	logTotal float64 // log of the sum of the unnormalised weights
}

var _ law = (*sampledLaw)(nil)

// newSampledLaw draws the sample. Training loss is Δ = 1 − gain; kappa is the
// feature map's scale κ > 0. It fails on senseless options, or if no ranking of
// the sample has any gain, because log E[G] then is −Inf whatever the scores.
func newSampledLaw(pairs ranking.Bipartite, gain measure.Additive, kappa float64, opts sample.Options, rng *rand.Rand) (*sampledLaw, error) {
	if !(kappa > 0) || math.IsInf(kappa, 1) {
		return nil, fmt.Errorf("kappa %v, expected a positive number", kappa)
	}
	set, err := sample.Draw(pairs, gain, opts, rng)
	if err != nil {
		return nil, fmt.Errorf("sample of rankings: %w", err)
	}
	if slices.Max(set.Gain) <= 0 {
		return nil, errors.New("sample of rankings: " + gain.Name() + " is 0 for all of them")
	}
	return newLawOf(set, pairs, kappa), nil
}

// newLawOf returns the law of a sample, which it takes over.
func newLawOf(set *sample.Set, pairs ranking.Bipartite, kappa float64) *sampledLaw {
	slots := newSlots(pairs)
	slots.replace(set.Plus, set.Walks)
	slots.replace(set.Minus, set.Walks)
	// |e| is at most 2κ·(inverted pairs)·(difference of two scores).
	largest := 2 * max(2*kappa, 1) * float64(pairs.Pairs()+set.Steps)
	return &sampledLaw{
		set:      set,
		slots:    slots,
		scale:    2 * kappa,
		limit:    math.MaxFloat64 / 4 / largest,
		logTotal: math.Log(set.Total),
	}
}

// logPartition implements law.
func (l *sampledLaw) logPartition(beta float64, s, grad []float64, scratch *Scratch) float64 {
	e, top := l.exponents(beta, s, scratch)
	p := e[:l.set.Len()]
	sum := kernel.ExpSum(p, p, top)
	if grad != nil {
		l.back(grad, e, 1/sum, scratch)
	}
	return top + math.Log(sum) + beta - l.logTotal
}

// tiny is where Σ_y p_y G_y may have lost digits to underflow of its terms.
const tiny = 1e-250

// logGain implements law.
func (l *sampledLaw) logGain(s, grad []float64, scratch *Scratch) float64 {
	e, top := l.exponents(0, s, scratch)
	p := e[:l.set.Len()]
	sum := kernel.ExpSum(p, p, top)
	total := kernel.Dot(p, l.set.Gain)
	if !(total > tiny) {
		return l.logSmallGain(s, grad, p, top, sum, scratch)
	}
	if grad != nil {
		a, b := 1/total, 1/sum
		for i, g := range l.set.Gain {
			p[i] *= a*g - b
		}
		l.back(grad, e, 1, scratch)
	}
	return math.Log(total / sum)
}

// logSmallGain is logGain where the rankings with any gain are so improbable
// that their exponentials need a maximum of their own. p holds exp(e_y − top),
// whose sum is sum.
func (l *sampledLaw) logSmallGain(s, grad, p []float64, top, sum float64, scratch *Scratch) float64 {
	e, _ := l.exponents(0, s, scratch)
	q := e[:len(p)]
	for i, g := range l.set.Gain {
		if g > 0 {
			q[i] += math.Log(g)
		} else {
			q[i] = math.Inf(-1)
		}
	}
	topGain := kernel.Max(q)
	sumGain := kernel.ExpSum(q, q, topGain)
	if grad != nil {
		for i, v := range p {
			q[i] = q[i]/sumGain - v/sum
		}
		l.back(grad, e, 1, scratch)
	}
	return topGain - top + math.Log(sumGain/sum)
}

// exponents returns e_y = log ω_y − w·δφ(y) − βG_y of all states (ω not
// normalised) and the largest of them. The slice has room for all steps of all
// walks and one more state, which back needs.
func (l *sampledLaw) exponents(beta float64, s []float64, scratch *Scratch) (e []float64, top float64) {
	e = scratch.Floats((l.set.Steps+1)*l.set.Walks + 1)
	scores := scratch.Floats(l.slots.count)
	copy(scores, s)
	if top = l.fill(e, beta, scores, scratch); !math.IsInf(top, 0) && !math.IsNaN(top) {
		return e, top
	}
	// Only scores near the largest float64 come here.
	for i, v := range s {
		scores[i] = max(-l.limit, min(l.limit, v))
	}
	return e, l.fill(e, beta, scores, scratch)
}

// fill computes the exponents and their maximum at the scores, which fill the
// first slots and are overwritten.
func (l *sampledLaw) fill(e []float64, beta float64, scores []float64, scratch *Scratch) (top float64) {
	set, w := l.set, l.set.Walks
	rows := e[:(set.Steps+1)*w]
	docs := scores[:l.slots.docs]
	kernel.Scale(l.scale, docs)
	l.slots.share(scores)
	start := scratch.Floats(len(set.Restarts))
	start[0] = 0
	for r, coefficients := range set.Restarts[1:] {
		start[r+1] = kernel.Dot(coefficients, docs)
	}
	for i, r := range set.Start {
		rows[i] = start[r]
	}
	kernel.GatherDiff(rows[w:], scores, set.Plus, set.Minus)
	kernel.PrefixRows(rows, w)
	if set.Thin > 1 {
		for k := range set.Rows() {
			copy(rows[k*w:(k+1)*w], rows[k*set.Thin*w:])
		}
	}
	states := e[:set.Len()]
	if set.Ideal {
		states[len(states)-1] = 0
	}
	if beta != 0 {
		kernel.Axpy(-beta, set.Gain, states)
	}
	if set.LogWeight != nil {
		kernel.Axpy(1, set.LogWeight, states)
	}
	return kernel.Max(states)
}

// back sets grad to factor·Σ_y c_y ∂e_y/∂s, where e begins with one c_y for
// every state; it overwrites e.
func (l *sampledLaw) back(grad, e []float64, factor float64, scratch *Scratch) {
	set, w := l.set, l.set.Walks
	rows := e[:(set.Steps+1)*w]
	if set.Thin > 1 {
		for k := set.Rows() - 1; k > 0; k-- {
			copy(rows[k*set.Thin*w:], rows[k*w:(k+1)*w])
			clear(rows[((k-1)*set.Thin+1)*w : k*set.Thin*w])
		}
	}
	kernel.SuffixRows(rows, w)
	sums := grad
	if l.slots.count > len(grad) {
		sums = scratch.Floats(l.slots.count)
	}
	clear(sums)
	kernel.ScatterDiff(sums, rows[w:], set.Plus, set.Minus)
	l.slots.collect(grad, sums)
	start := scratch.Floats(len(set.Restarts))
	clear(start)
	for i, r := range set.Start {
		start[r] += rows[i]
	}
	for r, coefficients := range set.Restarts[1:] {
		kernel.Axpy(start[r+1], coefficients, grad)
	}
	kernel.Scale(factor*l.scale, grad)
}
