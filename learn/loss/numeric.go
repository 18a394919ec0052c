package loss

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Numeric is a loss that is given by its value alone, for trying an idea before λ is derived. Eval computes λ by
// central differences of fourth order,
//
//	∂L/∂s_i ≈ (8(L(s+he_i) − L(s−he_i)) − (L(s+2he_i) − L(s−2he_i))) / (12h),   h = 2⁻¹⁰,
//
// from four values for each document. So an evaluation with λ takes O(n) times as long as the value. For ListNet, the
// λ of 10 to 200 documents agree with the derived ones to 1e-11.
//
// The model's Training.Lambda says that λ were numerical. Second derivatives, for trees, are computed from the same
// values, with an error of about 1e-8 of the value, if the loss is convex.
//
// A loss with settings is a type of its own, whose Bind calls that of a Numeric.
type Numeric struct {
	Name string // for error messages and records

	// Value returns the loss of a query with the given grades, as a function of its scores. It returns nil if the loss
	// is the same for all scores. The function must be finite. It may sort its argument, but not retain it. Concurrent
	// calls must be safe.
	Value func(grades []float64) func(scores []float64) float64

	// Properties are the mathematical properties of the loss. NonGradient must be false. If the loss is Convex, L-BFGS certifies its
	// result, and trees use second derivatives.
	Properties Traits

	MaxDocuments int // largest number of documents of a query; 0 means 200
}

var _ Loss = Numeric{}

// Traits implements [Loss].
func (l Numeric) Traits() Traits { return l.Properties }

// Bind implements [Loss]. It returns an error for a query with more than MaxDocuments documents.
func (l Numeric) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	most := cmp.Or(l.MaxDocuments, 200)
	switch n := len(grades); {
	case l.Value == nil:
		return nil, errors.New("found a numeric loss without a Value, expected the loss as a function of the scores")
	case l.Properties.NonGradient:
		return nil, errors.New("found NonGradient for a numeric loss, expected false: its λ are the gradient of its value")
	case n > most:
		return nil, fmt.Errorf("found %d documents, expected at most %d: the numeric loss %s takes %d values for one λ; raise MaxDocuments, sample documents, or compute λ in a loss.QueryLoss", n, most, l.Name, 4*n)
	}
	b := boundNumeric{l.Value(grades)}
	if b.value == nil {
		return Nothing, nil
	}
	if l.Properties.Convex {
		return boundConvexNumeric{b}, nil
	}
	return b, nil
}

// IsNumeric reports whether a query's λ are differences of the value, as for [Numeric].
func IsNumeric(l QueryLoss) bool {
	_, ok := l.(interface{ numeric() })
	return ok
}

// boundNumeric is a Numeric bound to a query.
type boundNumeric struct {
	value func(scores []float64) float64
}

func (boundNumeric) numeric() {}

// Eval implements [QueryLoss].
func (b boundNumeric) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.eval(scores, lambda, nil, scratch)
}

// boundConvexNumeric is a boundNumeric with second derivatives.
type boundConvexNumeric struct{ boundNumeric }

// EvalSecond implements [Diagonal].
func (b boundConvexNumeric) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	return b.eval(scores, lambda, second, scratch)
}

var _ Diagonal = boundConvexNumeric{}

// eval evaluates the loss. It sets lambda and second unless they are nil. Each value gets a copy of the scores.
func (b boundNumeric) eval(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	at := scratch.Floats(len(scores))
	along := func(i int, d float64) float64 {
		copy(at, scores)
		at[i] += d
		return b.value(at)
	}
	copy(at, scores)
	value := b.value(at)
	for i, s := range scores {
		if lambda == nil {
			break
		}
		h := numericStep(s)
		up, down, farUp, farDown := along(i, h), along(i, -h), along(i, 2*h), along(i, -2*h)
		lambda[i] = (float64(8*(down-up)) + (farUp - farDown)) / (12 * h)
		if second != nil {
			bend := float64(16*((up-value)+(down-value))) - ((farUp - value) + (farDown - value))
			second[i] = max(0, bend/(12*h*h))
		}
	}
	return value
}

// numericStep returns the step of differences at a score: 2⁻¹⁰, or for scores from 2¹⁶ on the power of two that is
// exact in their sum. The rounding error is about 2e-13 of the value, and the truncation error h⁴/30 of the fifth
// derivative, 3e-14.
func numericStep(score float64) float64 {
	const usual, digits = -10, 26
	_, exponent := math.Frexp(score)
	return math.Ldexp(1, max(usual, exponent-digits))
}
