package loss

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/suggest"
)

// GradedHinge is the structured hinge for NDCG@k with the original grades, over all orders π of a query's
// documents, where π_i is the rank of document i:
//
//	L(s) = max_π Δ(π) + Σ_i (c(π_i) − c*_i) s_i,   Δ(π) = 1 − Σ_i g_i D(π_i),
//
// where g are the gains relative to the ideal DCG@k and D is the discount (Q. V. Le and A. J. Smola,
// Direct Optimization of Ranking Measures, arXiv:0704.3359, 2007). The weights c of the ranks descend,
// so the order by score has the largest Σ_i c(π_i) s_i. The reference c*_i is the mean of c over the
// ranks of i's grade in an ideal order. If the reference were a single ideal order, training would keep
// documents of equal grade in that order. L is convex, piecewise linear and not negative. It is at least
// the Δ of the order by score.
//
// The maximum is a linear assignment of documents to ranks, which is solved exactly (see assignment).
// Only k ranks have a discount; documents at all other ranks are in the order of their scores.
//
// If several orders attain the maximum, λ is the subgradient of one of them, averaged over documents
// with equal score and grade.
//
// Unlike the feature map of [StructuredHinge], this feature map depends on the order among documents of
// equal grade, so the loss grows with the spread of their scores. If grades overlap as much as in
// OHSUMED or MQ2008, the minimum over w is at w = 0.
type GradedHinge struct {
	// Convention determines gain and discount. GradedHinge ignores its other rules.
	Convention measure.Convention

	// Cutoff is the k of NDCG@k; 0 means all ranks.
	Cutoff int

	// Ranks chooses the weights c.
	Ranks RankWeights

	// Weight multiplies the loss; 0 means 1.
	Weight float64
}

// RankWeights identifies the weights c of the ranks r = 1, 2, … in the feature map Σ_i c(π_i) x_i of an
// order.
type RankWeights int

const (
	// RootWeights is c(r) = r^(−1/4), as in Le and Smola.
	RootWeights RankWeights = iota
	// LogWeights is c(r) = 1/log2(1 + r).
	LogWeights
)

var rankWeightNames = [...]string{"root", "log"}

// ParseRankWeights returns the weights with the given name: root or log.
func ParseRankWeights(name string) (RankWeights, error) {
	i := slices.Index(rankWeightNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("rank weights %q, expected %s", name, suggest.OneOf(rankWeightNames[:]))
	}
	return RankWeights(i), nil
}

// String returns the name that ParseRankWeights reads.
func (w RankWeights) String() string { return rankWeightNames[w] }

func (w RankWeights) at(r int) float64 {
	if w == LogWeights {
		return 1 / elementary.Log2(1+float64(r))
	}
	return elementary.Pow(float64(r), -0.25)
}

var _ Loss = GradedHinge{}

// Validate returns an error for options that fit no query.
func (l GradedHinge) Validate() error {
	switch {
	case l.Cutoff < 0:
		return fmt.Errorf("cutoff %d, expected a positive number", l.Cutoff)
	case l.Ranks < 0 || int(l.Ranks) >= len(rankWeightNames):
		return fmt.Errorf("rank weights %d, expected %s", int(l.Ranks), suggest.OneOf(rankWeightNames[:]))
	}
	return positiveOrZero("weight", l.Weight)
}

// Bind implements [Loss]. It draws no random numbers. It returns a [CuttingPlane], or [Nothing] if all
// documents have the same grade.
func (l GradedHinge) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if constant(grades) {
		return Nothing, nil
	}
	n := len(grades)
	b := &boundGraded{
		gains:    normalGains(l.Convention, grades, l.Cutoff),
		order:    make([]int32, n),
		weights:  make([]float64, n),
		ideal:    make([]float64, n),
		discount: make([]float64, n),
		weight:   orDefault(l.Weight, 1),
	}
	if l.Cutoff > 0 {
		b.discount = b.discount[:min(n, l.Cutoff)]
	}
	for r := range b.discount {
		b.discount[r] = l.Convention.Discount(r + 1)
	}
	for r := range b.weights {
		b.weights[r] = l.Ranks.at(r + 1)
		b.order[r] = int32(r)
	}
	slices.SortStableFunc(b.order, func(i, j int32) int { return cmp.Compare(grades[j], grades[i]) })
	from := 0
	for _, to := range levelEnds(grades, b.order) {
		var sum float64
		for _, c := range b.weights[from:to] {
			sum += c
		}
		for _, d := range b.order[from:to] {
			b.ideal[d] = sum / float64(to-from)
		}
		from = to
	}
	slices.Reverse(b.order)
	return b, nil
}

// Traits implements [Loss].
func (GradedHinge) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true} }

type boundGraded struct {
	gains    []float64 // by document
	ideal    []float64 // c* by document
	order    []int32   // order of ties: lower grades first
	weights  []float64 // c by rank
	discount []float64 // by rank
	weight   float64
}

func (b *boundGraded) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	value, _ := b.eval(scores, lambda, scratch)
	return b.weight * value
}

// Support implements [CuttingPlane]. The plane is Δ(π) + Σ_i (c(π_i) − c*_i) s_i, where π is the worst
// order at the given scores. Its constant is Δ(π).
func (b *boundGraded) Support(scores, lambda []float64, scratch *Scratch) float64 {
	_, delta := b.eval(scores, lambda, scratch)
	return b.weight * delta
}

func (b *boundGraded) eval(scores, lambda []float64, scratch *Scratch) (value, delta float64) {
	scratch.Reset()
	n := len(scores)
	sorted := rankByScore(scores, permutation{long: b.order}, n, scratch)
	gains, slope := scratch.Floats(n), scratch.Floats(n)
	sorted.gather(gains, b.gains)
	sorted.gather(slope, b.ideal)
	middle := float64(sorted.scores[0]/2) + float64(sorted.scores[n-1]/2)
	for i := range sorted.scores {
		sorted.scores[i] -= middle
	}
	problem := assignment{weight: b.weights, x: sorted.scores, price: b.discount, y: gains}
	ranks := problem.columns(scratch)
	delta = 1
	for i, rank := range ranks {
		r := int(rank)
		if r < len(b.discount) {
			delta -= float64(gains[i] * b.discount[r])
		}
		slope[i] = b.weights[r] - slope[i]
		value += float64(slope[i] * sorted.scores[i])
	}
	delta = max(0, delta)
	if lambda != nil {
		averageEqual(slope, sorted.scores, gains)
		for i := range slope {
			slope[i] *= -b.weight
		}
		sorted.scatter(lambda, slope)
	}
	return max(0, value+delta), delta
}

// averageEqual replaces every element of x by the mean over the elements with the same key and other.
// Such elements must be adjacent.
func averageEqual(x, key, other []float64) {
	for from := 0; from < len(x); {
		to := from + 1
		for to < len(x) && key[to] == key[from] && other[to] == other[from] {
			to++
		}
		mean := x[from]
		if to > from+1 {
			var sum float64
			for _, v := range x[from:to] {
				sum += v
			}
			mean = sum / float64(to-from)
		}
		kernel.Fill(x[from:to], mean)
		from = to
	}
}
