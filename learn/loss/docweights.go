package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// DocumentWeighted is a Loss that accepts a weight for each document. A document of weight 2 counts as
// two documents with the same grade and score. In a sum over documents, the weight multiplies the
// document's term. In a sum over pairs, the weights of both documents multiply the pair's term. For
// distributions and vectors over documents, see the formula of each loss.
//
// Losses over whole rankings, and losses over measures at ranks, have no such weights, since one rank
// has one document. Losses without a published weighted form do not have them either.
type DocumentWeighted interface {
	Loss

	// WeighsDocuments reports whether BindDocuments accepts weights with the options of this loss.
	WeighsDocuments() bool

	// BindDocuments is Bind with a weight for each document. The weights must be finite and positive,
	// and the caller must not change them. Nil means a weight of 1 for all documents.
	BindDocuments(grades, weights []float64, rng *rand.Rand) (QueryLoss, error)
}

var _ = []DocumentWeighted{SquaredError{}, AtLeast{}, RankNet{}, RankSVM{}, LambdaRank{}, ListNet{}, XENDCG{}, RankCosine{}}

// WeighsDocuments reports whether l accepts document weights.
func WeighsDocuments(l Loss) bool {
	w, ok := l.(DocumentWeighted)
	return ok && w.WeighsDocuments()
}

// checkDocumentWeights returns an error unless weights is nil or contains n finite, positive numbers.
// Callers remove documents of weight 0 beforehand.
func checkDocumentWeights(weights []float64, n int) error {
	if weights != nil && len(weights) != n {
		return fmt.Errorf("found %d weights of documents, expected %d", len(weights), n)
	}
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("found the weight %v of document %d, expected a finite positive number", w, i+1)
		}
	}
	return nil
}
