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
	// Eval is [QueryLoss.Eval]. It also sets the scores at which Times evaluates the Hessian.
	Eval(scores, lambda []float64, scratch *Scratch) float64

	// Times overwrites dst with the product of the Hessian and v. Both have an element for each document
	// and must not overlap.
	Times(dst, v []float64)
}

// Diagonal is a QueryLoss that returns the diagonal of its Hessian. Boosted trees use it for Newton steps
// by score.
type Diagonal interface {
	QueryLoss

	// EvalSecond does what [QueryLoss.Eval] does; lambda must not be nil. It also overwrites second, which
	// has an element for each document, with ∂²loss/∂score_i² = −∂λ_i/∂score_i. If λ is no gradient because
	// its weights depend on the ranking, the derivatives treat these weights as constants. The same holds
	// for a normalization of λ by the size of the scores.
	//
	// Second derivatives are finite and not negative. A loss for which they may be negative is no Diagonal;
	// learners then use λ alone.
	EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64
}

// CuttingPlane is a QueryLoss with linear lower bounds (cutting planes) of a convex loss. The convex loss is
// the QueryLoss itself, or the loss that it approximates smoothly.
type CuttingPlane interface {
	QueryLoss

	// Support returns the constant c of a plane: at any scores z, the convex loss is at least c − λ·z. λ is
	// that of Eval at the given scores. If lambda is not nil, Support overwrites it with λ.
	Support(scores, lambda []float64, scratch *Scratch) (c float64)
}

var _ = []Diagonal{
	&boundRankNet{}, &boundWeightedRankNet{}, crossEntropy{}, squaredError{}, boundMLEPicks{}, boundMLEAverage{}, boundLambdaLoss{}, &boundSecondLambdaRank{}, &boundYetiRank{}, boundAtLeast{},
	nothing{},
}
