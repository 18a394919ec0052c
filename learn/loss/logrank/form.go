package logrank

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/suggest"
)

// Form determines which rankings have a probability under the law of [Options], and how sums over
// them are computed.
type Form int

const (
	// Factored sums over all 2^(n⁺n⁻) labelings y ∈ {−1, +1}^(n⁺n⁻) of the pairs of a good and a
	// bad document. It includes labelings that no ranking has, so the pairs are independent
	// (section 2.3). In this form, ConvexLoss and ExpLoss support AUC on all queries. They support
	// other measures only on queries with a single good or a single bad document.
	Factored Form = iota
	// Sampled sums over a sample of rankings, which random walks draw before training (section 4).
	Sampled
	// Lattice sums over the C(n, n⁺) rankings in which the good documents are in descending order
	// of scores, and so are the bad documents. Structured SVMs maximise over the same rankings. The
	// paper does not have this form.
	Lattice
	// Shell sums over the ideal ranking and the n⁺n⁻ rankings that differ from it in one pair of a
	// good and a bad document. The random walks of Sampled, starting at the ideal ranking, reach
	// the same rankings in one step.
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
