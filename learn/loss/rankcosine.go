package loss

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
)

// RankCosine is half the cosine distance between the scores and the scores of a perfect model,
//
//	L(s) = ½ (1 − ψ·s/(‖ψ‖‖s‖)),   λ = (1/(2‖s‖)) (û − (û·ŝ) ŝ),   û = ψ/‖ψ‖, ŝ = s/‖s‖,
//
// where ψ_i is the mapped grade of document i (Qin, Zhang, Tsai, Wang, Liu and Li, Query-level Loss
// Functions for Information Retrieval, Information Processing and Management 44, 2008; ½ as in Xia et
// al., ICML 2008). The loss is between 0 and 1 and takes O(n). It depends on the direction of s alone,
// and is not convex. It changes if a constant is added to all scores, so the zero of a mapping matters.
//
// The loss has no limit at s = 0. There the value is ½, the middle of its range, and λ = û/2, as if ‖s‖
// were 1. This λ points to scores with loss 0, so an optimiser can start at zero scores.
//
// A document of weight w counts as w equal components of both vectors: w multiplies its terms in ψ·s,
// ‖ψ‖² and ‖s‖².
//
// Bind returns [Nothing] if all documents have the same grade.
type RankCosine struct {
	// Mapping is ψ. Grades whose ψ overflows are allowed.
	Mapping Mapping
}

var _ Loss = RankCosine{}

// Bind implements [Loss].
func (c RankCosine) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return c.BindDocuments(grades, nil, rng)
}

// WeighsDocuments implements [DocumentWeighted].
func (RankCosine) WeighsDocuments() bool { return true }

// BindDocuments implements [DocumentWeighted].
func (c RankCosine) BindDocuments(grades, weights []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := c.Mapping.validate(); err != nil {
		return nil, err
	}
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	if constant(grades) {
		return Nothing, nil
	}
	unit, top := make([]float64, len(grades)), slices.Max(grades)
	for i, l := range grades {
		unit[i] = c.Mapping.relative(l, top)
	}
	var root []float64
	for i, w := range weights {
		root = append(root, math.Sqrt(w))
		unit[i] *= root[i]
	}
	kernel.Scale(1/math.Sqrt(kernel.Dot(unit, unit)), unit)
	return boundCosine{unit, root}, nil
}

// Traits implements [Loss].
func (RankCosine) Traits() Traits { return Traits{} }

// boundCosine contains û. With weights, it multiplies both vectors by root, the square roots of the
// weights.
type boundCosine struct{ unit, root []float64 }

// tiniestScore is the smallest size of scores. If all scores are smaller in absolute value, they count
// as 0, because 1/‖s‖ may overflow.
const tiniestScore = 0x1p-1000

func (b boundCosine) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	if b.root == nil {
		return b.eval(scores, lambda, scratch)
	}
	x := scratch.Floats(len(scores))
	for i, s := range scores {
		x[i] = b.root[i] * s
	}
	value := b.eval(x, lambda, scratch)
	for i := range lambda {
		lambda[i] *= b.root[i]
	}
	return value
}

func (b boundCosine) eval(scores, lambda []float64, scratch *Scratch) float64 {
	x, unit := scores, 1.0
	squares := kernel.Dot(x, x)
	if !(squares > 1e-280 && squares < 1e280) {
		x, unit = scaled(scores, scratch)
		if unit < tiniestScore {
			copy(lambda, b.unit)
			kernel.Scale(0.5, lambda)
			return 0.5
		}
		squares = kernel.Dot(x, x)
	}
	length := math.Sqrt(squares)
	cosine := min(max(kernel.Dot(b.unit, x)/length, -1), 1)
	if lambda != nil {
		scale, along := 0.5/length/unit, cosine/length
		for i, v := range x {
			lambda[i] = scale * (b.unit[i] - float64(along*v))
		}
	}
	return 0.5 * (1 - cosine)
}

// scaled returns the scores divided by their largest absolute value, and that value.
func scaled(scores []float64, scratch *Scratch) (x []float64, size float64) {
	for _, s := range scores {
		size = max(size, math.Abs(s))
	}
	x = scratch.Floats(len(scores))
	for i, s := range scores {
		x[i] = s / size
	}
	return x, size
}
