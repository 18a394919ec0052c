// Package listwise learns to rank. [Train] learns a ranking function from judged queries, [Load]
// reads one from a file, and [Rank] orders documents by it.
//
// The package is a small interface to other packages of this module, which can be used directly. A
// method (package method), of the catalogue or with the caller's own loss, learns from a data set
// (package dataset); package train takes the caller's own learner, too. The result is a model
// (package model), which scores documents. Package measure measures rankings, package tune chooses
// settings, and package stats compares systems. The programs in examples show each of these, and
// docs/architecture.md describes the whole.
package listwise
