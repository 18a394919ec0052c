package logrank

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/poissonbinomial"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// orderLaw is the factored law with any additive gain. A labeling of the pairs
// need not be a ranking; its gain is that of the numbers a_g of bads above each
// good, in ascending order, which is the same thing where it is one.
//
// The a_g are independent Poisson-binomial variables with p_gb = σ(−z_gb). Let
// N_t = #{g : a_g ≤ t}, again Poisson-binomial, with c_g(t) = P(a_g ≤ t). The
// i-th smallest a is at most t when N_t > i, so that by summation by parts
//
//	E[G] = Σ_i γ_i(n⁻) + Σ_{t<T} E[h_t(N_t)],   h_t(m) = Σ_{i<m} δ_i(t),
//	δ_i(t) = γ_i(t) − γ_i(t+1) ≥ 0,
//
// where δ_i(t) = 0 for all t ≥ T: T = k for NDCG@k. Differentiating twice by
// [poissonbinomial.LeaveOneOut]'s rule, for the N_t with respect to c_g(t) and for the a_g with
// respect to p_gb, gives the gradient, without a subtraction on the way.
//
// Time is O(n⁺n⁻T + n⁺ Σ_t K_t) with K_t the number of δ_i(t) that are not zero
// (k − t for NDCG@k), memory O(n⁺(n⁻+T) + n⁻T): for average precision and MRR
// cubic and quadratic in n.
type orderLaw struct {
	bipartite.Scaled
	gains *bipartite.GainTable
	base  float64     // Σ_i γ_i(n⁻)
	steps [][]float64 // steps[t][i] = δ_i(t), T rows without trailing zeros but i = 0
	wide  int         // max K_t
}

func newOrderLaw(docs bipartite.Scaled, gains *bipartite.GainTable) (*orderLaw, error) {
	l := &orderLaw{Scaled: docs, gains: gains, base: gains.Column(gains.Bad)}
	all := make([][]float64, gains.Bad)
	for t := range all {
		for i := range gains.Rows {
			d := gains.At(i, t) - gains.At(i, t+1)
			if d < -1e-12 { // less is rounding
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

// Distributions of the a_g are computed times lift, because far from a good
// ranking their first T values are as small as 2^−n⁻ (at scores of 0 with NDCG@10
// and a thousand documents, say).
const (
	liftBits = 900
	lift     = 0x1p900

	// maxFlipOdds bounds log odds so that both probabilities are normal numbers.
	maxFlipOdds = 708

	// When Σ_g c_g(T−1) is below rareTotal, at most one good document stands high
	// enough to gain anything, to machine precision, and E[G] = Σ_g E[γ_0(a_g)].
	rareTotal = 0x1p-60 * lift

	// Below these values of E[G], lifted, products leave the range of float64, and
	// logarithms take over; the second is for log odds beyond moderateOdds.
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

// row returns good document g's row of a matrix with a column for each bad.
func (l *orderLaw) row(x []float64, g int) []float64 {
	n := len(l.Bad)
	return x[g*n : (g+1)*n]
}

// flipProbabilities returns the matrices of p_gb and 1 − p_gb, and the largest
// log odds of p_gb, by which the first are not bounded.
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

// cumulate replaces x by its prefix sums and returns the last.
func cumulate(x []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += v
		x[i] = sum
	}
	return sum
}

// commonGain returns Σ_t E[h_t(N_t)] for the probabilities c_g(t) = c[g·T+t], and
// replaces them by the derivatives with respect to them if those are asked for.
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

// restOfGoods sets rest[g·(K+1)+m] to the expectation of δ(m + #{h ≥ g : a_h ≤ t})
// for m ≤ min(g, K), δ(K) = 0, and returns E[h(N)], where good h has
// P(a_h ≤ t) = c[h·width].
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

// goodDerivatives replaces c[g·width] by the derivative of E[h(N)] with respect
// to it, given what restOfGoods found; dist has K elements.
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

// rareGain returns Σ_g E[γ_0(a_g)] in the unit of the probabilities c, and replaces
// these by the derivatives with respect to them.
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

// backward sets grad to the gradient of log E[G] given its derivatives w with
// respect to the c_g(t), times gain; unit is the unit of gain.
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
