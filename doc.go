// Package listwise learns to rank. [Train] learns a ranking function from judged queries, [Load]
// reads one from a file, and [Rank] orders documents by it.
//
// The package is a small interface to other packages of this module, which can be used directly. A
// method (package method), of the catalogue or with the caller's own loss, learns from a data set
// (package dataset). Package train also takes the caller's own learner. The result is a model
// (package model), which scores documents: [model.Model.BindNames] ranks values of the caller's own
// types. Package measure measures rankings, package tune chooses settings, package stats compares
// systems, and package serve ranks over HTTP. The folder examples has short programs.
// docs/architecture.md describes the whole.
package listwise
