package model

// Pointwise reports whether a document's score is independent of the other documents of its query,
// in the scorer and in the transforms of features.
func (m *Model) Pointwise() bool { return m.oneByOne() && m.comparing() == "" }
