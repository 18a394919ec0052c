// Package loss contains the losses of learning to rank. Each is a function of one query's scores that a
// learner minimises.
//
// A loss does not see the features of documents, only their scores. So any loss can train any scorer.
// [Loss.Bind] reads a query's grades once, and precomputes tables or draws samples of rankings.
// [QueryLoss.Eval] then maps scores to a value and to λ, the negative derivative with respect to each
// score. Every loss has its own file, which begins with the formula and its source. The losses of
// LogRank are in the package logrank.
//
// Start reading at [Loss]. The optional interfaces are in second_order.go (second derivatives, cutting
// planes) and cost.go (time and memory). The package must not depend on features, scorers, optimisers or
// sums over queries.
package loss

import "math/rand/v2"

// Loss is a ranking loss, to be minimised. Implementations are plain values that may be
// copied and shared between goroutines.
type Loss interface {
	// Bind prepares the loss for a query with the given grades, which must be finite and not negative.
	// The result may retain grades, so the caller must not change them. Bind draws all random numbers of
	// the loss from rng, so Eval is deterministic. If the loss is the same for all scores, for example
	// because all documents have the same grade, Bind returns [Nothing]. It returns an error if the
	// options do not fit the query.
	Bind(grades []float64, rng *rand.Rand) (QueryLoss, error)

	// Traits returns the mathematical properties of the loss.
	Traits() Traits
}

// QueryLoss is a loss bound to one query of n documents.
type QueryLoss interface {
	// Eval returns the loss at the given n scores. If lambda is not nil, Eval overwrites it with
	// λ_i = −∂loss/∂score_i, so a step of the scores along lambda lowers the loss. Eval does not retain
	// its arguments. Concurrent calls are safe if each has its own scratch.
	Eval(scores, lambda []float64, scratch *Scratch) float64
}

// Traits are properties of a loss, for tests and for the choice of optimiser.
type Traits struct {
	// Convex: the loss is convex in the scores, hence in the weights of a
	// linear scorer.
	Convex bool
	// ShiftInvariant: the loss does not change if a constant is added to all scores.
	ShiftInvariant bool
	// Smooth: the gradient is continuous.
	Smooth bool
	// NonGradient: λ is not the negative gradient of the value that Eval returns (as in LambdaRank). Only
	// optimisers that step along λ without a line search on the value can train it.
	NonGradient bool
}

// Nothing is the QueryLoss of a query whose loss is the same for all scores. Its value and its λ are
// zero.
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

func (nothing) PairCosts(_, better, worse []float64, _ *Scratch) {
	clear(better)
	clear(worse)
}

// Scratch is reusable working memory for Eval. Each goroutine needs its own. The zero value is ready to
// use. A Scratch grows to the needs of the largest query and then allocates no more.
type Scratch struct {
	block []float64
	used  int
	ranks []int32 // reused as fewPairs.ranks
}

// Reset makes the memory of all slices from Floats available again. An Eval calls Reset first, unless
// another Eval calls it.
func (s *Scratch) Reset() { s.used = 0 }

// Floats returns n float64s of unspecified content, valid until the next Reset.
func (s *Scratch) Floats(n int) []float64 {
	if s.used+n > len(s.block) {
		// Slices returned earlier keep the old block alive and stay valid.
		s.block = make([]float64, max(2*len(s.block), s.used+n, 1024))
	}
	f := s.block[s.used : s.used+n : s.used+n]
	s.used += n
	return f
}
