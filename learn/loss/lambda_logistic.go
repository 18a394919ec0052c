package loss

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
)

// logisticLaw is RankNet's λ_ij, multiplied by the loss Δ of a swap (Burges, Ragno
// and Le 2006, eq. 9, in absolute values: as printed it is negative where the
// better document stands below). With i the better and j the worse document,
//
//	λ_ij = |Δ| σ/(1 + exp(σ(s_i − s_j − m)))
//
// where the margin m is 0 in the paper.
type logisticLaw struct {
	sigma, margin float64
	ease          float64 // exp(σm)
}

func newLogisticLaw(sigma, margin float64) logisticLaw {
	return logisticLaw{sigma, margin, elementary.Exp(sigma * margin)}
}

// safeExponent bounds the exponents of products of two exponentials so that these
// neither overflow nor vanish.
const safeExponent = 700

// prepare returns E = exp(σ(s − s_top)), or nil if the scores are too far apart
// for it.
func (l logisticLaw) prepare(scores, memory []float64) []float64 {
	top, lowest := scores[0], 0.0
	for i, s := range scores {
		memory[i] = l.sigma * (s - top)
		lowest = min(lowest, memory[i])
	}
	if !(float64(l.sigma*l.margin)-lowest <= safeExponent) {
		return nil
	}
	kernel.Exp(memory, memory)
	return memory
}

// add has no exponential in its loop: 1/(1 + exp(σ(s_i − s_j − m))) =
// cE_j/(E_i + cE_j), c = exp(σm).
func (l logisticLaw) add(lambda, loss, scores, e []float64, a, to int) {
	if e == nil {
		l.addFar(lambda, loss, scores, a, to)
		return
	}
	upper := math.Float64bits(e[a])
	var own float64
	lambda, loss, e = lambda[:to], loss[:to], e[:to]
	for b := a + 1; b < len(e); b++ {
		// Which of the two is better is unpredictable, so the choice is made
		// without a branch: with a loss below 0 the worse is the upper.
		lower := math.Float64bits(e[b])
		flip := (lower ^ upper) & uint64(int64(math.Float64bits(loss[b]))>>63)
		better, worse := math.Float64frombits(upper^flip), float64(l.ease*math.Float64frombits(lower^flip))
		f := float64(l.sigma * loss[b] * (worse / (better + worse)))
		own += f
		lambda[b] -= f
	}
	lambda[a] += own
}

// addFar is add for scores of any size.
func (l logisticLaw) addFar(lambda, loss, scores []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		f := float64(l.sigma * loss[b] * logspace.Logistic(l.sigma*(l.margin-lead(loss, scores, a, b))))
		lambda[a] += f
		lambda[b] -= f
	}
}

// lead returns by how much the score of the better document of ranks a < b exceeds
// that of the worse.
func lead(loss, scores []float64, a, b int) float64 {
	return math.Copysign(scores[a]-scores[b], loss[b])
}

// addBoth implements secondLaw: |Δ|σ²ρ(1 − ρ), with ρ = 1/(1 + exp(σ(s_i − s_j − m))),
// as LambdaMART has it (Burges, From RankNet to LambdaRank to LambdaMART: An Overview,
// 2010, section 7). As add it divides once a pair; λ has the bits of add.
func (l logisticLaw) addBoth(lambda, second, loss, scores, e []float64, a, to int) {
	if e == nil {
		l.addBothFar(lambda, second, loss, scores, a, to)
		return
	}
	above := kernel.SwapLaw{Sigma: l.sigma, Ease: l.ease, Upper: e[a]}
	own, ownSecond := above.Add(lambda[a+1:to], second[a+1:to], loss[a+1:to], e[a+1:to])
	lambda[a] += own
	second[a] += ownSecond
}

// addBothFar is addBoth for scores of any size.
func (l logisticLaw) addBothFar(lambda, second, loss, scores []float64, a, to int) {
	l.addFar(lambda, loss, scores, a, to)
	for b := a + 1; b < to; b++ {
		p, q := logspace.Bernoulli(l.sigma * (l.margin - lead(loss, scores, a, b)))
		d := float64(l.sigma * l.sigma * math.Abs(loss[b]) * (p * q))
		second[a] += d
		second[b] += d
	}
}
