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

// SwapSums are sums over pairs, added in order: of f, of Sigma·|f|·(1 − ρ), and of |f|.
type SwapSums struct{ F, Curvature, Size float64 }

// Add adds the pairs of the upper document with others to their sums, given losses D and exponentials e.
// It subtracts f from lambda and adds Sigma·|f|·(1 − ρ) to second. It continues the sums. All slices have
// the same length.
func (l SwapLaw) Add(sums *SwapSums, lambda, second, losses, e []float64) {
	mustMatch(len(second), len(lambda))
	mustMatch(len(losses), len(lambda))
	mustMatch(len(e), len(lambda))
	addSwaps(l, sums, lambda, second, losses, e)
}

// addSwapsGo chooses the better of two without a branch, since it is unpredictable: with a loss below 0 the
// worse is the upper.
func addSwapsGo(l SwapLaw, sums *SwapSums, lambda, second, losses, e []float64) {
	upper := math.Float64bits(l.Upper)
	second, losses, e = second[:len(lambda)], losses[:len(lambda)], e[:len(lambda)]
	s := *sums
	for b := range lambda {
		lower := math.Float64bits(e[b])
		flip := (lower ^ upper) & uint64(int64(math.Float64bits(losses[b]))>>63)
		better, worse := math.Float64frombits(upper^flip), float64(l.Ease*math.Float64frombits(lower^flip))
		p := worse / (better + worse)
		f := float64(float64(l.Sigma*losses[b]) * p)
		size := math.Abs(f)
		s.F += f
		s.Size += size
		lambda[b] -= f
		d := float64(float64(l.Sigma*size) * (1 - p))
		s.Curvature += d
		second[b] += d
	}
	*sums = s
}

// DivideByGaps divides each of x by least plus the gap between its score and the score top.
func DivideByGaps(x, scores []float64, top, least float64) {
	mustMatch(len(scores), len(x))
	divideByGaps(x, scores, top, least)
}

func divideByGapsGo(x, scores []float64, top, least float64) {
	scores = scores[:len(x)]
	for i := range x {
		x[i] /= least + math.Abs(top-scores[i])
	}
}
