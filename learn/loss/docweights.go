package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// DocumentWeighted is a Loss that weighs documents. A document of weight 2 counts as two alike documents
// of equal score. In a sum over documents, the weight multiplies the document's term; in a sum over pairs,
// both weights multiply the pair's term. For distributions and vectors of documents, see the formula of
// the loss.
//
// Losses of whole rankings or of measures at ranks have no such weights, since one rank has one document.
// Nor have losses without a published form with weights.
type DocumentWeighted interface {
	Loss

	// WeighsDocuments reports whether BindDocuments takes weights with the options chosen.
	WeighsDocuments() bool

	// BindDocuments is Bind with a weight of every document, finite and positive, which must
	// not change; nil is 1 for all.
	BindDocuments(grades, weights []float64, rng *rand.Rand) (QueryLoss, error)
}

var _ = []DocumentWeighted{SquaredError{}, AtLeast{}, RankNet{}, RankSVM{}, LambdaRank{}, ListNet{}, XENDCG{}, RankCosine{}}

// WeighsDocuments reports whether a loss takes weights of documents.
func WeighsDocuments(l Loss) bool {
	w, ok := l.(DocumentWeighted)
	return ok && w.WeighsDocuments()
}

// checkDocumentWeights returns an error unless there are n weights, finite and positive, or none. One of
// 0 leaves the document out, which the caller does.
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
