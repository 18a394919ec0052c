package dataset

import (
	"fmt"
	"slices"
)

// Negative is what a negative grade becomes, such as the −1 by which TREC's judgments mark
// documents of no use at all.
type Negative int

const (
	// NegativeError refuses the file.
	NegativeError Negative = iota

	// NegativeZero makes it 0, not relevant.
	NegativeZero

	// NegativeDrop leaves the document out.
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
