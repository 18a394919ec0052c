package loss

import "math/rand/v2"

// SquaredError is half the squared distance of scores from grades, or from what a mapping
// makes of them,
//
//	L(s) = ½ Σ_i (s_i − ψ(l_i))²,   λ_i = ψ(l_i) − s_i,   ∂²L/∂s_i² = 1
//
// the regression of the grades: on trees, MART (Friedman, Greedy Function Approximation: A
// Gradient Boosting Machine, Annals of Statistics 2001, Algorithm 2).
type SquaredError struct{ Mapping Mapping }

var _ Loss = SquaredError{}

// Bind implements [Loss].
func (l SquaredError) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if len(grades) == 0 {
		return Nothing, nil
	}
	target, err := l.Mapping.scores(grades)
	if err != nil {
		return nil, err
	}
	return squaredError{target}, nil
}

// Traits implements [Loss].
func (SquaredError) Traits() Traits { return Traits{Convex: true} }

type squaredError struct{ target []float64 }

func (b squaredError) Eval(scores, lambda []float64, _ *Scratch) float64 {
	var sum float64
	for i, s := range scores {
		d := b.target[i] - s
		sum += d * d
		if lambda != nil {
			lambda[i] = d
		}
	}
	return sum / 2
}

// EvalSecond implements [Diagonal].
func (b squaredError) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	for i := range second {
		second[i] = 1
	}
	return b.Eval(scores, lambda, scratch)
}
