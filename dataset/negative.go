package dataset

import (
	"fmt"
	"slices"
)

// Negative is the policy for negative grades. TREC judgements, for example, mark useless documents by −1.
type Negative int

const (
	// NegativeError makes a negative grade an error.
	NegativeError Negative = iota

	// NegativeZero replaces a negative grade by 0, which is not relevant.
	NegativeZero

	// NegativeDrop omits documents with negative grades.
	NegativeDrop
)

// negativeNames are the policies by name.
var negativeNames = []string{"error", "zero", "drop"}

// String returns the policy as ParseNegative reads it.
func (n Negative) String() string {
	if n < 0 || int(n) >= len(negativeNames) {
		return fmt.Sprintf("Negative(%d)", int(n))
	}
	return negativeNames[n]
}

// ParseNegative reads a policy: error, zero or drop.
func ParseNegative(s string) (Negative, error) {
	if i := slices.Index(negativeNames, s); i >= 0 {
		return Negative(i), nil
	}
	return 0, fmt.Errorf("found %q, expected error, zero or drop", s)
}
