// Package loss holds the losses of learning to rank, each a function of one query's
// scores, to be minimised.
//
// A ranking loss sees a document only through its score, so a loss knows neither features nor models.
// [Loss.Bind] looks at a query's grades once, and samples or precomputes what it needs. [QueryLoss.Eval]
// then maps scores to a value and to λ, the negative derivative per document. So any loss can train any
// scorer. Every loss has a file of its own, headed by its formula and source; LogRank's are in the package
// logrank.
//
// Start reading at [Loss]. Optional properties are in second_order.go (second derivatives, cutting planes)
// and cost.go (time and memory). The package must not know of features, scorers, optimisers or sums over
// queries.
package loss

import "math/rand/v2"

// Loss is a ranking loss, to be minimised. Implementations are plain values that may be
// copied and shared between goroutines.
type Loss interface {
	// Bind prepares the loss for a query with the given grades (finite,
	// non-negative; the slice is kept and must not change). All randomness of
	// the loss is drawn from rng here, so Eval is a deterministic function.
	// A query whose loss is the same for all scores (one without a pair of differently
	// graded documents, say) yields [Nothing]. It is an error if the options do not
	// fit the query.
	Bind(grades []float64, rng *rand.Rand) (QueryLoss, error)

	// Traits returns the mathematical properties of the loss.
	Traits() Traits
}

// QueryLoss is a loss bound to one query of n documents.
type QueryLoss interface {
	// Eval returns the loss at the given n scores. If lambda is not nil, it is
	// overwritten with λ_i = −∂loss/∂score_i, so that moving the scores along
	// lambda lowers the loss. Eval does not keep its arguments. It may be called
	// concurrently as long as every call has a scratch of its own.
	Eval(scores, lambda []float64, scratch *Scratch) float64
}

// Traits are properties of a loss, for tests and for the choice of optimiser.
type Traits struct {
	// Convex: the loss is convex in the scores, hence in the weights of a
	// linear scorer.
	Convex bool
	// ShiftInvariant: adding a constant to all scores changes nothing.
	ShiftInvariant bool
	// Smooth: the gradient is continuous.
	Smooth bool
	// NonGradient: λ is not the negative gradient of the value that Eval returns (as in LambdaRank). Only
	// optimisers that step along λ without a line search on the value can train it.
	NonGradient bool
}

// Nothing is the QueryLoss of a query whose loss is the same for all scores: its value
// and its λ are zero.
var Nothing QueryLoss = nothing{}

type nothing struct{}

func (nothing) Eval(_, lambda []float64, _ *Scratch) float64 {
	clear(lambda)
	return 0
}

func (nothing) EvalSecond(_, lambda, second []float64, _ *Scratch) float64 {
	clear(lambda)
	clear(second)
	return 0
}

// Scratch is reusable working memory for Eval, one for each goroutine. The zero
// value is ready; it grows to the largest query it meets and then allocates no
// more.
type Scratch struct {
	block []float64
	used  int
	ranks []int32 // of fewPairs
}

// Reset makes all memory handed out before available again. Each outermost Eval
// calls it first.
func (s *Scratch) Reset() { s.used = 0 }

// Floats returns n float64s of unspecified content, valid until the next Reset.
func (s *Scratch) Floats(n int) []float64 {
	if s.used+n > len(s.block) {
		// Slices handed out before keep the old block alive and valid.
		s.block = make([]float64, max(2*len(s.block), s.used+n, 1024))
	}
	f := s.block[s.used : s.used+n : s.used+n]
	s.used += n
	return f
}
