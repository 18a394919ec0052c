package train

import (
	"math"

	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// bag is the risk of several parameter vectors of one scorer, laid out one after
// the other:
//
//	F(w_1 … w_n) = Σ_k F(w_k)
//
// A descent on it moves each member as it would alone, by the same order of
// queries. The members start from different random weights; what is validated, and
// becomes the model, is the mean of their scores. That is bagging as L. Breiman,
// Bagging Predictors (Machine Learning 24, 1996), has it, but that all members
// learn from all queries. A bag of one is the risk itself.
type bag struct {
	risk   *objective.Risk
	scorer scorer.Scorer
	size   int
}

var (
	_ optimize.Penalized = (*bag)(nil)
	_ optimize.Announced = (*bag)(nil)
	_ optimize.Penalized = (*objective.Risk)(nil)
)

// newBag returns a *ProblemError if members of this scorer have no average, as those of a
// linear scorer, which would all start at 0 and learn the same.
func newBag(risk *objective.Risk, s scorer.Scorer, size int) (*bag, error) {
	if _, ok := s.(scorer.Averager); !ok && size > 1 {
		return nil, BadProblem("found bag=%d with the scorer %s, expected one whose members can be averaged to one scorer, as those of networks can (scorer.Averager)", size, s.Kind())
	}
	return &bag{risk, s, size}, nil
}

func (b *bag) Dim() int { return b.size * b.risk.Dim() }

// Penalty is that of each member.
func (b *bag) Penalty() float64 { return b.risk.Penalty() }

func (b *bag) Terms() int { return b.risk.Terms() }

func (b *bag) Window() int { return b.risk.Window() }

func (b *bag) Soon(terms []int) { b.risk.Soon(terms) }

func (b *bag) EvalTerm(i int, x, grad []float64) float64 {
	var value float64
	for k := range b.size {
		value += b.risk.EvalTerm(i, b.member(x, k), b.member(grad, k))
	}
	return value
}

// member returns the k-th member's part.
func (b *bag) member(x []float64, k int) []float64 {
	n := b.risk.Dim()
	return x[k*n : (k+1)*n]
}

// setStart sets x, all 0, to the members' weights after the given number of restarts.
func (b *bag) setStart(x []float64, seed uint64, restart int) {
	for k := range b.size {
		setStart(b.member(x, k), b.scorer, seed, k, restart)
	}
}

// average returns the one scorer that gives the means of the members' scores, and
// its parameters: x itself in a bag of one.
func (b *bag) average(x []float64) (scorer.Scorer, []float64) {
	if b.size == 1 {
		return b.scorer, x
	}
	members := make([][]float64, b.size)
	for k := range members {
		members[k] = b.member(x, k)
	}
	return b.scorer.(scorer.Averager).Average(members)
}

// objective returns the means of the members' risks and of the norms of their
// gradients.
func (b *bag) objective(x []float64) (value, norm float64) {
	grad := make([]float64, b.risk.Dim())
	for k := range b.size {
		value += b.risk.Eval(b.member(x, k), grad) / float64(b.size)
		square := 0.0
		for _, g := range grad {
			square += float64(g * g) // rounded: no fused multiply-add
		}
		norm += math.Sqrt(square) / float64(b.size)
	}
	return value, norm
}
