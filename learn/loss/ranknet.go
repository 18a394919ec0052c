package loss

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
)

// RankNet is the pairwise logistic loss over all pairs of documents of a query with different grades.
// With i the better and j the worse document,
//
//	C(s) = Σ_ij log(1 + exp(−σ(s_i − s_j))),   λ_ij = σ/(1 + exp(σ(s_i − s_j))),
//	λ_i += λ_ij,   λ_j −= λ_ij
//
// (Burges et al., Learning to Rank Using Gradient Descent, ICML 2005; Burges, Ragno and Le, NIPS 2006,
// eq. 8, where σ = 1). Grades may be any finite non-negative numbers; only their order counts. The loss
// is convex. On two grades it is LogRank's MLE in the factored form with 2κ = σ.
//
// This is the accelerated form of section 5 of the NIPS paper: the λ_ij are summed for each document
// before they are propagated back. As footnote 3 proposes, it evaluates one exponential for each
// document, since 1/(1 + exp(s_i − s_j)) = E_j/(E_i + E_j) with E = exp(s). [RankNet.PairLoss] is the
// earlier form.
type RankNet struct {
	// Sigma is the slope σ; 0 means the papers' 1.
	Sigma float64

	// Mean divides the loss of a query by its number of pairs, or by the sum of their weights. Every
	// query then counts the same.
	Mean bool
}

var _ Loss = RankNet{}

// Validate returns an error for options that fit no query.
func (l RankNet) Validate() error { return validateSigma(l.Sigma) }

func validateSigma(sigma float64) error {
	if !(sigma >= 0) || math.IsInf(sigma, 1) {
		return fmt.Errorf("sigma %v, expected a finite positive number", sigma)
	}
	return nil
}

// sigmaOr1 returns sigma, or 1 if sigma is 0.
func sigmaOr1(sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return sigma
}

// WeighsDocuments implements [DocumentWeighted].
func (RankNet) WeighsDocuments() bool { return true }

// BindDocuments implements [DocumentWeighted]. The weights of both documents multiply the term of a
// pair. With weights, an evaluation takes an exponential for each pair.
func (l RankNet) BindDocuments(grades, weights []float64, rng *rand.Rand) (QueryLoss, error) {
	if weights == nil {
		return l.Bind(grades, rng)
	}
	if err := errors.Join(l.Validate(), checkDocumentWeights(weights, len(grades))); err != nil {
		return nil, err
	}
	return newWeightedRankNet(l, grades, weights), nil
}

// Bind implements [Loss]. It draws no random numbers. The result is a
// [Diagonal].
func (l RankNet) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	pairs := newStaircase(grades, sigmaOr1(l.Sigma))
	if pairs.count == 0 {
		return Nothing, nil
	}
	b := &boundRankNet{pairs: pairs, scale: 1}
	if l.Mean {
		b.scale = 1 / float64(pairs.count)
	}
	return b, nil
}

// Traits implements [Loss].
func (RankNet) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true, Smooth: true} }

type boundRankNet struct {
	pairs staircase
	scale float64
}

func (b *boundRankNet) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	sum := b.pairs.softplusSum(scores, lambda, scratch)
	if b.scale != 1 {
		kernel.Scale(b.scale, lambda)
	}
	return b.scale * sum
}

// EvalSecond implements [Diagonal]. The second derivative is σ² Σ ρ(1 − ρ) over the pairs of a document,
// with ρ = 1/(1 + exp(σ(s_i − s_j))).
func (b *boundRankNet) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	value := b.Eval(scores, lambda, scratch)
	b.pairs.curvature(scores, second, scratch)
	if b.scale != 1 {
		kernel.Scale(b.scale, second)
	}
	return value
}

// Pairs yields the pairs (i, j) of documents with grades[i] > grades[j], in ascending order of i, then
// j. Pairs and [RankNet.PairLoss] give the form of RankNet before section 5 of Burges, Ragno and Le
// (NIPS 2006), named "V1" there. Each pair takes a forward and a backward pass through the scorer for
// both documents. This form serves to test the accelerated form and to measure its speed.
func Pairs(grades []float64) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		for i, better := range grades {
			for j, worse := range grades {
				if better > worse && !yield(i, j) {
					return
				}
			}
		}
	}
}

// PairLoss returns the loss of one pair, log(1 + exp(−σ(better − worse))), from the scores of both
// documents. It also returns the λ of the better document, λ_ij = σ/(1 + exp(σ(better − worse))). The λ
// of the worse document is −λ_ij. PairLoss ignores Mean, which depends on the number of pairs.
func (l RankNet) PairLoss(better, worse float64) (value, lambda float64) {
	sigma := sigmaOr1(l.Sigma)
	t := sigma * (worse - better)
	e := elementary.Exp(-math.Abs(t)) // for value and λ
	value = max(t, 0) + elementary.Log1p(e)
	if t < 0 {
		return value, sigma * (e / (1 + e))
	}
	return value, sigma / (1 + e)
}

// boundWeightedRankNet is RankNet with document weights. It loops over all pairs.
type boundWeightedRankNet struct {
	order   []int32   // documents by descending grade
	from    []int     // by place in order: where documents with lower grades begin
	weights []float64 // by document
	sigma   float64
	scale   float64
}

func newWeightedRankNet(l RankNet, grades, weights []float64) QueryLoss {
	b := &boundWeightedRankNet{order: make([]int32, len(grades)), weights: weights, sigma: sigmaOr1(l.Sigma), scale: 1}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	sortByGrade(b.order, grades)
	var pairs float64
	start := 0
	for _, end := range levelEnds(grades, b.order) {
		for _, i := range b.order[start:end] {
			b.from = append(b.from, end)
			for _, j := range b.order[end:] {
				pairs += float64(weights[i] * weights[j])
			}
		}
		start = end
	}
	if pairs == 0 {
		return Nothing
	}
	if l.Mean {
		b.scale = 1 / pairs
	}
	return b
}

func (b *boundWeightedRankNet) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.EvalSecond(scores, lambda, nil, scratch)
}

// EvalSecond implements [Diagonal].
func (b *boundWeightedRankNet) EvalSecond(scores, lambda, second []float64, _ *Scratch) (value float64) {
	clear(lambda)
	clear(second)
	for place, i := range b.order {
		own := float64(b.scale * b.weights[i])
		for _, j := range b.order[b.from[place]:] {
			w, odds := float64(own*b.weights[j]), float64(b.sigma*(scores[j]-scores[i]))
			value += float64(w * logspace.Softplus(odds))
			if lambda == nil {
				continue
			}
			p, q := logspace.Bernoulli(odds)
			pull := float64(w * b.sigma * p)
			lambda[i] += pull
			lambda[j] -= pull
			if second != nil {
				bend := float64(w * b.sigma * b.sigma * p * q)
				second[i] += bend
				second[j] += bend
			}
		}
	}
	return value
}
