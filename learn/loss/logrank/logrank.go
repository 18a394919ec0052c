// Package logrank contains the seven objectives of LogRank, and four probability laws over the
// rankings of a query, the forms.
//
// Start reading at [Options] and at law.go. Good documents are the relevant ones, and bad documents
// (bads) are the irrelevant ones. n⁺ and n⁻ are their numbers in a query. g is a good document and
// b a bad one. A form determines which rankings have a probability, and how sums over them are
// computed (factored.go, sampled.go, lattice.go, shell.go). It must not depend on the objective. An
// objective (mle.go, expgain.go, …) is a function of two such sums and must not depend on the form.
// z_gb is 2κ(s_g − s_b), so −z_gb is the log odds of an inversion of the pair. σ is the logistic
// function, and LSE is the logarithm of a sum of exponentials.
package logrank

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
)

// Options are the common options of the objectives of LogRank (Dubey, Machchhar, Bhattacharyya,
// Chakrabarti, Conditional Models for Non-smooth Ranking Loss Functions, ICDM 2009). They define the law
// over a query's rankings
//
//	p(y) ∝ ω_y exp(w·φ(y)),   w·φ(y) = κ Σ_gb y_gb (s_g − s_b)       (eqs. 2, 3)
//
// and the gain G(y), whose complement Δ(y) = 1 − G(y) is the loss of a ranking. y_gb is +1 if the good
// document g is above the bad document b and −1 otherwise. The objectives are [MLE], [ExpGain], [L2],
// [L3], [ConvexLoss], [ExpLoss] and [LogLoss]. [Combined] combines them for several measures.
//
// Section 1.2 of the paper mentions another feature map: the documents at ranks 1 to 10 minus all
// other documents. The package does not offer this map, because it depends on the order of
// documents of the same class, which y does not contain. φ(y*), MLE and ConvexLoss would be
// undefined, where y* is the ideal ranking. The negative log likelihood of all ideal rankings
// together would not be convex.
//
// The zero value means the factored form, κ = 1 and β = 1, and documents of grade 1 or more are
// good. It is ready to use for MLE. All other objectives need a Gain.
type Options struct {
	// Form determines the rankings of the law and the computation of sums over them.
	Form Form

	// Gain is the measure G to train for, on binary grades: AUC, average precision, NDCG@k or MRR.
	// MLE needs a Gain only in the sampled form, where the random walks may depend on it.
	Gain measure.Additive

	// Beta is the scale β of Δ in L2, L3, ConvexLoss and ExpLoss, from 0 to 500; 0 means 1, the paper's
	// value. MLE, ExpGain and LogLoss ignore it.
	Beta float64

	// Kappa is the scale κ of score differences.
	Kappa bipartite.Kappa

	// Threshold is the lowest grade of a good document; 0 means 1.
	Threshold float64

	// Sampler has the options of the sampled form. The zero value means [sample.DefaultOptions].
	Sampler sample.Options
}

// maxBeta bounds the scale of Δ so that exp(β) stays far from overflow.
const maxBeta = 500

// Validate returns an error for options that are invalid for every query. Bind returns an error for
// a query for which the options are invalid.
func (c Options) Validate() error {
	switch {
	case c.Form < 0 || int(c.Form) >= len(formNames):
		return fmt.Errorf("form %d, expected %s", int(c.Form), suggest.OneOf(formNames[:]))
	case !(c.Beta >= 0 && c.Beta <= maxBeta):
		return fmt.Errorf("beta %v, expected a number from 0 to %d", c.Beta, maxBeta)
	case !(c.Threshold >= 0) || math.IsInf(c.Threshold, 1):
		return fmt.Errorf("threshold %v, expected a finite non-negative number", c.Threshold)
	case c.Form == Sampled && c.Gain == nil:
		return fmt.Errorf("the sampled form needs a measure to train for")
	}
	return c.Kappa.Validate()
}

// quantities identifies the quantities of a law that an objective needs.
type quantities int

const (
	onlyPartition quantities = iota // A(0)
	expectedGain                    // A(0), log E[G]
	lossPartition                   // A(β)
)

// bindTo returns the objective of a query's law, or loss.Nothing if all documents are good or all are
// bad.
func (c Options) bindTo(grades []float64, rng *rand.Rand, need quantities, objective func(law) loss.QueryLoss) (loss.QueryLoss, error) {
	law, err := c.bind(grades, rng, need)
	if err != nil {
		return nil, err
	}
	if law == nil {
		return loss.Nothing, nil
	}
	return objective(law), nil
}

// bind returns the law of a query with the given grades. It returns nil if all documents are good or all
// are bad, since there is then no pair to learn from.
func (c Options) bind(grades []float64, rng *rand.Rand, need quantities) (law, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Gain == nil && need != onlyPartition {
		return nil, fmt.Errorf("no measure to train for")
	}
	pairs := bipartite.Split(grades, c.threshold())
	if pairs.Pairs() == 0 {
		return nil, nil
	}
	kappa := c.Kappa.Scale(pairs)
	if c.Form == Sampled {
		return c.bindSampled(pairs, kappa, rng)
	}
	var gains *bipartite.GainTable
	if need != onlyPartition {
		var err error
		if gains, err = bipartite.NewGainTable(c.Gain, len(pairs.Good), len(pairs.Bad)); err != nil {
			return nil, err
		}
	}
	docs := bipartite.Scaled{Classes: pairs, Slope: 2 * kappa}
	switch c.Form {
	case Lattice:
		return newLatticeLaw(docs, gains), nil
	case Shell:
		return newShellLaw(docs, gains), nil
	default:
		return newFactoredLaw(docs, gains, need)
	}
}

func (c Options) bindSampled(pairs bipartite.Classes, kappa float64, rng *rand.Rand) (law, error) {
	l, err := newSampledLaw(pairs, c.Gain, kappa, c.Sampler, rng)
	if err != nil {
		// A nil *sampledLaw must not become a law that is not nil.
		return nil, err
	}
	return l, nil
}

// threshold returns Threshold, or its default.
func (c Options) threshold() float64 {
	if c.Threshold == 0 {
		return 1
	}
	return c.Threshold
}

// beta returns Beta, or its default.
func (c Options) beta() float64 {
	if c.Beta == 0 {
		return 1
	}
	return c.Beta
}

// traits returns the properties of an objective under the form, given whether the objective is
// convex. All objectives are functions of differences of scores. The lattice form sorts each class
// by score, so its objectives have kinks where two documents of a class tie.
func (c Options) traits(convex bool) loss.Traits {
	return loss.Traits{Convex: convex, ShiftInvariant: true, Smooth: c.Form != Lattice}
}
