package loss

import "math/rand/v2"

// SquaredError is half the squared distance between scores and mapped grades,
//
//	L(s) = ½ Σ_i w_i (s_i − ψ(l_i))²,   λ_i = w_i (ψ(l_i) − s_i),   ∂²L/∂s_i² = w_i
//
// where w_i is the weight of document i, 1 by default. It is regression on the grades. With trees it is
// MART (Friedman, Greedy Function Approximation: A Gradient Boosting Machine, Annals of Statistics 2001,
// Algorithm 2).
type SquaredError struct {
	Mapping Mapping // the ψ that turns a grade into the target of the score; the zero value is LinearMapping
}

var _ Loss = SquaredError{}

// Bind implements [Loss].
func (l SquaredError) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return l.BindDocuments(grades, nil, rng)
}

// WeighsDocuments implements [DocumentWeighted].
func (SquaredError) WeighsDocuments() bool { return true }

// BindDocuments implements [DocumentWeighted].
func (l SquaredError) BindDocuments(grades, weights []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	if len(grades) == 0 {
		return Nothing, nil
	}
	target, err := l.Mapping.scores(grades)
	if err != nil {
		return nil, err
	}
	return squaredError{target, weights}, nil
}

// Traits implements [Loss].
func (SquaredError) Traits() Traits { return Traits{Convex: true} }

type squaredError struct{ target, weights []float64 }

func (b squaredError) Eval(scores, lambda []float64, _ *Scratch) float64 {
	var sum float64
	for i, s := range scores {
		d, w := b.target[i]-s, 1.0
		if b.weights != nil {
			w = b.weights[i]
		}
		sum += float64(w * d * d)
		if lambda != nil {
			lambda[i] = w * d
		}
	}
	return sum / 2
}

// EvalSecond implements [Diagonal].
func (b squaredError) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	for i := range second {
		second[i] = 1
	}
	copy(second, b.weights)
	return b.Eval(scores, lambda, scratch)
}
