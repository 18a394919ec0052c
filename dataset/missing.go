package dataset

import (
	"fmt"
	"math"
	"slices"
)

// Missing is what an explicitly missing feature value (nan or NULL, in any case) becomes. A feature that is
// absent from its line is not missing but 0, as in the svmlight format, unless [Options] say otherwise. An
// infinite feature is always an error. Its text form, which model files hold, is its name.
type Missing int

const (
	// MissingError refuses the file.
	MissingError Missing = iota

	// MissingZero makes it 0.
	MissingZero

	// MissingMin makes it the smallest value that the feature has among the
	// documents of the same query, or 0 if it is missing for all of them:
	// LETOR's rule for NULL (T. Qin et al., "LETOR: A benchmark collection for
	// research on learning to rank for information retrieval", 2010, section 3).
	MissingMin

	// MissingKeep leaves it a NaN. It is for data that models score, as each model replaces missing values by
	// its own policy. It is also for models that learn from missing values, as trees do. See [Dataset.Missing].
	MissingKeep
)

// missingNames are the policies by name.
var missingNames = []string{"error", "zero", "min", "keep"}

// String returns the policy as ParseMissing reads it.
func (m Missing) String() string {
	if m < 0 || int(m) >= len(missingNames) {
		return fmt.Sprintf("Missing(%d)", int(m))
	}
	return missingNames[m]
}

// ParseMissing reads a policy: error, zero, min or keep.
func ParseMissing(s string) (Missing, error) {
	if i := slices.Index(missingNames, s); i >= 0 {
		return Missing(i), nil
	}
	return 0, fmt.Errorf("found %q, expected error, zero, min or keep", s)
}

// Missing returns the number of values that are missing: NaN in X. It is 0 unless the
// data set was read with MissingKeep, or made from one that was.
func (d *Dataset) Missing() int { return d.missing }

// Filled returns the number of missing values that FillMissing has replaced, as readers have it
// do for all policies but MissingKeep.
func (d *Dataset) Filled() int { return d.filled }

// Absent returns the number of features that the lines of LETOR text left out and that were
// taken as 0. It is known of a data set as it was read, not of one made from another.
func (d *Dataset) Absent() int { return d.absent }

// FirstMissing returns the query, the document within it and the feature, all counted
// from 0, of the first missing value; ok is false if there is none.
func (d *Dataset) FirstMissing() (query, doc, feature int, ok bool) {
	if d.missing == 0 {
		return 0, 0, 0, false
	}
	rows := d.Reader()
	for i := range d.Queries {
		if k := slices.IndexFunc(rows.At(i), isNaN); k >= 0 {
			return i, k / d.Features, k % d.Features, true
		}
	}
	return 0, 0, 0, false
}

// TakeMissing is FillMissing for a reader of the file of that name: there is a warning that
// says how many values there were.
func (d *Dataset) TakeMissing(name string, m Missing) {
	n := d.missing
	d.FillMissing(m)
	if n == 0 || d.missing > 0 {
		return
	}
	d.Warnings = append(d.Warnings, MissingWarning(name, n, m))
}

// MissingWarning says that n missing values of a file were replaced by a policy.
func MissingWarning(name string, n int, m Missing) string {
	as := "as 0"
	if m == MissingMin {
		as = "as the feature's smallest value within the query"
	}
	return fmt.Sprintf("%s: %d missing values (nan or NULL) taken %s", name, n, as)
}

// FillMissing replaces all missing values of d in place by the policy, MissingZero or
// MissingMin; by another they stay.
func (d *Dataset) FillMissing(m Missing) {
	if d.missing == 0 || m != MissingZero && m != MissingMin {
		return
	}
	if d.streamed {
		d.see(inPlaceLens(d.Features, func(x []float32) { m.Apply(x, d.Features) }))
	} else {
		for i := range d.Queries {
			m.Apply(d.Queries[i].X, d.Features)
		}
	}
	d.filled, d.missing = d.filled+d.missing, 0
	d.Modified()
}

// Apply replaces the missing values, NaN, of one query in place; x is the row-major
// matrix of its documents' feature vectors, of the given number of columns.
// MissingError and MissingKeep change nothing.
func (m Missing) Apply(x []float32, features int) {
	switch m {
	case MissingZero:
		for k, v := range x {
			if v != v {
				x[k] = 0
			}
		}
	case MissingMin:
		for j := range features {
			fillColumn(x[j:], features)
		}
	case MissingError, MissingKeep:
	}
}

// fillColumn replaces each NaN of a column, which x begins with, by its smallest
// value, or by 0 if there is none.
func fillColumn(x []float32, features int) {
	least, missing := float32(math.Inf(1)), false
	for k := 0; k < len(x); k += features {
		if v := x[k]; v != v {
			missing = true
		} else {
			least = min(least, v)
		}
	}
	if !missing {
		return
	}
	if least > math.MaxFloat32 {
		least = 0
	}
	for k := 0; k < len(x); k += features {
		if v := x[k]; v != v {
			x[k] = least
		}
	}
}

func isNaN(v float32) bool { return v != v }

func countMissing(x []float32) int {
	n := 0
	for _, v := range x {
		if v != v {
			n++
		}
	}
	return n
}
