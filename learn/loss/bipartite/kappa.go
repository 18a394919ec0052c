package bipartite

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/suggest"
)

// Kappa determines the scale κ of LogRank's feature map, and thus of differences of scores
// (section 1.7).
type Kappa int

const (
	// KappaOne is κ = 1, the paper's choice. A query with more pairs then counts more.
	KappaOne Kappa = iota
	// KappaPairs is κ = 1/(n⁺n⁻).
	KappaPairs
)

var kappaNames = [...]string{"one", "pairs"}

// ParseKappa returns the scale with the given name: one or pairs.
func ParseKappa(name string) (Kappa, error) {
	i := slices.Index(kappaNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("kappa %q, expected %s", name, suggest.OneOf(kappaNames[:]))
	}
	return Kappa(i), nil
}

// Validate returns an error unless k is one of the constants.
func (k Kappa) Validate() error {
	if k < 0 || int(k) >= len(kappaNames) {
		return fmt.Errorf("kappa %d, expected %s", int(k), suggest.OneOf(kappaNames[:]))
	}
	return nil
}

// String returns the name that ParseKappa reads.
func (k Kappa) String() string { return kappaNames[k] }

// Scale returns κ for a query with the given classes.
func (k Kappa) Scale(pairs Classes) float64 {
	if k == KappaPairs {
		return 1 / float64(pairs.Pairs())
	}
	return 1
}
