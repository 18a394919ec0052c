package loss

// SecondOrder is a QueryLoss with a Hessian, for second-order optimisers.
type SecondOrder interface {
	QueryLoss

	// Curvature returns memory for the Hessian at one point.
	Curvature() Curvature
}

// Curvature evaluates the loss of one query, and products with its Hessian with respect to the scores.
// Where the gradient has kinks, the Hessian is a generalised one. A Curvature stores the Hessian at one
// point, so calls must not be concurrent.
type Curvature interface {
	// Eval does what [QueryLoss.Eval] does. It also sets the scores at which Times evaluates the
	// Hessian.
	Eval(scores, lambda []float64, scratch *Scratch) float64

	// Times overwrites dst with the product of the Hessian and v. Both have an element for each document
	// and must not overlap.
	Times(dst, v []float64)
}

// Diagonal is a QueryLoss that computes the diagonal of its Hessian. Boosted trees use the diagonal for
// Newton steps.
type Diagonal interface {
	QueryLoss

	// EvalSecond does what [QueryLoss.Eval] does; lambda must not be nil. It also overwrites second,
	// which has an element for each document, with ∂²loss/∂score_i² = −∂λ_i/∂score_i. The derivatives
	// treat some factors of λ as constants: weights that depend on the ranking, and factors that
	// normalize λ.
	//
	// Second derivatives are finite and not negative. A loss whose second derivatives can be negative
	// must not implement Diagonal; learners then use λ alone.
	EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64
}

// CuttingPlane is a QueryLoss with linear lower bounds (cutting planes) of a convex loss. The convex
// loss is the QueryLoss itself, or the loss that the QueryLoss approximates smoothly.
type CuttingPlane interface {
	QueryLoss

	// Support returns the constant c of a plane: at any scores z, the convex loss is at least c − λ·z.
	// Here λ is the result of Eval at the given scores. If lambda is not nil, Support overwrites it with
	// λ.
	Support(scores, lambda []float64, scratch *Scratch) (c float64)
}

var _ = []Diagonal{
	&boundRankNet{}, &boundWeightedRankNet{}, crossEntropy{}, squaredError{}, boundMLEPicks{}, boundMLEAverage{}, boundLambdaLoss{}, &boundSecondLambdaRank{}, &boundYetiRank{}, boundAtLeast{},
	nothing{},
}
