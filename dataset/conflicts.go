package dataset

import (
	"fmt"
	"slices"
)

// Conflicts is the policy for a document with different grades for the same query in a file of judgements.
type Conflicts int

const (
	// ConflictsError refuses the file.
	ConflictsError Conflicts = iota

	// ConflictsMean takes the mean of all grades of the document.
	ConflictsMean

	// ConflictsLast takes the last grade in the file.
	ConflictsLast
)

// conflictsNames are the policies by name.
var conflictsNames = []string{"error", "mean", "last"}

// String returns the policy as ParseConflicts reads it.
func (c Conflicts) String() string {
	if c < 0 || int(c) >= len(conflictsNames) {
		return fmt.Sprintf("Conflicts(%d)", int(c))
	}
	return conflictsNames[c]
}

// ParseConflicts reads a policy: error, mean or last.
func ParseConflicts(s string) (Conflicts, error) {
	if i := slices.Index(conflictsNames, s); i >= 0 {
		return Conflicts(i), nil
	}
	return 0, fmt.Errorf("found %q, expected error, mean or last", s)
}
