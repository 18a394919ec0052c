package dataset

// What the tests, which stand outside of the package because readers build on it, must
// reach within.

// ComputeFingerprint computes the fingerprint, whatever is remembered of it.
func (d *Dataset) ComputeFingerprint() string { return d.computeFingerprint() }

// SetInputRows makes d one whose rows stand in another order than the input's.
func (d *Dataset) SetInputRows(rows []int) { d.inputRow = rows }
