package kernel

import "math"

// SwapLaw has the factors of λ of pairs of documents under a swap's loss. One document, the upper, is
// above all others. E are the exponentials exp(σs) of their scores, up to a common factor. D is the
// measure's loss by the swap of the two, positive if the upper one is better. Then
//
//	ρ = Ease·E_worse/(E_better + Ease·E_worse),    f = Sigma·D·ρ
//
// is λ of the upper document (LambdaRank's, where Ease = exp(σ·margin)).
type SwapLaw struct{ Sigma, Ease, Upper float64 }

// Add adds the pairs of the upper document with others to their sums, given losses D and exponentials e.
// It subtracts f from lambda and adds Sigma·|f|·(1 − ρ) to second. It returns both sums, added in order.
// All slices have the same length.
func (l SwapLaw) Add(lambda, second, losses, e []float64) (f, curvature float64) {
	mustMatch(len(second), len(lambda))
	mustMatch(len(losses), len(lambda))
	mustMatch(len(e), len(lambda))
	return addSwaps(l, lambda, second, losses, e)
}

func addSwapsGo(l SwapLaw, lambda, second, losses, e []float64) (f, curvature float64) {
	return l.addTo(0, 0, lambda, second, losses, e)
}

// addTo continues the sums. Which of the two is better is unpredictable, so the choice is made
// without a branch: with a loss below 0 the worse is the upper.
func (l SwapLaw) addTo(f, curvature float64, lambda, second, losses, e []float64) (own, ownSecond float64) {
	upper := math.Float64bits(l.Upper)
	second, losses, e = second[:len(lambda)], losses[:len(lambda)], e[:len(lambda)]
	own, ownSecond = f, curvature
	for b := range lambda {
		lower := math.Float64bits(e[b])
		flip := (lower ^ upper) & uint64(int64(math.Float64bits(losses[b]))>>63)
		better, worse := math.Float64frombits(upper^flip), float64(l.Ease*math.Float64frombits(lower^flip))
		p := worse / (better + worse)
		f := float64(float64(l.Sigma*losses[b]) * p)
		own += f
		lambda[b] -= f
		d := float64(float64(l.Sigma*math.Abs(f)) * (1 - p))
		ownSecond += d
		second[b] += d
	}
	return own, ownSecond
}
