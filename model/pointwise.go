package model

// Pointwise reports whether a document's score is independent of the other documents of its query.
// Neither the scorer nor a transform of features may compare documents.
func (m *Model) Pointwise() bool { return m.oneByOne() && m.comparing() == "" }
