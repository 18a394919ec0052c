package logrank

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/suggest"
)

// Form determines the rankings to which LogRank's law gives a probability, and the computation of sums
// over them.
type Form int

const (
	// Factored sums over all 2^(n⁺n⁻) labelings y ∈ {−1, +1}^(n⁺n⁻) of the pairs, including cyclic ones,
	// so the pairs are independent (section 2.3). ConvexLoss exists for AUC, and for other measures on
	// queries with a single good or a single bad document.
	Factored Form = iota
	// Sampled sums over a sample of rankings, which random walks draw once (section 4).
	Sampled
	// Lattice sums over the C(n, n⁺) interleavings of the goods and the bads, each class in descending
	// order of scores. Structured SVMs maximise over the same rankings. The paper does not have this
	// form.
	Lattice
	// Shell sums over the ideal ranking and the n⁺n⁻ rankings that invert one of its pairs. Walks of one
	// step from the ideal ranking reach the same rankings.
	Shell
)

var formNames = [...]string{"factored", "sampled", "lattice", "shell"}

// ParseForm reads a form's name: factored, sampled, lattice or shell.
func ParseForm(name string) (Form, error) {
	i := slices.Index(formNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("form %q, expected %s", name, suggest.OneOf(formNames[:]))
	}
	return Form(i), nil
}

// String returns the name that ParseForm reads.
func (f Form) String() string { return formNames[f] }
