package loss

import (
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
)

// ApproxNDCG is the complement of NDCG with smooth ranks,
//
//	L(s) = 1 − Σ_i g_i D(π_i),   π_i = 1 + Σ_{j≠i} σ(α(s_j − s_i)),   σ(t) = 1/(1 + e⁻ᵗ)
//	λ_k = α Σ_j σ'(α(s_j − s_k)) (c_j − c_k),   c_i = g_i D'(π_i)
//
// (Qin, Liu and Li, A General Approximation Framework for Direct Optimization of Information Retrieval
// Measures, Information Retrieval 13, 2010). g_i is the gain of document i divided by the ideal DCG. D
// is the discount, extended to real ranks: 1/log2(1 + π), or 1/log2 max(π, 2) for LETOR's discount. The
// loss is between 0 and 1 and tends to 1 − NDCG as α grows. It is not convex. Documents without gain
// have no term, so an evaluation takes O(n⁺n) for n⁺ documents with gain.
//
// Bind returns [Nothing] if all documents have the same grade.
type ApproxNDCG struct {
	// Convention determines gain and discount. ApproxNDCG ignores its other rules.
	Convention measure.Convention

	// Alpha is the steepness α, a positive number; 0 means 10.
	Alpha float64
}

var _ Loss = ApproxNDCG{}

const defaultAlpha = 10

// Validate returns an error for options that fit no query.
func (l ApproxNDCG) Validate() error { return positiveOrZero("alpha", l.Alpha) }

// Bind implements [Loss].
func (l ApproxNDCG) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if constant(grades) {
		return Nothing, nil
	}
	return boundApproxNDCG{
		gains:    normalGains(l.Convention, grades, 0),
		discount: newRealDiscount(l.Convention),
		alpha:    orDefault(l.Alpha, defaultAlpha),
	}, nil
}

// Traits implements [Loss].
func (l ApproxNDCG) Traits() Traits {
	return Traits{ShiftInvariant: true, Smooth: newRealDiscount(l.Convention).smooth()}
}

type boundApproxNDCG struct {
	gains    []float64
	discount realDiscount
	alpha    float64
}

func (b boundApproxNDCG) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	clear(lambda)
	above := scratch.Floats(len(scores))
	var ndcg float64
	for i, g := range b.gains {
		if g == 0 {
			continue
		}
		for j, s := range scores {
			above[j] = b.alpha * (s - scores[i])
		}
		kernel.Logistic(above, above)
		// The sum includes the document itself with ½, so 0.5 is added instead of 1.
		value, slope := b.discount.at(max(0.5+kernel.Sum(above), 1))
		ndcg += float64(g * value)
		if lambda != nil && slope != 0 {
			own := addSlopes(lambda, above, b.alpha*g*slope)
			lambda[i] -= own
		}
	}
	return 1 - ndcg
}

// addSlopes adds scale·p(1−p) to lambda for the logistic values p, and returns the sum of the added
// terms.
func addSlopes(lambda, p []float64, scale float64) float64 {
	p = p[:len(lambda)]
	var sum float64
	for j, v := range p {
		d := float64(scale * (v * (1 - v)))
		lambda[j] += d
		sum += d
	}
	return sum
}
