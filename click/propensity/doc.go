// Package propensity estimates from clicks how often users look at each slot of a page.
//
// Start reading at Log, which counts pages, and at Log.Estimate. Every method has its own file. edges.go
// uses shuffled and swapped pages, harvest.go rankers that differ. em.go fits a position-based model, with
// a value for each pair or a regression on features. context.go shrinks estimates of parts of a log to those of the whole. The package
// must not depend on rankers.
//
// Propensities are known up to a factor, so that of the first slot is 1.
package propensity
