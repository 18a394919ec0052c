package optimize

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// Rule says how the gradient g of an update becomes a step of the rate α.
type Rule int

const (
	// Plain is steepest descent: x ← x − αg.
	Plain Rule = iota

	// Momentum goes on along past steps: v ← μv − αg, x ← x + v. I. Sutskever,
	// J. Martens, G. Dahl and G. Hinton, On the importance of initialization and
	// momentum in deep learning (ICML 2013), equations 1 and 2.
	Momentum

	// Adam divides the mean of past gradients by the root of the mean of their
	// squares, variable by variable, both corrected for their start at 0, with t
	// the number of the update since the (re)start:
	//
	//	m ← β₁m + (1−β₁)g     v ← β₂v + (1−β₂)g²
	//	x ← x − α · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
	//
	// D. P. Kingma and J. Ba, Adam: A Method for Stochastic Optimization (ICLR
	// 2015), algorithm 1. The penalty's gradient is part of g.
	Adam
)

// String returns the rule's name in lower case.
func (r Rule) String() string {
	switch r {
	case Plain:
		return "plain"
	case Momentum:
		return "momentum"
	case Adam:
		return "adam"
	}
	return fmt.Sprintf("rule %d", int(r))
}

// moments is the number of vectors that the rule remembers beside x.
func (r Rule) moments() int { return int(r) }

// move makes the step of the gradient r.grad from r.at.
func (r *descentRun) move() {
	at := &r.at
	at.updates++
	switch r.set.Rule {
	case Plain:
		kernel.Axpy(-at.rate, r.grad, at.x)
	case Momentum:
		v := at.moments[0]
		kernel.Scale(r.set.Beta1, v)
		kernel.Axpy(-at.rate, r.grad, v)
		kernel.Add(at.x, v)
	case Adam:
		r.adam()
	}
}

// adam moves by α√(1−β₂ᵗ)/(1−β₁ᵗ) · m/(√v + ε√(1−β₂ᵗ)), the same with one division
// less a variable.
func (r *descentRun) adam() {
	at, beta1, beta2 := &r.at, r.set.Beta1, r.set.Beta2
	t := float64(at.updates)
	root := math.Sqrt(1 - elementary.Pow(beta2, t))
	rate, epsilon := at.rate*root/(1-elementary.Pow(beta1, t)), r.set.Epsilon*root
	kernel.Adam(at.x, r.grad, at.moments[0], at.moments[1], beta1, beta2, rate, epsilon)
}
