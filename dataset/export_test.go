package dataset

// What the tests, which are in a package of their own because readers import this one,
// need of its internals.

// ComputeFingerprint computes the fingerprint, even if one is stored.
func (d *Dataset) ComputeFingerprint() string { return d.computeFingerprint() }

// SetInputRows makes d one whose rows stand in another order than the input's.
func (d *Dataset) SetInputRows(rows []int) { d.inputRow = rows }
