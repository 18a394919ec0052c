package loss

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/logspace"
)

// AtLeast is the logistic loss of a binary classification: does a document's grade reach a threshold?
//
//	L(s) = Σ_i log(1 + exp(−y_i s_i)),   y_i = 1 if l_i ≥ Grade, else −1
//	λ_i = [l_i ≥ Grade] − p_i,   ∂²L/∂s_i² = p_i(1 − p_i),   p_i = 1/(1 + exp(−s_i))
//
// The weight of document i, 1 by default, multiplies all its terms.
//
// McRank's ordinal classification uses AtLeast for every grade except the lowest (Li, Burges, Wu,
// McRank: Learning to Rank Using Multiple Classification and Gradient Boosting, NIPS 2007, section 3.3).
type AtLeast struct {
	Grade float64 // lowest grade of the positive class
}

var _ Loss = AtLeast{}

// Bind implements [Loss]. It draws no random numbers. The result is a [Diagonal].
func (l AtLeast) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return l.BindDocuments(grades, nil, rng)
}

// WeighsDocuments implements [DocumentWeighted].
func (AtLeast) WeighsDocuments() bool { return true }

// BindDocuments implements [DocumentWeighted].
func (l AtLeast) BindDocuments(grades, weights []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	if math.IsNaN(l.Grade) || math.IsInf(l.Grade, 0) {
		return nil, fmt.Errorf("grade %v, expected a finite number", l.Grade)
	}
	if len(grades) == 0 {
		return Nothing, nil
	}
	b := boundAtLeast{make([]bool, len(grades)), weights}
	for i, g := range grades {
		b.reaches[i] = g >= l.Grade
	}
	return b, nil
}

// Traits implements [Loss].
func (AtLeast) Traits() Traits { return Traits{Convex: true, Smooth: true} }

type boundAtLeast struct {
	reaches []bool    // by document: whether its grade reaches the threshold
	weights []float64 // by document; nil means 1
}

func (b boundAtLeast) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.EvalSecond(scores, lambda, nil, scratch)
}

// EvalSecond implements [Diagonal].
func (b boundAtLeast) EvalSecond(scores, lambda, second []float64, _ *Scratch) (value float64) {
	for i, s := range scores {
		if b.reaches[i] {
			s = -s
		}
		w := 1.0
		if b.weights != nil {
			w = b.weights[i]
		}
		value += float64(w * logspace.Softplus(s))
		if lambda == nil {
			continue
		}
		p, q := logspace.Bernoulli(s) // p is the probability of the other class
		lambda[i] = -w * p
		if b.reaches[i] {
			lambda[i] = w * p
		}
		if second != nil {
			second[i] = w * (p * q)
		}
	}
	return value
}
