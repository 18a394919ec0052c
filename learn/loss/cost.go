package loss

import (
	"cmp"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// Cost estimates the time and memory that a loss takes for a query. Both numbers are
// orders of magnitude, fitted to measurements on one core of an x86 machine.
type Cost struct {
	Operations float64 // of Bind or of one Eval, whichever is more; a nanosecond each
	Bytes      float64 // of memory, held or worked in
}

// operationsPerByte is how many operations weigh as much as a byte of memory.
const operationsPerByte = 10

// Work is the cost as one number: its operations, or its bytes at ten operations each,
// whichever is more.
func (c Cost) Work() float64 { return max(c.Operations, operationsPerByte*c.Bytes) }

// Coster is a [Loss], or a learner without one, whose cost can grow faster than
// n·log n with a query's n documents. Cost returns the estimate for a query with the
// given grades, in about the time that sorting them takes.
type Coster interface {
	Cost(grades []float64) Cost
}

var _ = []Coster{
	RankNet{}, LambdaRank{}, LambdaLoss{}, ApproxNDCG{}, SoftRank{}, StructuredHinge{}, GradedHinge{}, ListNet{},
	YetiRank{}, StochasticRank{},
}

// Holder is a [Loss] that holds more of a query than some 300 bytes and 12 a document.
type Holder interface {
	// Held returns the bytes that it holds of a query with the given grades once it is bound to them.
	Held(grades []float64) float64
}

var _ = []Holder{LambdaLoss{}, StructuredHinge{}, BoltzRank{}}

// Held implements [Holder].
func (LambdaLoss) Held(grades []float64) float64 { return float64(40 * float64(len(grades))) }

// Held implements [Holder]: the terms of the gain.
func (l StructuredHinge) Held(grades []float64) float64 {
	return float64(12*float64(len(grades))) + l.Cost(grades).Bytes
}

// Held implements [Holder]: ranks and weights of the rankings.
func (b BoltzRank) Held(grades []float64) float64 {
	return float64(float64(cmp.Or(b.Sampler.Rankings, usualRankings)) * float64(4*len(grades)+24))
}

// differentPairs returns the number of pairs of differently graded documents.
func differentPairs(grades []float64) float64 {
	sorted := slices.Sorted(slices.Values(grades))
	pairs, from := 0.0, 0
	for to := range sorted {
		if sorted[to] != sorted[from] {
			from = to
		}
		pairs += float64(from)
	}
	return pairs
}

// withGain returns how many documents have a grade above 0.
func withGain(grades []float64) float64 {
	n := 0
	for _, g := range grades {
		if g > 0 {
			n++
		}
	}
	return float64(n)
}

// Cost implements [Coster]: a quotient a pair.
func (l RankNet) Cost(grades []float64) Cost {
	return Cost{Operations: 2 * differentPairs(grades)}
}

// Cost implements [Coster]: O(Tn) swaps, each in O(1) or by computing the measure again.
func (l LambdaRank) Cost(grades []float64) Cost {
	n := float64(len(grades))
	ranks := float64(measure.CountingRanks(l.Measure, len(grades)))
	if l.Truncation > 0 {
		ranks = min(ranks, float64(l.Truncation))
	}
	perPair := 6.0
	if _, ok := l.Measure.(measure.Swapper); !ok {
		perPair = 2 * n
	}
	return Cost{Operations: perPair * ranks * n}
}

// Cost implements [Coster].
func (l LambdaLoss) Cost(grades []float64) Cost {
	return Cost{Operations: 40 * withGain(grades) * float64(len(grades))}
}

// Cost implements [Coster]: an exponential for each other document.
func (l ApproxNDCG) Cost(grades []float64) Cost {
	return Cost{Operations: 6 * withGain(grades) * float64(len(grades))}
}

// Cost implements [Coster]: the law of a rank, with every other document left out.
func (l SoftRank) Cost(grades []float64) Cost {
	n := float64(len(grades))
	ranks := n
	if l.Cutoff > 0 {
		ranks = min(n, float64(l.Cutoff))
	}
	return Cost{Operations: 45 * withGain(grades) * n * ranks, Bytes: 8 * n * ranks}
}

// Cost implements [Coster]: only k = 3 takes longer than a sort; for larger k the
// number of documents is limited.
func (l ListNet) Cost(grades []float64) Cost {
	if l.Top != 3 {
		return Cost{}
	}
	n := float64(len(grades))
	return Cost{Operations: 10 * n * n}
}

// Cost implements [Coster]: an augmenting path a rank that counts.
func (l GradedHinge) Cost(grades []float64) Cost {
	n := float64(len(grades))
	ranks := n
	if l.Cutoff > 0 {
		ranks = min(n, float64(l.Cutoff))
	}
	return Cost{Operations: 10 * ranks * n}
}

// Cost implements [Coster]: Bind computes every term of the gain and keeps the nonzero ones, unless the
// gain is known to be convex.
func (l StructuredHinge) Cost(grades []float64) Cost {
	if l.Gain != nil && knownConvex(l.Gain) {
		return Cost{}
	}
	pairs := bipartite.Split(grades, orDefault(l.Threshold, 1))
	operations, bytes := bipartite.GainCost(l.Gain, len(pairs.Good), len(pairs.Bad))
	return Cost{Operations: operations, Bytes: bytes}
}
