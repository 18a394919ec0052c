package logrank

import "github.com/listwise/listwise/learn/loss"

// law is a probability law over the rankings y of one query's good (relevant) and bad (irrelevant)
// documents,
//
//	p(y) ∝ ω_y exp(−w·δφ(y)),   w·δφ(y) = 2κ Σ_{(g,b) inverted in y} (s_g − s_b)
//
// (LogRank, eq. 3), where δφ(y) = φ(y*) − φ(y), and y* is the ideal ranking. [Options] defines κ,
// β, the gain G and the loss Δ. All objectives of LogRank are functions of two quantities of a law:
//
//	A(β)     = log Σ_y ω_y exp(−w·δφ(y) + β Δ(y))
//	log E[G] = log Σ_y p(y) G(y),   G = 1 − Δ
//
//	L1 = MLE = A(0)       ConvexLoss = A(β)
//	L2 = β(1 − E[G])      L3 = L1 + L2         ExpGain = −log E[G]
//	ExpLoss = A(β) − A(0)     LogLoss = log(1 − E[G])
//
// Each implementation of law is a form (see [Form]). It determines which rankings have a
// probability and the weights ω of these rankings. It computes the two quantities and does not
// depend on the objective. An objective calls the two methods and does not depend on the form.
type law interface {
	// logPartition returns A(beta) at the query's scores s. If grad is not nil, logPartition
	// overwrites it with ∂A/∂s.
	logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64

	// logGain returns log E[G] at the scores s. If grad is not nil, logGain overwrites it with ∂
	// log E[G]/∂s. If G is 0 for all rankings of the law, logGain returns −Inf and sets grad to 0.
	// This can only happen for a sample of rankings.
	logGain(s, grad []float64, scratch *loss.Scratch) float64
}

// curved is a law that also computes second derivatives of A(β),
//
//	∂²A/∂s_i² = Σ_y p_y (∂e_y/∂s_i)² − (∂A/∂s_i)²,   e_y = −w·δφ(y),
//
// which are the variances of ∂e_y/∂s_i. p_y is the term of y in the sum of A(β), divided by the
// sum.
type curved interface {
	law

	// logPartitionSecond does what logPartition does, and also overwrites second with ∂²A/∂s_i²,
	// which are not negative. grad must not be nil.
	logPartitionSecond(beta float64, s, grad, second []float64, scratch *loss.Scratch) float64
}
