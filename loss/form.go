package loss

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/ranking"
)

// Form says which rankings LogRank's law gives a probability to, and how the
// sums over them are found.
type Form int

const (
	// Factored sums over all 2^(n⁺n⁻) labelings y ∈ {−1, +1}^(n⁺n⁻) of the pairs,
	// cyclic ones included, under which the pairs are independent (section 2.3).
	// ConvexLoss exists for AUC, and for other measures on queries with a single
	// good or a single bad document.
	Factored Form = iota
	// Sampled sums over rankings drawn once by random walks (section 4).
	Sampled
	// Lattice sums over the C(n, n⁺) interleavings of the goods and the bads, both
	// in the order of their scores. It is this project's, not the paper's, and
	// the smooth counterpart of the search space of structured SVMs.
	Lattice
	// Shell sums over the ideal ranking and the n⁺n⁻ rankings that invert a single
	// pair of it: what short walks from the ideal ranking see.
	Shell
)

var formNames = [...]string{"factored", "sampled", "lattice", "shell"}

// ParseForm reads a form's name: factored, sampled, lattice or shell.
func ParseForm(name string) (Form, error) {
	i := slices.Index(formNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("form %q, expected %s", name, nameList(formNames[:]))
	}
	return Form(i), nil
}

// String returns the name that ParseForm reads.
func (f Form) String() string { return formNames[f] }

// Kappa says how LogRank's feature map, and with it the differences of scores,
// is scaled (section 1.7).
type Kappa int

const (
	// KappaOne is κ = 1, the paper's choice: a query counts by its pairs.
	KappaOne Kappa = iota
	// KappaPairs is κ = 1/(n⁺n⁻).
	KappaPairs
)

var kappaNames = [...]string{"one", "pairs"}

// ParseKappa reads a scale's name: one or pairs.
func ParseKappa(name string) (Kappa, error) {
	i := slices.Index(kappaNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("kappa %q, expected %s", name, nameList(kappaNames[:]))
	}
	return Kappa(i), nil
}

// String returns the name that ParseKappa reads.
func (k Kappa) String() string { return kappaNames[k] }

// scale returns κ for a query.
func (k Kappa) scale(pairs ranking.Bipartite) float64 {
	if k == KappaPairs {
		return 1 / float64(pairs.Pairs())
	}
	return 1
}

// nameList joins names as in "a, b or c".
func nameList(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
