package logrank

import (
	"math/rand/v2"

	"github.com/listwise/listwise/learn/loss"
)

// ConvexLoss is LogRank's convex upper bound of the expected loss (section 3),
//
//	ConvexLoss(s) = log Σ_y ω_y exp(−w·δφ(y) + β Δ(y)) = A(β).
//
// ConvexLoss is at least [L3]. If all ω are 1, it is also at least the structured hinge loss max_y
// (βΔ(y) − w·δφ(y)), which has the maximum in place of the log-sum-exp. ConvexLoss is convex in
// every form. In the sampled form, its bound loss is a [loss.Diagonal].
//
// In the factored form under AUC it is Σ_gb log(1 + exp(−2κ(s_g − s_b) + β/(n⁺n⁻))). Under other
// measures, the factored form exists only for queries with a single good or a single bad document. Bind
// returns an error for all other queries.
type ConvexLoss struct{ Options }

var _ loss.Loss = ConvexLoss{}

// Bind implements [loss.Loss].
func (l ConvexLoss) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return l.bindTo(grades, rng, lossPartition, func(law law) loss.QueryLoss { return bindPartition(law, l.beta()) })
}

// Traits implements [loss.Loss].
func (l ConvexLoss) Traits() loss.Traits { return l.traits(true) }
