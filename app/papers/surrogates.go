package papers

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// surrogate is one of the three losses of Xia et al. on lists whose truth is a whole
// permutation, under one mapping. ListNet compares whole permutations, as its definition
// on the slides does, where listLosses compares first documents.
type surrogate struct {
	name, family string // as the slides have them: ListNet-l, ListNet
	loss         loss.Loss
	target       func(grade float64) float64 // ψ, nil for the likelihood
}

const (
	listMLEFamily    = "ListMLE"
	listNetFamily    = "ListNet"
	rankCosineFamily = "RankCosine"
)

// surrogates are the rows of the slides' table of synthetic data. log is that of the grade,
// where the library's is log(1 + grade).
func surrogates() []surrogate {
	all := []surrogate{{listMLEFamily, listMLEFamily, loss.ListMLE{}, nil}}
	for _, family := range []struct {
		name string
		loss func(loss.Mapping) loss.Loss
	}{
		{listNetFamily, func(m loss.Mapping) loss.Loss { return loss.ListNet{Mapping: m, Top: math.MaxInt} }},
		{rankCosineFamily, func(m loss.Mapping) loss.Loss { return loss.RankCosine{Mapping: m} }},
	} {
		all = append(all,
			surrogate{family.name + "-log", family.name, lessOne{family.loss(loss.LogMapping)}, elementary.Log},
			surrogate{family.name + "-sqrt", family.name, family.loss(loss.SqrtMapping), math.Sqrt},
			surrogate{family.name + "-l", family.name, family.loss(loss.LinearMapping), loss.LinearMapping.Score},
			surrogate{family.name + "-q", family.name, family.loss(loss.QuadraticMapping), loss.QuadraticMapping.Score},
			surrogate{family.name + "-exp", family.name, family.loss(loss.ExpMapping), elementary.Exp},
		)
	}
	return all
}

// rankingLoss is a surrogate on one list, above the least value that it can have: 0 stands for
// scores that meet the truth as well as any.
type rankingLoss struct {
	query   loss.QueryLoss
	least   float64
	scratch *loss.Scratch
}

// onOrder returns the loss of a list whose documents, named by their places, are ranked by
// order, the best first: the r-th of n, from 0, has grade n − r. It is not safe for
// concurrent use.
func (s *surrogate) onOrder(order []int) (rankingLoss, error) {
	grades := make([]float64, len(order))
	for r, d := range order {
		grades[d] = float64(len(order) - r)
	}
	// Grades are all different: nothing is drawn.
	query, err := s.loss.Bind(grades, random.Stream(1, "surrogate", ""))
	l := rankingLoss{query: query, scratch: new(loss.Scratch)}
	if err != nil || s.family != listNetFamily {
		return l, err
	}
	// A cross entropy is least where the laws are the same: it is a divergence from there.
	best := make([]float64, len(grades))
	for i, g := range grades {
		best[i] = s.target(g)
	}
	l.least = query.Eval(best, nil, l.scratch)
	return l, nil
}

// value returns the loss at some scores; if lambda is not nil, it gets λ.
func (l rankingLoss) value(scores, lambda []float64) float64 {
	return l.query.Eval(scores, lambda, l.scratch) - l.least
}

// identity is the order 0, 1, …, n−1.
func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// strictlyRanked reports whether the scores put documents in the order, without ties.
func strictlyRanked(scores []float64, order []int) bool {
	for r := range len(order) - 1 {
		if !(scores[order[r]] > scores[order[r+1]]) {
			return false
		}
	}
	return true
}
