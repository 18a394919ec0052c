// Package listwise learns to rank: Train learns a ranking function from judged queries,
// Load reads one from its file, and Rank orders documents by it.
//
// It is the front door of the packages beside it, which can be used alone: a dataset is
// learned by a method (package method, a catalogue) or by a loss and a learner of the
// caller's own (package train); this yields a model, which scores documents. Package
// measure says how good rankings are, package tune chooses settings, package stats
// compares systems. docs/architecture.md describes the whole.
package listwise
