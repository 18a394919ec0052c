package loss

// SecondOrder is a QueryLoss that has a Hessian, for optimisers of second order.
type SecondOrder interface {
	QueryLoss

	// Curvature returns memory for the Hessian at one point.
	Curvature() Curvature
}

// Curvature is a loss on one query that remembers its Hessian with respect to the
// scores (a generalised one where the gradient has kinks) at one point. Calls must
// not overlap.
type Curvature interface {
	// Eval is [QueryLoss.Eval], and makes scores the point of Times.
	Eval(scores, lambda []float64, scratch *Scratch) float64

	// Times overwrites dst with the Hessian times v; both have an element a
	// document, and do not overlap.
	Times(dst, v []float64)
}

// Diagonal is a QueryLoss that knows the second derivatives of the loss by each score
// on its own, for learners that take Newton steps score by score (boosted trees).
type Diagonal interface {
	QueryLoss

	// EvalSecond is [QueryLoss.Eval] with a lambda that is not nil, and overwrites
	// second, one element a document, with ∂²loss/∂score_i² = −∂λ_i/∂score_i. Where λ
	// is a field of forces that depends on a ranking, these are the derivatives of
	// the forces with the ranking held fixed. They are finite and not negative.
	EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64
}

// CuttingPlane is a QueryLoss that knows planes below a loss with kinks: below itself, or
// below the loss it is a smooth stand-in for.
type CuttingPlane interface {
	QueryLoss

	// Support returns c and overwrites lambda, if it is not nil, with λ, such that
	// at any scores z the loss is at least c − λ·z. The plane is chosen for the
	// given scores; λ is that of Eval there.
	Support(scores, lambda []float64, scratch *Scratch) (c float64)
}

var _ = []Diagonal{&boundRankNet{}, crossEntropy{}, &boundBendingLambdaRank{}, nothing{}}
