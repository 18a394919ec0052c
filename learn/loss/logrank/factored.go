package logrank

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/internal/poissonbinomial"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// newFactoredLaw returns the law of the form [Factored], over all ±1 labelings of the pairs. Under
// this law, the pairs are independent with P(y_gb = +1) = σ(z_gb). The gain determines which
// quantities have a closed form and the time to compute them:
//
//	                          A(0)         A(β)            log E[G]
//	AUC: Δ counts pairs       n⁺n⁻         n⁺n⁻            n⁺n⁻           [pairwiseLaw]
//	n⁺ = 1 or n⁻ = 1          n            n·T             n·T            [countLaw]
//	otherwise                 n⁺n⁻         none known      n⁺n⁻T          [orderLaw]
//
// T ≤ n⁻ is the number of bads above a good from which on the term of the good in the gain is
// constant: T = k for NDCG@k, and T = n⁻ for average precision and MRR.
func newFactoredLaw(docs bipartite.Scaled, gains *bipartite.GainTable, need quantities) (law, error) {
	pairs := newPairs(docs)
	if need == onlyPartition {
		return &pairwiseLaw{pairs: pairs}, nil
	}
	if step, ok := gains.PerInversion(); ok {
		return newPairwiseLaw(pairs, gains, step), nil
	}
	order, err := newOrderLaw(docs, gains)
	if err != nil {
		return nil, err
	}
	if need != lossPartition {
		return order, nil
	}
	good, bad := len(docs.Good), len(docs.Bad)
	if good > 1 && bad > 1 {
		return nil, fmt.Errorf("the factored form of convexloss exists under auc, and for queries with a single relevant "+
			"or a single irrelevant document; this one has %d and %d: use the lattice or the sampled form", good, bad)
	}
	return newCountLaw(order, gains), nil
}

// pairwiseLaw is the factored law with a gain that every inverted pair reduces by the same amount
// h, G = G0 − h·#{inverted pairs}. An example is AUC, where h = 1/(n⁺n⁻). Let p_gb = σ(−z_gb) be
// the probability of an inversion. Then
//
//	A(β)     = β(1 − G0) + Σ_gb log(1 + exp(−z_gb + βh))
//	log E[G] = log(G0 − h Σ_gb p_gb),   ∂ log E[G]/∂z_gb = h p_gb (1−p_gb)/E[G].
//
// (LogRank, section 2.3, where h_gb(−1) should be h_gb(+1)). Time is O(n⁺n⁻), memory O(n).
type pairwiseLaw struct {
	pairs
	best   float64 // G0
	lowest float64 // G0 − h n⁺n⁻, the gain if all pairs are inverted
	step   float64 // h
}

func newPairwiseLaw(p pairs, gains *bipartite.GainTable, step float64) *pairwiseLaw {
	l := &pairwiseLaw{pairs: p, best: gains.Column(0), lowest: gains.Column(gains.Bad), step: step}
	if l.lowest < 1e-12*l.best {
		l.lowest = 0 // rounding error of a measure whose lowest value is 0
	}
	return l
}

func (l *pairwiseLaw) logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64 {
	sum := l.softplusSum(beta*l.step, s, grad, scratch)
	if beta == 0 {
		return sum
	}
	return sum + float64(beta*(1-l.best))
}

// inversionCertain is a value of −z_gb from which on exp(−z_gb) + 1 equals exp(−z_gb) in float64,
// so that an inversion is practically certain.
const inversionCertain = 40

func (l *pairwiseLaw) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	if l.step == 0 {
		clear(grad)
		return elementary.Log(l.best)
	}
	if l.lowest == 0 && l.smallestLogOdds(s) > inversionCertain {
		return elementary.Log(l.step) + l.keptLimit(s, grad, scratch)
	}
	kept, inverted := l.inversions(s, grad, scratch)
	gain, lost := l.lowest+float64(l.step*kept), l.step*inverted
	kernel.Scale(-l.step/gain, grad)
	if lost < gain {
		return elementary.Log(l.best) + elementary.Log1p(-lost/l.best)
	}
	return elementary.Log(gain)
}

