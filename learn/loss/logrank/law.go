package logrank

import "github.com/listwise/listwise/learn/loss"

// law is a probability law over the rankings y of one query's good (relevant) and bad (irrelevant)
// documents,
//
//	p(y) ∝ ω_y exp(−w·δφ(y)),   w·δφ(y) = 2κ Σ_{(g,b) inverted in y} (s_g − s_b)
//
// (LogRank, eq. 3; δφ(y) = φ(y*) − φ(y)). All objectives of LogRank are functions of two quantities of a
// law:
//
//	A(β)     = log Σ_y ω_y exp(−w·δφ(y) + β Δ(y))
//	log E[G] = log Σ_y p(y) G(y),   G = 1 − Δ
//
//	L1 = MLE = A(0)       ConvexLoss = A(β)
//	L2 = β(1 − E[G])      L3 = L1 + L2         ExpGain = −log E[G]
//	ExpLoss = A(β) − A(0)     LogLoss = log(1 − E[G])
//
// A form chooses the rankings and the weights ω. It implements these two quantities and does not depend
// on the objective. An objective does not depend on the form.
type law interface {
	// logPartition returns A(beta) at the query's scores s. If grad is not nil
	// it is overwritten with ∂A/∂s.
	logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64

	// logGain returns log E[G] at the scores s. If grad is not nil it is overwritten with ∂ log E[G]/∂s.
	// If G is 0 for all rankings of the law, as can happen for a sample, logGain returns −Inf and the
	// derivative is 0.
	logGain(s, grad []float64, scratch *loss.Scratch) float64
}

// curved is a law with second derivatives of A(β),
//
//	∂²A/∂s_i² = Σ_y p_y (∂e_y/∂s_i)² − (∂A/∂s_i)²,   e_y = −w·δφ(y),
//
// which are variances of ∂e_y/∂s_i.
type curved interface {
	law

	// logPartitionSecond does what logPartition does; grad must not be nil. It also overwrites second
	// with ∂²A/∂s_i², which are not negative.
	logPartitionSecond(beta float64, s, grad, second []float64, scratch *loss.Scratch) float64
}
