package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// ConvexLoss is LogRank's convex upper bound of the expected loss (section 3),
//
//	ConvexLoss(s) = log Σ_y ω_y exp(−w·δφ(y) + β Δ(y)) = A(β),
//
// the log-sum-exp of the terms whose maximum is the structured hinge loss. It is at least L1 + βL2 and at
// least the structured hinge loss max_y (βΔ(y) − w·δφ(y)). It is convex in every form. The sampled form is
// a [loss.Diagonal].
//
// In the factored form under AUC it is Σ_gb log(1 + exp(−2κ(s_g − s_b) + β/(n⁺n⁻))). Under other measures
// that form exists only for queries with a single good or a single bad document. Bind returns an error for
// others.
type ConvexLoss struct{ Options }

var _ loss.Loss = ConvexLoss{}

// Bind implements [loss.Loss].
func (l ConvexLoss) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, lossPartition, func(law law) loss.QueryLoss { return bindPartition(law, l.beta()) })
}

// Traits implements [loss.Loss].
func (l ConvexLoss) Traits() loss.Traits { return l.traits(true) }
