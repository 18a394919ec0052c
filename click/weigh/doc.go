// Package weigh makes training data of clicks: a row for each query and document, with a grade and weights that
// allow for how often users looked at it.
//
// Start reading at Log, which counts pages, and at Log.Table. grades.go has the grades, and robust.go the doubly
// robust ones. pages.go makes a row for each page and document instead, for learners that estimate the bias of
// slots themselves. The package must not depend on losses or learners: a regression is a function of the caller.
package weigh
