// Package scorer contains functions that map the feature vectors of a query to scores, such as linear
// functions, networks and trees. Training sets their parameters, and models store them.
//
// A scorer is an architecture without state. Its parameters are a separate vector, which an optimiser
// changes. Start reading at [Scorer]. Each architecture has its own file and a line in ownKinds in
// encode.go. Other packages add architectures with [Register]. The package must not depend on grades,
// losses or optimisers.
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

	// Init sets params to the starting point of training. Random numbers are drawn from rng.
	Init(params []float64, rng *rand.Rand)

	// Score sets dst[i] to the score of the document in row i of x. x is the row-major len(dst) ×
	// NumFeatures matrix of one query. Score stores in ws what Backward needs. Concurrent calls must
	// not share ws.
	Score(dst, params []float64, x []float32, ws *Workspace)

	// Backward adds the gradient of Σ_i lambda[i]·score_i with respect to the parameters, evaluated at
	// params, to grad. x has a row for every element of lambda. The last call of Score with ws must
	// have had the same params and x. Several calls of Backward may follow one call of Score.
	Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace)
}

// Preparer is a Scorer that builds a data structure for faster scoring after it has scored some
// documents. Prepare builds the data structure at once. It does not change scores, and is safe for
// concurrent use.
type Preparer interface {
	Scorer
	Prepare()
}

// MissingTaker is a Scorer that can report whether it scores documents with missing values, NaN.
type MissingTaker interface {
	Scorer

	// TakesMissing reports whether features may be NaN.
	TakesMissing() bool
}
