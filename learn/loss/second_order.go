package loss

// SecondOrder is a QueryLoss that has a Hessian, for optimisers of second order.
type SecondOrder interface {
	QueryLoss

	// Curvature returns memory for the Hessian at one point.
	Curvature() Curvature
}

// Curvature is a loss on one query that stores its Hessian with respect to the scores
// (a generalised one where the gradient has kinks) at one point. Calls must not
// overlap.
type Curvature interface {
	// Eval is [QueryLoss.Eval], and makes scores the point of Times.
	Eval(scores, lambda []float64, scratch *Scratch) float64

	// Times overwrites dst with the Hessian times v; both have an element a
	// document, and do not overlap.
	Times(dst, v []float64)
}

// Diagonal is a QueryLoss with the diagonal of its Hessian, for learners that take
// Newton steps score by score (boosted trees).
type Diagonal interface {
	QueryLoss

	// EvalSecond is [QueryLoss.Eval] with a lambda that is not nil, and overwrites
	// second, one element a document, with ∂²loss/∂score_i² = −∂λ_i/∂score_i. Where λ
	// is no gradient but depends on a ranking, these are its derivatives with the
	// ranking, and what λ is multiplied with by the scores' size, held fixed. They are finite and not negative: a loss whose second
	// derivatives may be negative, as it is not convex, is no Diagonal, and learners do
	// with λ alone.
	EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64
}

// CuttingPlane is a QueryLoss with linear lower bounds (cutting planes) of a convex
// loss: of itself, or of the loss that it is a smooth approximation of.
type CuttingPlane interface {
	QueryLoss

	// Support returns c and overwrites lambda, if it is not nil, with λ, such that
	// at any scores z the convex loss is at least c − λ·z. λ is that of Eval at the
	// given scores.
	Support(scores, lambda []float64, scratch *Scratch) (c float64)
}

var _ = []Diagonal{
	&boundRankNet{}, &boundWeightedRankNet{}, crossEntropy{}, squaredError{}, boundMLEPicks{}, boundMLEAverage{}, boundLambdaLoss{}, &boundSecondLambdaRank{}, &boundYetiRank{}, boundAtLeast{},
	nothing{},
}
