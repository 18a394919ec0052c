package logrank

import "github.com/listwise/listwise/learn/loss"

// law is a probability law over the rankings y of one query's good (relevant)
// against bad (irrelevant) documents,
//
//	p(y) ∝ ω_y exp(−w·δφ(y)),   w·δφ(y) = 2κ Σ_{(g,b) inverted in y} (s_g − s_b)
//
// (LogRank, eq. 3; δφ(y) = φ(y*) − φ(y)). LogRank's objectives are
// functions of two of its quantities alone:
//
//	A(β)     = log Σ_y ω_y exp(−w·δφ(y) + β Δ(y))
//	log E[G] = log Σ_y p(y) G(y),   G = 1 − Δ
//
//	L1 = MLE = A(0)       ConvexLoss = A(β)
//	L2 = β(1 − E[G])      L3 = L1 + L2         ExpGain = −log E[G]
//	ExpLoss = A(β) − A(0)     LogLoss = log(1 − E[G])
//
// So a form (which rankings, which weights ω) implements these two and knows no objective, and an
// objective knows no form.
type law interface {
	// logPartition returns A(beta) at the query's scores s. If grad is not nil
	// it is overwritten with ∂A/∂s.
	logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64

	// logGain returns log E[G] at the scores s. If grad is not nil it is overwritten with ∂ log E[G]/∂s. If
	// G is 0 for all rankings of the law, as is possible for a sample, it is −Inf, and the derivative is 0.
	logGain(s, grad []float64, scratch *loss.Scratch) float64
}

// curved is a law that knows the second derivatives of A(β),
//
//	∂²A/∂s_i² = Σ_y p_y (∂e_y/∂s_i)² − (∂A/∂s_i)²,   e_y = −w·δφ(y),
//
// the variances of the scores' factors.
type curved interface {
	law

	// logPartitionSecond is logPartition with a grad that is not nil, and overwrites second
	// with ∂²A/∂s². They are not negative.
	logPartitionSecond(beta float64, s, grad, second []float64, scratch *loss.Scratch) float64
}
