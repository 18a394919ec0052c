package loss

import (
	"fmt"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/logspace"
)

// ListNet is the cross entropy of two Plackett–Luce laws of the first k documents, one by
// the scores and one by the grades,
//
//	L(s) = −Σ_y P(y|ψ) log P(y|s),   P(y|s) = Π_{t≤k} exp(s_y(t)) / Σ_{j∉{y(1)…y(t−1)}} exp(s_j)
//
// over the n!/(n−k)! sequences y of k documents, with ψ_i the mapped grade of
// document i (Cao, Qin, Liu, Tsai and Li, Learning to Rank: From Pairwise Approach
// to Listwise Approach, ICML 2007; k = 1 is the one the paper uses, and k = n the
// loss it starts from). A sequence enters only through the sets A of documents
// picked before each pick, so that
//
//	L(s) = Σ_{|A|<k} q_A log Σ_{i∉A} exp(s_i) − Σ_i m_i s_i,   λ_i = m_i − Σ_{A∌i} q_A exp(s_i)/Σ_{j∉A} exp(s_j)
//
// with q_A the probability under ψ that the first |A| picks are A and m_i that
// document i is among the first k. The loss is convex, smooth, and does not change when
// a constant is added to all scores.
//
// With k = 1 a document of weight w takes w times its part of both laws; with other k, by which
// copies of a document could be picked one after the other, there are no weights.
//
// The loss of a query whose documents all have one grade is [Nothing].
type ListNet struct {
	// Mapping is ψ. A grade whose score overflows (from 710 on under exp) is an
	// error of Bind.
	Mapping Mapping

	// Top is k, the number of first documents compared; 0 stands for 1. An
	// evaluation takes O(n) for k of 1 and 2, O(n²) for 3; beyond that, O(2ⁿ) for
	// lists of up to 12 documents, and longer ones are an error of Bind. From n−1
	// on, whole permutations are compared: the n! form.
	Top int
}

var _ Loss = ListNet{}

// maxWholeList is the longest list for which all subsets are summed over.
const maxWholeList = 12

// Validate returns an error for options that fit no query.
func (l ListNet) Validate() error {
	if l.Top < 0 {
		return fmt.Errorf("top %d, expected a positive number", l.Top)
	}
	return l.Mapping.validate()
}

// Bind implements [Loss].
func (l ListNet) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return l.BindDocuments(grades, nil, rng)
}

// WeighsDocuments implements [DocumentWeighted].
func (l ListNet) WeighsDocuments() bool { return l.Top <= 1 }

// BindDocuments implements [DocumentWeighted]: weights are an error if Top is above 1.
func (l ListNet) BindDocuments(grades, weights []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	if weights != nil && !l.WeighsDocuments() {
		return nil, fmt.Errorf("weights of documents with top %d, expected top 1", l.Top)
	}
	if constant(grades) {
		return Nothing, nil
	}
	ideal, err := l.Mapping.scores(grades)
	if err != nil {
		return nil, err
	}
	n := len(grades)
	// The last document of a permutation is certain.
	switch k := min(max(l.Top, 1), n-1); {
	case k == 1:
		for i, w := range weights {
			ideal[i] += elementary.Log(w)
		}
		logspace.Softmax(ideal, ideal)
		return newCrossEntropy(ideal, weights), nil
	case k <= maxSetSize+1:
		return newTopCrossEntropy(ideal, k), nil
	case n <= maxWholeList:
		return newSubsetCrossEntropy(ideal, k), nil
	default:
		return nil, fmt.Errorf("top %d of a query with %d documents: beyond the first %d, lists of at most %d documents can be compared",
			l.Top, n, maxSetSize+1, maxWholeList)
	}
}

// Traits implements [Loss].
func (ListNet) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true, Smooth: true} }
