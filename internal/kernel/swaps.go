package kernel

import "math"

// SwapLaw computes the λ of pairs of documents as LambdaRank does, from the change of a measure
// when the documents of a pair are swapped. One document, the upper, is in all pairs and ranks
// above the other documents. E is exp(σ·score) of a document, up to a factor that all documents
// share, and Upper is E of the upper document. D is the decrease of the measure by the swap. D is
// positive if the upper document is the better one of the pair. Then
//
//	ρ = Ease·E_worse/(E_better + Ease·E_worse),    f = Sigma·D·ρ
//
// is the λ of the upper document. Sigma is LambdaRank's σ, and Ease is exp(σ·margin), or 1 without
// a margin.
type SwapLaw struct{ Sigma, Ease, Upper float64 }

// SwapSums are sums over pairs, added in order, with f and ρ as in [SwapLaw]. F is the sum of f,
// Curvature is the sum of Sigma·|f|·(1 − ρ), and Size is the sum of |f|.
type SwapSums struct{ F, Curvature, Size float64 }

// Add adds the pairs of the upper document with other documents b to sums. losses[b] is D of the
// pair, and e[b] is E of document b. Add subtracts f from lambda[b] and adds Sigma·|f|·(1 − ρ) to
// second[b]. All slices have the same length.
func (l SwapLaw) Add(sums *SwapSums, lambda, second, losses, e []float64) {
	mustMatch(len(second), len(lambda))
	mustMatch(len(losses), len(lambda))
	mustMatch(len(e), len(lambda))
	addSwaps(l, sums, lambda, second, losses, e)
}

// addSwapsGo selects the better document of each pair without a branch, since the branch would be
// unpredictable. The upper document is the worse one if the pair's element of losses is negative.
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

// DivideByGaps divides x[i] by least + |top − scores[i]|, for slices of the same length.
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
