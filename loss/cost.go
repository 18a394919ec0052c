package loss

import (
	"slices"

	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/ranking"
)

// Cost is what a loss takes for a query, about: both numbers are orders of magnitude,
// measured on one core of a common machine.
type Cost struct {
	Operations float64 // of Bind or of one Eval, whichever is more; a nanosecond each
	Bytes      float64 // of memory, held or worked in
}

// operationsPerByte is how many operations weigh as much as a byte of memory.
const operationsPerByte = 10

// Work is the cost as one number: its operations, or its bytes at ten operations each,
// whichever is more.
func (c Cost) Work() float64 { return max(c.Operations, operationsPerByte*c.Bytes) }

// Coster is a [Loss] whose cost can grow faster than n·log n with a query's n
// documents. Cost tells, in far less time than it takes, what a query with the given
// grades would take.
type Coster interface {
	Loss
	Cost(grades []float64) Cost
}

var _ = []Coster{MLE{}, ExpGain{}, L2{}, L3{}, ConvexLoss{}, RankNet{}, LambdaRank{}, LambdaLoss{}, ApproxNDCG{}, SoftRank{}, StructuredHinge{}, GradedHinge{}, ListNet{}}

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

// countingRanks returns how many of n ranks count for a measure.
func countingRanks(m measure.Measure, n float64) float64 {
	if cut := measure.CutoffOf(m); cut > 0 {
		return min(n, float64(cut))
	}
	return n
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

// Cost implements [Coster]: one of the O(Tn) swaps that count, or the measure anew.
func (l LambdaRank) Cost(grades []float64) Cost {
	n := float64(len(grades))
	ranks := countingRanks(l.Measure, n)
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

// Cost implements [Coster]: only three first documents ask for more than a sort.
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

// Cost implements [Coster]: binding looks at every term of the gain, and keeps those
// that are not 0, unless the gain is known to be convex.
func (l StructuredHinge) Cost(grades []float64) Cost {
	if l.Gain != nil && knownConvex(l.Gain) {
		return Cost{}
	}
	pairs := ranking.Split(grades, orDefault(l.Threshold, 1))
	return gainCost(l.Gain, len(pairs.Good), len(pairs.Bad))
}

// gainCost is that of a gainTable. A cut-off leaves few terms.
func gainCost(gain measure.Additive, good, bad int) Cost {
	cells := float64(good) * float64(bad)
	kept, perCell := cells, 5.0
	if gain != nil {
		name, cut := measure.Family(gain), measure.CutoffOf(gain)
		switch {
		case name == "mrr" || name == "auc":
			kept = float64(bad)
		case name == "mean-ndcg": // its terms are sums over all ranks
			perCell = float64(good + bad)
		case cut > 0:
			kept = min(kept, float64(cut)*float64(cut))
		}
	}
	return Cost{Operations: perCell * cells, Bytes: 16 * kept}
}

// Cost implements [Coster].
func (l MLE) Cost(grades []float64) Cost { return l.cost(grades, onlyPartition) }

// Cost implements [Coster].
func (l ExpGain) Cost(grades []float64) Cost { return l.cost(grades, expectedGain) }

// Cost implements [Coster].
func (l L2) Cost(grades []float64) Cost { return l.cost(grades, expectedGain) }

// Cost implements [Coster].
func (l L3) Cost(grades []float64) Cost { return l.cost(grades, expectedGain) }

// Cost implements [Coster].
func (l ConvexLoss) Cost(grades []float64) Cost { return l.cost(grades, lossPartition) }

// cost tells what a law takes for what an objective needs of it.
func (c LogRank) cost(grades []float64, need quantities) Cost {
	split := ranking.Split(grades, orDefault(c.Threshold, 1))
	good, bad := len(split.Good), len(split.Bad)
	pairs := float64(good) * float64(bad)
	if pairs == 0 || c.Form == Sampled {
		return Cost{}
	}
	table := Cost{}
	if need != onlyPartition {
		table = gainCost(c.Gain, good, bad)
	}
	switch {
	case c.Form == Shell:
		return table
	case c.Form == Lattice && need == expectedGain:
		return Cost{Operations: 800 * pairs, Bytes: 60*pairs + table.Bytes}
	case c.Form == Lattice:
		return Cost{Operations: 300 * pairs, Bytes: 25*pairs + table.Bytes}
	case need == onlyPartition:
		return Cost{Operations: 2 * pairs}
	}
	if measure.Family(c.Gain) == "auc" {
		return Cost{Operations: max(table.Operations, 2*pairs), Bytes: table.Bytes}
	}
	terms := countingRanks(c.Gain, float64(bad)) // T of newFactoredLaw
	return Cost{Operations: max(table.Operations, 30*pairs*terms), Bytes: 50*pairs + table.Bytes}
}
