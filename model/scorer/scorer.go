// Package scorer holds the functions that map a query's feature vectors to
// scores: what a loss trains and a model stores.
//
// A scorer is an architecture without state; its parameters are a plain vector that an
// optimiser may move. Start reading at [Scorer]; each architecture has a file of its own
// and a line in ownKinds in encode.go, and other packages add theirs with [Register]. The
// package must not depend on grades, losses or optimisers.
package scorer

import "math/rand/v2"

// Scorer maps the documents of one query to scores, given a parameter vector.
// Implementations are immutable and safe for concurrent use.
type Scorer interface {
	// Kind is the name of the architecture in model files and, for architectures of this package,
	// on the command line.
	Kind() string

	// NumFeatures is the number of columns the scorer expects.
	NumFeatures() int

	// NumParams is the length of the parameter vector.
	NumParams() int

	// Init sets params to where training starts, drawing from rng what is random
	// about it.
	Init(params []float64, rng *rand.Rand)

	// Score sets dst[i] to the score of the document in row i of x, the
	// row-major len(dst) × NumFeatures matrix of one query. What Backward will
	// need stays in ws, which no two calls may use at the same time.
	Score(dst, params []float64, x []float32, ws *Workspace)

	// Backward adds to grad the gradient of Σ_i lambda[i]·score_i with respect
	// to the parameters, at params; x has a row for every element of lambda. The
	// last Score with ws must have been of the same params and x. Several calls
	// may follow one Score.
	Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace)
}

// Preparer is a Scorer that prepares after some documents, once, to score faster. Prepare
// does that at once. It changes no score, and is safe for concurrent use.
type Preparer interface {
	Scorer
	Prepare()
}

// MissingTaker is implemented by scorers that may have scores for documents with missing
// values, NaN, and say whether they do.
type MissingTaker interface {
	Scorer

	// TakesMissing reports whether values may be missing.
	TakesMissing() bool
}
