package bipartite

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/suggest"
)

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
		return 0, fmt.Errorf("kappa %q, expected %s", name, suggest.OneOf(kappaNames[:]))
	}
	return Kappa(i), nil
}

// Validate returns an error for a number that is no scale.
func (k Kappa) Validate() error {
	if k < 0 || int(k) >= len(kappaNames) {
		return fmt.Errorf("kappa %d, expected %s", int(k), suggest.OneOf(kappaNames[:]))
	}
	return nil
}

// String returns the name that ParseKappa reads.
func (k Kappa) String() string { return kappaNames[k] }

// Scale returns κ for a query.
func (k Kappa) Scale(pairs Classes) float64 {
	if k == KappaPairs {
		return 1 / float64(pairs.Pairs())
	}
	return 1
}
