package model

// Pointwise reports whether a document's score depends on no other document of its query: neither
// by the scorer nor by what is done to features.
func (m *Model) Pointwise() bool { return m.oneByOne() && m.comparing() == "" }