// logRareGain is logGain for scores at which the probability of a gain other than 0 is too small
// for float64. With practical certainty, at most one good document then ranks high enough to
// contribute to the gain, so
//
//	log E[G] = LSE_g LSE_{a<T} (log P(a_g = a) + log γ_0(a)),
//
// where γ_0(a) is the term of a good document that ranks first among the goods, with a bads above
// it. logRareGain computes distributions in logarithms, which is slow but valid for scores of any
// size.
func (l *orderLaw) logRareGain(s, grad []float64, scratch *loss.Scratch) float64 {
	n, width := len(l.Bad), len(l.steps)
	w := rareWork{
		p: scratch.Floats(n), q: scratch.Floats(n),
		before: scratch.Floats((n + 1) * width), after: scratch.Floats(width + 1),
		terms: scratch.Floats(width),
	}
	gains := scratch.Floats(len(l.Good))
	for g := range l.Good {
		gains[g] = l.logRareRow(g, s, &w)
	}
	total := kernel.LogSumExp(gains)
	if grad == nil {
		return total
	}
	clear(grad)
	for g, doc := range l.Good {
		l.logRareRow(g, s, &w)
		l.logRareBackward(gains[g], &w)
		share := l.Slope * elementary.Exp(gains[g]-total)
		for b, v := range w.p {
			grad[doc] += float64(share * v)
			grad[l.Bad[b]] -= float64(share * v)
		}
	}
	return total
}

// rareWork is the working memory of logRareGain for one good document.
type rareWork struct {
	p, q   []float64 // log p_gb, log(1 − p_gb)
	before []float64 // row b, column t: log probability that t of the first b bads are above the good document
	after  []float64 // log expectation of the steps of the gain, γ_0(t) − γ_0(t+1), over the remaining bads
	terms  []float64
}

// logRareRow returns log E[γ_0(a_g)] for good document g, and sets p, q and before of w.
func (l *orderLaw) logRareRow(g int, s []float64, w *rareWork) float64 {
	width := len(l.steps)
	for b, doc := range l.Bad {
		z := l.Slope * (s[l.Good[g]] - s[doc])
		w.p[b], w.q[b] = -logspace.Softplus(z), -logspace.Softplus(-z)
	}
	for t := range width {
		w.before[t] = math.Inf(-1)
	}
	w.before[0] = 0
	for b := range l.Bad {
		row, next := w.before[b*width:(b+1)*width], w.before[(b+1)*width:(b+2)*width]
		below := math.Inf(-1)
		for t, v := range row {
			next[t] = logspace.AddExp(v+w.q[b], below+w.p[b])
			below = v
		}
	}
	for t, v := range w.before[len(l.Bad)*width:] {
		w.terms[t] = v + elementary.Log(l.gains.At(0, t))
	}
	return kernel.LogSumExp(w.terms)
}

// logRareBackward replaces w.p[b] by ∂ log E[γ_0(a_g)]/∂z_gb. The caller must first call logRareRow
// for good document g, which sets w and returns value.
func (l *orderLaw) logRareBackward(value float64, w *rareWork) {
	width := len(l.steps)
	for t, steps := range l.steps {
		w.after[t] = elementary.Log(steps[0])
	}
	w.after[width] = math.Inf(-1)
	for b := len(l.Bad) - 1; b >= 0; b-- {
		for t, f := range w.before[b*width : (b+1)*width] {
			w.terms[t] = f + w.after[t]
			w.after[t] = logspace.AddExp(w.q[b]+w.after[t], w.p[b]+w.after[t+1])
		}
		w.p[b] = elementary.Exp(w.p[b] + w.q[b] + kernel.LogSumExp(w.terms) - value)
	}
}

// orderLaw is the factored law with any additive gain, which is a sum of terms γ_i(a): good i from
// the top, counted from 0, with a bads above it, contributes γ_i(a). A labeling of the pairs need
// not be a ranking. Its gain is defined from the number a_g of bads above each good: the sum of γ_i
// of the i-th smallest of these numbers. For a ranking, the definition agrees with the ranking's
// gain.
//
// The a_g are independent Poisson-binomial variables with p_gb = σ(−z_gb). Let c_g(t) = P(a_g ≤ t). Then
// N_t = #{g : a_g ≤ t} is also Poisson-binomial, with probabilities c_g(t). The i-th smallest a, counted
// from 0, is at most t if N_t > i. Summation by parts gives
//
//	E[G] = Σ_i γ_i(n⁻) + Σ_{t<T} E[h_t(N_t)],   h_t(m) = Σ_{i<m} δ_i(t),
//	δ_i(t) = γ_i(t) − γ_i(t+1) ≥ 0,
//
// where δ_i(t) = 0 for all t ≥ T, with T = k for NDCG@k. The gradient takes two steps: the
// derivatives of E[h_t(N_t)] with respect to c_g(t), and the derivatives of c_g(t) with respect to
// p_gb. Both are computed as in [poissonbinomial.LeaveOneOut], without subtractions that would lose
// precision.
//
// Time is O(n⁺n⁻T + n⁺ Σ_t K_t), where K_t is the number of nonzero δ_i(t) (k − t for NDCG@k). Memory is
// O(n⁺(n⁻+T) + n⁻T). For average precision and MRR, time is cubic in n and memory is quadratic.
type orderLaw struct {
	bipartite.Scaled
	gains *bipartite.GainTable
	base  float64     // Σ_i γ_i(n⁻)
	steps [][]float64 // steps[t][i] = δ_i(t) for t < T; rows omit trailing zeros, but contain at least i = 0
	wide  int         // max K_t
}

