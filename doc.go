// Package listwise is the root of a learning-to-rank system; it holds no code.
//
// The packages beside it read as one sentence: a dataset is learned by a method
// (a loss on one query's scores, a scorer from features to scores, an optimiser),
// which yields a model that is measured and scores new documents. Start at
// docs/architecture.md, or at the packages dataset, loss, method and model.
package listwise
