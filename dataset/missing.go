package dataset

import (
	"fmt"
	"math"
	"slices"
)

// Missing is the policy for missing feature values (nan or NULL in the file, in any case). A feature that a
// line omits is not missing but 0, as in the svmlight format, unless [Options] say otherwise. An infinite
// feature is always an error. Model files contain the name of the policy.
type Missing int

const (
	// MissingError makes a missing value an error.
	MissingError Missing = iota

	// MissingZero replaces missing values by 0.
	MissingZero

	// MissingMin replaces missing values by the smallest value of the feature among the documents of the same
	// query, or by 0 if it is missing for all of them. This is LETOR's rule for NULL (T. Qin et al., "LETOR: A
	// benchmark collection for research on learning to rank for information retrieval", 2010, section 3).
	MissingMin

	// MissingKeep keeps missing values as NaN. It is for data that models score, since each model has its own
	// policy. It is also for models that learn from missing values, such as trees. See [Dataset.Missing].
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

// Missing returns the number of missing values, which are NaN in X. It is 0 unless the data set was read with
// MissingKeep, or made from such a data set.
func (d *Dataset) Missing() int { return d.missing }

// Filled returns the number of missing values that FillMissing has replaced. Readers call FillMissing for all
// policies except MissingKeep.
func (d *Dataset) Filled() int { return d.filled }

// Absent returns the number of features that lines of LETOR text omit and that are 0. For a data set that was
// made from another, it returns 0.
func (d *Dataset) Absent() int { return d.absent }

// FirstMissing returns the query, the document within the query and the feature of the first missing value,
// all counted from 0. ok is false if there is none.
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

// TakeMissing does the work of FillMissing for a reader. If it replaces values, it adds a warning with the
// name of the file and the number of values.
func (d *Dataset) TakeMissing(name string, m Missing) {
	n := d.missing
	d.FillMissing(m)
	if n == 0 || d.missing > 0 {
		return
	}
	d.Warnings = append(d.Warnings, MissingWarning(name, n, m))
}

// MissingWarning returns the warning that n missing values of a file were replaced by a policy.
func MissingWarning(name string, n int, m Missing) string {
	by := "0"
	if m == MissingMin {
		by = "the feature's smallest value within the query"
	}
	return fmt.Sprintf("%s: %d missing values (nan or NULL) were replaced by %s", name, n, by)
}

// FillMissing replaces all missing values of d in place by the policy MissingZero or MissingMin. With other
// policies it does nothing.
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

// Apply replaces the missing values (NaN) of one query in place. x is the row-major matrix of its documents,
// with the given number of features. MissingError and MissingKeep change nothing.
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

// fillColumn replaces each NaN of a column by the smallest value of the column, or by 0 if all are NaN. The
// column consists of x[0], x[features], x[2·features] and so on.
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