func newOrderLaw(docs bipartite.Scaled, gains *bipartite.GainTable) (*orderLaw, error) {
	l := &orderLaw{Scaled: docs, gains: gains, base: gains.Column(gains.Bad)}
	all := make([][]float64, gains.Bad)
	for t := range all {
		for i := range gains.Rows {
			d := gains.At(i, t) - gains.At(i, t+1)
			if d < -1e-12 { // smaller differences are rounding errors
				return nil, fmt.Errorf("the gain of relevant document %d grows from %v to %v when a document is put above it",
					i+1, gains.At(i, t), gains.At(i, t+1))
			}
			if d > 0 {
				all[t] = append(all[t], make([]float64, i+1-len(all[t]))...)
				all[t][i] = d
			}
		}
		if len(all[t]) == 0 {
			all[t] = make([]float64, 1)
			continue
		}
		l.steps = all[:t+1]
		l.wide = max(l.wide, len(all[t]))
	}
	if l.base == 0 && (len(l.steps) == 0 || l.steps[len(l.steps)-1][0] == 0) {
		return nil, fmt.Errorf("a ranking with a single relevant document among the first %d gains nothing", len(l.steps))
	}
	return l, nil
}

// logPartition implements law for beta = 0 only.
func (l *orderLaw) logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64 {
	if beta != 0 {
		panic("logrank: the factored law has no partition function for this gain")
	}
	p := newPairs(l.Scaled)
	return p.softplusSum(0, s, grad, scratch)
}

// The probabilities of the values of a_g are multiplied by lift so that they do not underflow. For
// bad rankings, the probabilities of the first T values are as small as 2^−n⁻, for example if all
// scores are 0, with NDCG@10 and a thousand documents.
const (
	liftBits = 900
	lift     = 0x1p900

	// maxFlipOdds bounds the absolute value of log odds, so that p_gb and 1 − p_gb are not
	// subnormal.
	maxFlipOdds = 708

	// rareTotal is a bound on Σ_g c_g(T−1). If the sum is smaller, the probability that several
	// good documents rank high enough to contribute to the gain is below machine precision. Then
	// E[G] = Σ_g E[γ_0(a_g)].
	rareTotal = 0x1p-60 * lift

	// tinyGain is the smallest E[G]·lift for which logGain does not need logRareGain. For a smaller
	// gain, products would leave the range of float64. tinySteep replaces tinyGain if any log odds
	// exceed moderateOdds.
	tinyGain     = 0x1p-1700 * lift
	tinySteep    = 0x1p-900 * lift
	moderateOdds = 600
)

func (l *orderLaw) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	width := len(l.steps)
	p, q, steepest := l.flipProbabilities(s, scratch)
	c := scratch.Floats(len(l.Good) * width)
	var total float64
	for g := range l.Good {
		row := c[g*width : (g+1)*width]
		poissonbinomial.Distribution(row, l.row(p, g), l.row(q, g), lift)
		total += cumulate(row)
	}
	if l.base > 0 || total >= rareTotal {
		kernel.Scale(1/lift, c)
		gain := l.base + l.commonGain(c, grad != nil, scratch)
		l.backward(grad, c, p, q, 1, gain, scratch)
		return elementary.Log(gain)
	}
	gain := l.rareGain(c)
	if gain < tinyGain || gain < tinySteep && steepest > moderateOdds {
		return l.logRareGain(s, grad, scratch)
	}
	l.backward(grad, c, p, q, lift, gain, scratch)
	return elementary.Log(gain) - liftBits*math.Ln2
}

// row returns the row of good document g in x, a matrix with a row for each good and a column for
// each bad document.
func (l *orderLaw) row(x []float64, g int) []float64 {
	n := len(l.Bad)
	return x[g*n : (g+1)*n]
}

