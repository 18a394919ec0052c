package objective

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/scorer"
)

// PairByPair is the risk of [loss.RankNet], query by query, computed as it was
// before section 5 of Burges, Ragno and Le (NIPS 2006), "V1" there: for each pair
// of differently graded documents both are scored, and the pair's λ is propagated
// back through the scorer for both, which adds to the gradient of the query. For n
// documents with p pairs this takes 2p passes through the scorer where [Risk] takes n.
// It serves to test Risk and to measure what that form gains; no method trains with it.
//
// It has the methods of a sum of terms that a descent needs. Calls must not overlap.
type PairByPair struct {
	scorer  scorer.Scorer
	loss    loss.RankNet
	queries []pairQuery
	better  document
	worse   document
}

// document is the memory of one side of a pair: its activations are kept until its λ
// is known.
type document struct {
	score, down [1]float64
	scorer      scorer.Workspace
}

type pairQuery struct {
	*dataset.Query
	weight float64 // of a pair
}

// NewPairByPair returns the risk over the queries of d, which must not change
// afterwards, without those that have no pair. It is an error if the scorer takes
// another number of features than d has, if the loss's options are not valid,
// or if the data have weights.
func NewPairByPair(d *dataset.Dataset, s scorer.Scorer, l loss.RankNet) (*PairByPair, error) {
	if s.NumFeatures() != d.Features {
		return nil, fmt.Errorf("the scorer takes %d features, the data have %d", s.NumFeatures(), d.Features)
	}
	if d.Weighted() {
		return nil, errors.New("found weights of queries or documents, expected none")
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	p := &PairByPair{scorer: s, loss: l}
	for i := range d.Queries {
		q := pairQuery{Query: &d.Queries[i], weight: 1}
		pairs := 0
		for range loss.Pairs(q.Grades) {
			pairs++
		}
		if pairs == 0 {
			continue
		}
		if l.Mean {
			q.weight = 1 / float64(pairs)
		}
		p.queries = append(p.queries, q)
	}
	return p, nil
}

// Dim returns the number of parameters.
func (p *PairByPair) Dim() int { return p.scorer.NumParams() }

// Terms returns the number of queries with a pair.
func (p *PairByPair) Terms() int { return len(p.queries) }

// EvalTerm returns the loss of the i-th query with a pair, at w, and adds its
// gradient to grad; both slices have Dim elements.
func (p *PairByPair) EvalTerm(i int, w, grad []float64) float64 {
	q, width := &p.queries[i], p.scorer.NumFeatures()
	better, worse := &p.better, &p.worse
	total := 0.0
	for i, j := range loss.Pairs(q.Grades) {
		x, y := q.X[i*width:(i+1)*width], q.X[j*width:(j+1)*width]
		p.scorer.Score(better.score[:], w, x, &better.scorer)
		p.scorer.Score(worse.score[:], w, y, &worse.scorer)
		value, lambda := p.loss.PairLoss(better.score[0], worse.score[0])
		total += value
		better.down[0], worse.down[0] = -q.weight*lambda, q.weight*lambda
		p.scorer.Backward(grad, w, x, better.down[:], &better.scorer)
		p.scorer.Backward(grad, w, y, worse.down[:], &worse.scorer)
	}
	return q.weight * total
}
