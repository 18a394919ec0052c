package loss

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
)

// RankSVM is the hinge loss over all pairs of documents of a query with different grades. With i the
// better and j the worse document, and t_ij = 1 − s_i + s_j,
//
//	L1 = Σ_ij max(0, t_ij),   L2 = Σ_ij max(0, t_ij)²
//
// (R. Herbrich, T. Graepel, K. Obermayer, Large Margin Rank Boundaries for Ordinal Regression, 2000; T.
// Joachims, Optimizing Search Engines Using Clickthrough Data, KDD 2002; for L2, O. Chapelle, S. S.
// Keerthi, Efficient Algorithms for Ranking with SVMs, Information Retrieval 13, 2010, eq. 2). Grades
// may be any finite non-negative numbers; only their order counts. Both losses are convex. L2 has a
// continuous gradient. L1 has kinks where the scores of a pair differ by exactly 1; there, λ treats the
// pair as satisfied.
//
// An evaluation takes O(n log n) for n documents, however many grades there are
// (see gradeTree). [RankSVM.Smoothing] approximates L1 by a loss that has a Hessian.
//
// The usual objective ½‖w‖² + C·Σ hinge has [RankSVM.Weight] = C and the penalty ‖w‖²/2.
type RankSVM struct {
	// Squared chooses L2.
	Squared bool

	// Weight multiplies the loss; 0 means 1.
	Weight float64

	// Mean divides the loss of a query by its number of pairs, or by the sum of their weights. Every
	// query then counts the same, as in IR SVM (Y. Cao, J. Xu, T.-Y. Liu, H. Li, Y. Huang, H.-W. Hon,
	// Adapting Ranking SVM to Document Retrieval, SIGIR 2006).
	Mean bool

	// Smoothing δ > 0 replaces the kink of L1 by a parabola over |t| < δ,
	//
	//	h(t) = (t + δ)²/(4δ),   0 for t ≤ −δ,   t for t ≥ δ,
	//
	// which is above the hinge by at most δ/4. Smoothing is an error with L2, which has no kink.
	Smoothing float64
}

var _ Loss = RankSVM{}

// Validate returns an error for options that fit no query.
func (l RankSVM) Validate() error {
	switch {
	case !(l.Weight >= 0) || math.IsInf(l.Weight, 1):
		return fmt.Errorf("weight %v, expected a finite positive number", l.Weight)
	case !(l.Smoothing >= 0) || math.IsInf(l.Smoothing, 1):
		return fmt.Errorf("smoothing %v, expected a finite positive number, or 0 for none", l.Smoothing)
	case l.Squared && l.Smoothing > 0:
		return fmt.Errorf("smoothing %v of the squared hinge, expected 0: it has no kink", l.Smoothing)
	}
	return nil
}

// Bind implements [Loss]. It draws no random numbers. The result is a
// [SecondOrder], and a [CuttingPlane] if the hinge is not squared.
func (l RankSVM) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return l.BindDocuments(grades, nil, rng)
}

// WeighsDocuments implements [DocumentWeighted].
func (RankSVM) WeighsDocuments() bool { return true }

// BindDocuments implements [DocumentWeighted]. The weights of both documents multiply the term of a
// pair.
func (l RankSVM) BindDocuments(grades, weights []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	tree := newGradeTree(grades, weights)
	if len(tree.nodes) == 0 {
		return Nothing, nil
	}
	weight := l.Weight
	if weight == 0 {
		weight = 1
	}
	if l.Mean {
		weight /= tree.pairs()
	}
	switch {
	case l.Squared:
		return &boundSquaredHinge{tree, weight}, nil
	case l.Smoothing > 0:
		return &boundSmoothHinge{tree, weight, l.Smoothing}, nil
	}
	return &boundHinge{tree, weight}, nil
}

// Traits implements [Loss].
func (l RankSVM) Traits() Traits {
	return Traits{Convex: true, ShiftInvariant: true, Smooth: l.Squared || l.Smoothing > 0}
}

// boundHinge is L1. The derivative of a pair's term is 1 if t_ij > 0, and 0 otherwise.
type boundHinge struct {
	tree   gradeTree
	weight float64
}

