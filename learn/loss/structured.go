package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// StructuredHinge is the margin-rescaled structured hinge of SVMmap and similar methods:
// the largest violation of the margin Δ(y) over all rankings y of a query's good
// against its bad documents, y* being the ideal one,
//
//	L(s) = max_y Δ(y) − w·δφ(y),   w·δφ(y) = 2κ Σ_{(g,b) inverted in y} (s_g − s_b),
//
// where Δ(y) = G(y*) − G(y) is the loss of the gain G. With average precision it is
// SVMmap (Y. Yue, T. Finley, F. Radlinski, T. Joachims, A Support Vector
// Method for Optimizing Average Precision, SIGIR 2007), with NDCG@k and the reciprocal
// rank SVM-NDCG and SVM-MRR (S. Chakrabarti, R. Khanna, U. Sawant, C. Bhattacharyya,
// Structured Learning for Non-Smooth Ranking Losses, KDD 2008), with AUC a sum of pairwise
// hinges (T. Joachims, A Support Vector Method for Multivariate Performance Measures,
// ICML 2005). It is convex and piecewise linear, and at least the Δ of the ranking by
// score.
//
// The maximum is exact. It is attained by a y in which the goods stand in the order of
// their scores, and the bads too: one of the paths that LogRank's lattice form sums
// over. With s_g1 ≥ s_g2 ≥ … and s_b1 ≥ s_b2 ≥ …, and j_i bads above the i-th good,
//
//	L(s) = G(y*) + max over 0 ≤ j_1 ≤ … ≤ j_n⁺ ≤ n⁻ of Σ_i c_i(j_i) − γ_i(j_i),
//	c_i(j) = 2κ Σ_{l≤j} (s_bl − s_gi),   G(y) = Σ_i γ_i(j_i)
//
// (c_i and γ_i of latticeLaw). There are two searches, for different measures:
// columnSearch and rowSearch.
//
// Where several rankings are the worst, λ is that of one of them, averaged over
// documents of one class that tie: a subgradient that does not depend on the order
// of documents in a file.
//
// With a cutoff k far below n⁻, a ranking with any k bads above all goods has Δ = G(y*).
// L is then below G(y*), its value at w = 0, only if the mean score of the goods is above
// that of the k bads with the highest scores. Where no w achieves that for the sum over
// queries, as on OHSUMED with NDCG@10, the minimum is at w = 0. NDCG without a cutoff
// does not have this problem.
type StructuredHinge struct {
	// Gain is the measure G, on grades made binary.
	Gain measure.Additive

	// Kappa is the scale κ of the feature map. SVMmap's is [bipartite.KappaPairs].
	Kappa bipartite.Kappa

	// Threshold is the lowest grade of a good document; 0 stands for 1.
	Threshold float64

	// Weight multiplies the loss; 0 stands for 1.
	Weight float64
}

var _ Loss = StructuredHinge{}

// Validate returns an error for options that fit no query.
func (l StructuredHinge) Validate() error {
	switch {
	case l.Gain == nil:
		return errors.New("no measure to train for")
	case !(l.Threshold >= 0) || math.IsInf(l.Threshold, 1):
		return fmt.Errorf("threshold %v, expected a finite non-negative number", l.Threshold)
	}
	if err := l.Kappa.Validate(); err != nil {
		return err
	}
	return positiveOrZero("weight", l.Weight)
}

// Bind implements [Loss]. It draws no random numbers. What it returns is a
// [CuttingPlane]. A query without good or without bad documents yields [Nothing].
func (l StructuredHinge) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	pairs := bipartite.Split(grades, orDefault(l.Threshold, 1))
	if pairs.Pairs() == 0 {
		return Nothing, nil
	}
	search, err := newWorstSearch(l.Gain, len(pairs.Good), len(pairs.Bad))
	if err != nil {
		return nil, err
	}
	return &boundStructured{
		Scaled: bipartite.Scaled{Classes: pairs, Slope: 2 * l.Kappa.Scale(pairs)},
		weight: orDefault(l.Weight, 1),
		search: search,
	}, nil
}

// Traits implements [Loss].
func (StructuredHinge) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true} }

// worstSearch finds the worst ranking of a query.
type worstSearch interface {
	// worst returns Δ(y) − w·δφ(y) of the ranking for which it is largest, and its
	// Δ(y), and sets paths.above. It keeps none of its arguments.
	worst(paths lattice, scratch *Scratch) (value, delta float64)
}

// lattice is a query's scores, multiplied by 2κ, and a ranking among its paths.
type lattice struct {
	good, bad []float64 // descending
	above     []float64 // how many bads stand above each good: whole numbers, ascending
}

func newWorstSearch(gain measure.Additive, good, bad int) (worstSearch, error) {
	if c := newKnownColumnSearch(gain, good, bad); c != nil {
		return c, nil
	}
	gains, err := bipartite.NewGainTable(gain, good, bad)
	if err != nil {
		return nil, err
	}
	if c := newColumnSearch(gains); c != nil {
		return c, nil
	}
	return newRowSearch(gains), nil
}

type boundStructured struct {
	bipartite.Scaled
	weight float64
	search worstSearch
}

func (b *boundStructured) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	value, _ := b.eval(scores, lambda, scratch)
	return b.weight * value
}

// Support implements [CuttingPlane], with Δ(y) − w·δφ(y) of the worst ranking y.
func (b *boundStructured) Support(scores, lambda []float64, scratch *Scratch) float64 {
	_, delta := b.eval(scores, lambda, scratch)
	return b.weight * delta
}

func (b *boundStructured) eval(scores, lambda []float64, scratch *Scratch) (value, delta float64) {
	scratch.Reset()
	good, goodAt := b.Sorted(b.Good, scores, scratch)
	bad, badAt := b.Sorted(b.Bad, scores, scratch)
	bipartite.Centre(good, bad)
	paths := lattice{good, bad, scratch.Floats(len(good))}
	value, delta = b.search.worst(paths, scratch)
	if lambda == nil {
		return value, delta
	}
	below := countBelow(paths.above, len(bad), scratch)
	kernel.AverageTies(paths.above, good)
	kernel.AverageTies(below, bad)
	scale := b.weight * b.Slope
	for i, at := range goodAt {
		lambda[b.Good[int(at)]] = scale * paths.above[i]
	}
	for l, at := range badAt {
		lambda[b.Bad[int(at)]] = -scale * below[l]
	}
	return value, delta
}

// countBelow returns the number of goods below each bad, from the numbers of bads
// above each good.
func countBelow(above []float64, bad int, scratch *Scratch) []float64 {
	below := scratch.Floats(bad)
	i := 0
	for l := range below {
		for i < len(above) && int(above[i]) <= l {
			i++
		}
		below[l] = float64(len(above) - i)
	}
	return below
}
