package logrank

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// Combined is a weighted mean of losses for several measures,
//
//	Combined(s) = Σ_k c_k loss_k(s) / Σ_k c_k,
//
// as the last sentence of LogRank proposes: "to guide the ConvexLoss optimizer with some
// combination of all the loss functions". A term is a [ConvexLoss], [ExpGain] or [L2] with its own
// measure, or [MLE]. In the sampled form, all terms share one sample of rankings of each query.
//
// If all terms are ConvexLoss or MLE, Combined is convex, and in the sampled form its bound loss is
// a [loss.Diagonal]. Combined is then at least the [ConvexLoss] for the weighted mean of the losses
// Δ_k. With other terms, Combined is not convex.
//
// No term uses Options.Gain. In the sampled form, Options.Gain determines the start of walks if
// Sampler.Levels is set.
type Combined struct {
	Options
	Terms []Term
}

// Term is one loss of a [Combined].
type Term struct {
	Gain      measure.Additive // nil means MLE; Objective is then ignored
	Weight    float64          // c ≥ 0
	Objective Objective
}

// Objective is the loss of a [Term] that has a gain.
type Objective int

// The objectives of terms.
const (
	TermConvexLoss Objective = iota
	TermExpGain
	TermL2
)

var (
	_ loss.Loss   = Combined{}
	_ loss.Coster = Combined{}
)

// Validate returns an error for options or terms that fit no query.
func (l Combined) Validate() error {
	var total float64
	for _, t := range l.Terms {
		if !(t.Weight >= 0) || math.IsInf(t.Weight, 1) {
			return fmt.Errorf("weight %v of a term, expected a finite non-negative number", t.Weight)
		}
		if t.Objective < TermConvexLoss || t.Objective > TermL2 {
			return fmt.Errorf("objective %d of a term, expected 0 to %d", int(t.Objective), int(TermL2))
		}
		total += t.Weight
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return fmt.Errorf("weights of %d terms with the sum %v, expected a positive number", len(l.Terms), total)
	}
	return l.Options.Validate()
}

// Bind implements [loss.Loss].
func (l Combined) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	pairs := bipartite.Split(grades, l.threshold())
	if pairs.Pairs() == 0 {
		return loss.Nothing, nil
	}
	terms, total := l.counting()
	bound := make(boundCombined, len(terms))
	for k, t := range terms {
		bound[k] = boundTerm{weight: t.Weight / total, objective: t.Objective}
		switch {
		case t.Gain != nil:
			bound[k].beta = l.beta()
		default:
			bound[k].objective = TermConvexLoss
		}
	}
	if l.Form == Sampled {
		if err := l.bindSample(bound, terms, pairs, rng); err != nil {
			return nil, err
		}
		return bound.bound(), nil
	}
	for k, t := range terms {
		var err error
		if bound[k].law, err = l.term(t).bind(grades, rng, t.need()); err != nil {
			return nil, err
		}
	}
	return bound.bound(), nil
}

// counting returns the terms with a positive weight, and the sum of the weights.
func (l Combined) counting() (terms []Term, total float64) {
	for _, t := range l.Terms {
		if t.Weight > 0 {
			terms = append(terms, t)
			total += t.Weight
		}
	}
	return terms, total
}

// bindSample draws one sample and sets the law of each term.
func (l Combined) bindSample(bound boundCombined, terms []Term, pairs bipartite.Classes, rng *rand.Rand) error {
	var gains []ranking.Gain
	for _, t := range terms {
		if t.Gain != nil {
			gains = append(gains, t.Gain)
		}
	}
	first, err := newSampledLaw(pairs, l.Gain, l.Kappa.Scale(pairs), l.Sampler, rng, gains...)
	if err != nil {
		return err
	}
	drawn := 0
	for k, t := range terms {
		if bound[k].law = first; t.Gain != nil {
			law := first.under(first.set.More[drawn])
			if bound[k].law = law; law.gainless && t.Objective == TermExpGain {
				bound[k].weight = 0 // no ranking has a gain, so ExpGain has nothing to learn
			}
			drawn++
		}
	}
	return nil
}

// term returns the options of a term.
func (l Combined) term(t Term) Options {
	o := l.Options
	o.Gain = t.Gain
	return o
}

// need returns the quantities that a term needs of its law.
func (t Term) need() quantities {
	switch {
	case t.Gain == nil:
		return onlyPartition
	case t.Objective == TermConvexLoss:
		return lossPartition
	}
	return expectedGain
}

// Traits implements [loss.Loss].
func (l Combined) Traits() loss.Traits {
	convex := true
	terms, _ := l.counting()
	for _, t := range terms {
		convex = convex && t.need() != expectedGain
	}
	return l.traits(convex)
}

// Cost implements [loss.Coster].
func (l Combined) Cost(grades []float64) loss.Cost {
	var sum loss.Cost
	terms, _ := l.counting()
	for _, t := range terms {
		c := l.term(t).cost(grades, t.need())
		sum.Operations += c.Operations
		sum.Bytes += c.Bytes
	}
	return sum
}

// boundCombined contains the terms, bound to a query.
type boundCombined []boundTerm

// boundTerm is a term bound to a query. MLE is stored as ConvexLoss with β = 0.
type boundTerm struct {
	objective Objective
	law       law
	beta      float64
	weight    float64 // 0 for a term that has nothing to learn from the query
}

// eval returns the term's value. If lambda is not nil, eval overwrites it with the term's λ.
func (t *boundTerm) eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	switch t.objective {
	case TermExpGain:
		return -t.law.logGain(scores, lambda, scratch)
	case TermL2:
		return expectedLoss(t.law, t.beta, scores, lambda, scratch)
	}
	value := t.law.logPartition(t.beta, scores, lambda, scratch)
	for i, v := range lambda {
		lambda[i] = -v
	}
	return value
}

// bound returns b, with second derivatives if all terms have them.
func (b boundCombined) bound() loss.QueryLoss {
	for _, t := range b {
		if _, ok := t.law.(curved); !ok || t.objective != TermConvexLoss {
			return b
		}
	}
	return boundCurvedCombined{b}
}

// boundCurvedCombined is a boundCombined of curved laws.
type boundCurvedCombined struct{ boundCombined }

var _ loss.Diagonal = boundCurvedCombined{}

// EvalSecond implements [loss.Diagonal].
func (b boundCurvedCombined) EvalSecond(scores, lambda, second []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	grad, own := scratch.Floats(len(lambda)), scratch.Floats(len(second))
	clear(lambda)
	clear(second)
	var value float64
	for _, t := range b.boundCombined {
		value += float64(t.weight * t.law.(curved).logPartitionSecond(t.beta, scores, grad, own, scratch))
		for i, v := range grad {
			lambda[i] -= float64(t.weight * v)
			second[i] += float64(t.weight * own[i])
		}
	}
	return value
}

func (b boundCombined) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	var own []float64
	if lambda != nil {
		own = scratch.Floats(len(lambda))
		clear(lambda)
	}
	var value float64
	for k := range b {
		t := &b[k]
		if t.weight == 0 {
			continue
		}
		value += float64(t.weight * t.eval(scores, own, scratch))
		for i, v := range own {
			lambda[i] += float64(t.weight * v)
		}
	}
	return value
}