func (b *boundHinge) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	value, _ := b.sweep(scores, lambda, scratch)
	return value
}

// Support implements [CuttingPlane]. The plane is Σ t_ij over the pairs with t_ij > 0 at the given
// scores, a linear lower bound of the loss. Its constant is the number of these pairs.
func (b *boundHinge) Support(scores, lambda []float64, scratch *Scratch) float64 {
	_, count := b.sweep(scores, lambda, scratch)
	return count
}

func (b *boundHinge) sweep(scores, lambda []float64, scratch *Scratch) (value, count float64) {
	scratch.Reset()
	s := b.tree.newSweep(scratch)
	sums := s.run(scores, 1, nil)
	s.scatter(lambda, s.count, b.weight)
	return b.weight * sums.first, b.weight * sums.count
}

// boundSquaredHinge is L2.
type boundSquaredHinge struct {
	tree   gradeTree
	weight float64
}

func (b *boundSquaredHinge) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.eval(scores, lambda, nil, scratch)
}

func (b *boundSquaredHinge) eval(scores, lambda []float64, keep *activePairs, scratch *Scratch) float64 {
	scratch.Reset()
	s := b.tree.newSweep(scratch)
	sums := s.run(scores, 1, keep)
	s.scatter(lambda, s.first, 2*b.weight)
	return b.weight * sums.second
}

// Curvature implements [SecondOrder].
func (b *boundSquaredHinge) Curvature() Curvature {
	return &squaredHingeCurvature{b, newActivePairs(&b.tree)}
}

type squaredHingeCurvature struct {
	bound *boundSquaredHinge
	pairs activePairs
}

func (c *squaredHingeCurvature) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return c.bound.eval(scores, lambda, &c.pairs, scratch)
}

func (c *squaredHingeCurvature) Times(dst, v []float64) {
	clear(dst)
	c.pairs.addTimes(dst, v, 2*c.bound.weight)
}

// boundSmoothHinge is L1 with Smoothing. A sum of h over pairs is the difference of two sums of squares,
// since h(t) = (max(0, t+δ)² − max(0, t−δ)²)/(4δ).
type boundSmoothHinge struct {
	tree   gradeTree
	weight float64
	width  float64 // δ
}

func (b *boundSmoothHinge) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	value, _ := b.eval(scores, lambda, nil, nil, scratch)
	return value
}

// Support implements [CuttingPlane]. Let α_ij = h'(t_ij) at the given scores, which is between 0 and 1.
// The plane is Σ α_ij t_ij, a linear lower bound of the hinge without smoothing.
func (b *boundSmoothHinge) Support(scores, lambda []float64, scratch *Scratch) float64 {
	_, slopes := b.eval(scores, lambda, nil, nil, scratch)
	return slopes
}

func (b *boundSmoothHinge) eval(
	scores, lambda []float64, wide, narrow *activePairs, scratch *Scratch,
) (value, slopes float64) {
	scratch.Reset()
	w, n := b.tree.newSweep(scratch), b.tree.newSweep(scratch)
	above := w.run(scores, 1+b.width, wide)
	below := n.run(scores, 1-b.width, narrow)
	scale := b.weight / (2 * b.width)
	if lambda != nil {
		kernel.Axpy(-1, n.first, w.first)
		w.scatter(lambda, w.first, scale)
	}
	return scale / 2 * (above.second - below.second), scale * (above.first - below.first)
}

// Curvature implements [SecondOrder].
func (b *boundSmoothHinge) Curvature() Curvature {
	return &smoothHingeCurvature{b, newActivePairs(&b.tree), newActivePairs(&b.tree)}
}

type smoothHingeCurvature struct {
	bound        *boundSmoothHinge
	wide, narrow activePairs
}

func (c *smoothHingeCurvature) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	value, _ := c.bound.eval(scores, lambda, &c.wide, &c.narrow, scratch)
	return value
}

func (c *smoothHingeCurvature) Times(dst, v []float64) {
	clear(dst)
	scale := c.bound.weight / (2 * c.bound.width)
	c.wide.addTimes(dst, v, scale)
	c.narrow.addTimes(dst, v, -scale)
}
