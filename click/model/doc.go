// Package model fits click models: probabilities of clicks on a page, given what attracts users
// and how far down they look.
//
// Start reading at Kinds, the models, and Data.Fit. Every model has its own file, which begins with
// its formula and its source. cells.go is expectation maximisation for models of a single place
// (PBM, UBM), chain.go that for models whose examination goes down the page (DCM, SDBN, DBN, CCM).
// Compare measures models on held-out pages, and Judge makes grades with intervals. The package must
// not know features or rankers.
//
// Models read a page from top to bottom, whatever the order of the clicks. Ranks count from 0.
package model
