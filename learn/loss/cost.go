package loss

import (
	"cmp"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// Cost estimates the time and memory of a loss for one query. Both numbers are orders of magnitude,
// fitted to measurements on one core of an x86 machine.
type Cost struct {
	Operations float64 // of Bind or of one Eval, the larger number; an operation takes about a nanosecond
	Bytes      float64 // stored and working memory
}

// operationsPerByte is the number of operations that count as much as one byte of memory.
const operationsPerByte = 10

// Work returns the cost as one number: the operations, or ten operations for each byte, the larger of
// both.
func (c Cost) Work() float64 { return max(c.Operations, operationsPerByte*c.Bytes) }

// Coster is a [Loss], or a learner without a loss, whose cost can grow faster than n·log n with a
// query's n documents. Cost returns the estimate for a query with the given grades. The estimate takes
// about as long as sorting the grades.
type Coster interface {
	// Cost returns the operations and bytes for one query whose documents have the given grades.
	Cost(grades []float64) Cost
}

var _ = []Coster{
	RankNet{}, LambdaRank{}, LambdaLoss{}, ApproxNDCG{}, SoftRank{}, StructuredHinge{}, GradedHinge{}, ListNet{},
	YetiRank{}, StochasticRank{},
}

// Holder is a [Loss] whose QueryLoss stores more than about 300 bytes plus 12 bytes for each document.
type Holder interface {
	// Held returns the memory, in bytes, of the loss bound to a query with the given grades.
	Held(grades []float64) float64
}

var _ = []Holder{LambdaLoss{}, StructuredHinge{}, BoltzRank{}}

// Held implements [Holder].
func (LambdaLoss) Held(grades []float64) float64 { return float64(40 * float64(len(grades))) }

// Held implements [Holder]. It counts the terms of the gain.
func (l StructuredHinge) Held(grades []float64) float64 {
	return float64(12*float64(len(grades))) + l.Cost(grades).Bytes
}

// Held implements [Holder]. It counts the ranks and weights of the rankings.
func (b BoltzRank) Held(grades []float64) float64 {
	return float64(float64(cmp.Or(b.Sampler.Rankings, usualRankings)) * float64(4*len(grades)+24))
}

// differentPairs returns the number of pairs of documents with different grades.
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

// withGain returns the number of documents with a grade above 0.
func withGain(grades []float64) float64 {
	n := 0
	for _, g := range grades {
		if g > 0 {
			n++
		}
	}
	return float64(n)
}

// Cost implements [Coster]. It counts a division for each pair.
func (l RankNet) Cost(grades []float64) Cost {
	return Cost{Operations: 2 * differentPairs(grades)}
}

// Cost implements [Coster]. It counts O(Tn) swaps. A swap takes constant time, or computes the measure
// again.
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

// Cost implements [Coster]. It counts an exponential for each document with gain and each other
// document.
func (l ApproxNDCG) Cost(grades []float64) Cost {
	return Cost{Operations: 6 * withGain(grades) * float64(len(grades))}
}

// Cost implements [Coster]. It counts the distribution of each document's rank, with each other document
// left out in turn.
func (l SoftRank) Cost(grades []float64) Cost {
	n := float64(len(grades))
	ranks := n
	if l.Cutoff > 0 {
		ranks = min(n, float64(l.Cutoff))
	}
	return Cost{Operations: 45 * withGain(grades) * n * ranks, Bytes: 8 * n * ranks}
}

// Cost implements [Coster]. Only k = 3 takes longer than a sort. For larger k, the number of documents
// is limited.
func (l ListNet) Cost(grades []float64) Cost {
	if l.Top != 3 {
		return Cost{}
	}
	n := float64(len(grades))
	return Cost{Operations: 10 * n * n}
}

// Cost implements [Coster]. It counts an augmenting path for each rank that counts.
func (l GradedHinge) Cost(grades []float64) Cost {
	n := float64(len(grades))
	ranks := n
	if l.Cutoff > 0 {
		ranks = min(n, float64(l.Cutoff))
	}
	return Cost{Operations: 10 * ranks * n}
}

// Cost implements [Coster]. Bind computes every term of the gain and stores the nonzero ones, unless the
// gain is known to be convex.
func (l StructuredHinge) Cost(grades []float64) Cost {
	if l.Gain != nil && knownConvex(l.Gain) {
		return Cost{}
	}
	pairs := bipartite.Split(grades, orDefault(l.Threshold, 1))
	operations, bytes := bipartite.GainCost(l.Gain, len(pairs.Good), len(pairs.Bad))
	return Cost{Operations: operations, Bytes: bytes}
}
