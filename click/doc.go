// Package click reads, counts and writes pages: rankings that users saw, and what they clicked.
// Click models, propensities, learning and evaluation from clicks are in the folders below.
//
// Start reading at Page, then at Counts, the form that all estimates use. Clicks are yes or no per
// page and document; estimates do not use their order. The package must not depend on models of
// clicks or of rankings.
package click