// flipProbabilities returns the matrices p of p_gb and q of 1 − p_gb, and steepest, the largest log
// odds of p_gb. It limits log odds to maxFlipOdds for the matrices, but not for steepest.
func (l *orderLaw) flipProbabilities(s []float64, scratch *loss.Scratch) (p, q []float64, steepest float64) {
	pairs := len(l.Good) * len(l.Bad)
	p, q = scratch.Floats(pairs), scratch.Floats(pairs)
	bad := scratch.Floats(len(l.Bad))
	kernel.Gather(bad, s, l.Bad, l.Slope)
	steepest = math.Inf(-1)
	for g, d := range l.Good {
		z := float64(l.Slope * s[d])
		row := l.row(p, g)
		for b, v := range bad {
			steepest = max(steepest, v-z)
			row[b] = max(min(v-z, maxFlipOdds), -maxFlipOdds)
		}
	}
	kernel.Exp(p, p)
	for i, odds := range p {
		q[i] = 1 / (1 + odds)
		p[i] = float64(odds * q[i])
	}
	return p, q, steepest
}

// cumulate replaces x by its prefix sums and returns the sum of x.
func cumulate(x []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += v
		x[i] = sum
	}
	return sum
}

// commonGain returns Σ_t E[h_t(N_t)] for the probabilities c_g(t) = c[g·T+t]. If derivatives is
// set, commonGain replaces each element of c by the derivative of the sum with respect to the
// element.
func (l *orderLaw) commonGain(c []float64, derivatives bool, scratch *loss.Scratch) float64 {
	goods, width := len(l.Good), len(l.steps)
	rest := scratch.Floats((goods + 1) * (l.wide + 1))
	dist := scratch.Floats(l.wide)
	var gain float64
	for t, steps := range l.steps {
		gain += restOfGoods(rest, c[t:], width, goods, steps)
		if derivatives {
			goodDerivatives(c[t:], dist[:len(steps)], rest, width, goods)
		}
	}
	return gain
}

// restOfGoods returns E[h(N)], where N is the number of goods f with a_f ≤ t, and
// P(a_f ≤ t) = c[f·width]. It sets rest[g·(K+1)+m] to the expectation of δ(m + #{f ≥ g : a_f ≤ t}) for
// m ≤ min(g, K). Here δ is steps, K is its length, and δ(K) = 0.
func restOfGoods(rest, c []float64, width, goods int, steps []float64) (gain float64) {
	stride := len(steps) + 1
	last := rest[goods*stride : (goods+1)*stride]
	copy(last, steps)
	last[len(steps)] = 0
	for g := goods - 1; g >= 0; g-- {
		p := c[g*width]
		next, row := rest[(g+1)*stride:(g+2)*stride], rest[g*stride:(g+1)*stride]
		gain += float64(p * next[0])
		for m := range min(g+1, len(steps)) {
			row[m] = float64((1-p)*next[m]) + float64(p*next[m+1])
		}
		row[len(steps)] = 0
	}
	return gain
}

// goodDerivatives replaces each c[g·width] by the derivative of E[h(N)] with respect to c[g·width].
// rest must come from restOfGoods. dist is working memory of K elements.
func goodDerivatives(c, dist, rest []float64, width, goods int) {
	stride := len(dist) + 1
	clear(dist)
	dist[0] = 1
	for g := range goods {
		next := rest[(g+1)*stride:]
		var sum float64
		for m, f := range dist[:min(g+1, len(dist))] {
			sum += float64(f * next[m])
		}
		p := c[g*width]
		poissonbinomial.AddEvent(dist[:min(g+2, len(dist))], p, 1-p)
		c[g*width] = sum
	}
}

// rareGain returns Σ_g E[γ_0(a_g)], multiplied by lift like the probabilities c. It replaces each
// element of c by the derivative of the sum with respect to the element.
func (l *orderLaw) rareGain(c []float64) float64 {
	width := len(l.steps)
	var gain float64
	for t, steps := range l.steps {
		for i := t; i < len(c); i += width {
			gain += float64(steps[0] * c[i])
			c[i] = steps[0]
		}
	}
	return gain
}

// backward sets grad to the gradient of log E[G], or returns if grad is nil. w contains the
// derivatives of E[G] with respect to the c_g(t), and p and q are the results of flipProbabilities.
// gain is E[G] multiplied by unit. backward overwrites w.
func (l *orderLaw) backward(grad, w, p, q []float64, unit, gain float64, scratch *loss.Scratch) {
	if grad == nil {
		return
	}
	clear(grad)
	n, width := len(l.Bad), len(l.steps)
	flip, work := scratch.Floats(n), scratch.Floats(poissonbinomial.LeaveOneOutWork(n, width))
	kernel.Scale(1/gain, w)
	for g, doc := range l.Good {
		pg, qg := l.row(p, g), l.row(q, g)
		poissonbinomial.LeaveOneOut(flip, w[g*width:(g+1)*width], pg, qg, unit, work)
		var sum float64
		for b, v := range flip {
			v = float64(v * (l.Slope * pg[b] * qg[b]))
			sum += v
			grad[l.Bad[b]] -= v
		}
		grad[doc] = sum
	}
}
