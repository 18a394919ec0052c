package objective

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// PairByPair is the risk of [loss.RankNet] computed pair by pair: the form "V1" before section 5 of Burges, Ragno and
// Le (NIPS 2006). For each pair of documents with different grades, it scores both documents and propagates the
// pair's λ back through the scorer for both. A query of n documents with p pairs takes 2p passes through the scorer,
// and only n in [Risk]. Tests compare Risk with PairByPair, and benchmarks measure the speedup. No method trains with
// PairByPair.
//
// PairByPair implements the objective of gradient descent, a sum of terms. It must not be used by several goroutines
// at once.
type PairByPair struct {
	pairTerms
	better document
	worse  document
	grad   []float64 // gradient of one pair, for DescendTerm
}

// PerDocument is the same risk computed document by document: the form "V2" of section 5. It scores the documents of
// a query and sums the λ of all pairs for each document. It then scores every document again and propagates back
// once. PerDocument differs from PairByPair only in the order of summation, so a benchmark of both measures the
// effect of the order. [Risk] also stores activations and exponentials, as footnote 3 of the paper proposes, and
// processes several documents at once.
type PerDocument struct {
	pairTerms
	one            document
	scores, lambda []float64
}

// pairTerms has the scorer, the loss, and the queries with at least one pair of documents with different grades.
type pairTerms struct {
	scorer  scorer.Scorer
	loss    loss.RankNet
	queries []pairQuery
}

// document is the memory for scoring one document. It stores the activations until λ is known.
type document struct {
	score, down [1]float64
	scorer      scorer.Workspace
}

type pairQuery struct {
	*dataset.Query
	weight float64 // factor of the loss of each pair
}

// NewPairByPair returns the risk over the queries of d that have pairs. d must not change afterwards. It returns an
// error if the scorer takes another number of features than d has, if the options of the loss are invalid, or if the
// data have weights.
func NewPairByPair(d *dataset.Dataset, s scorer.Scorer, l loss.RankNet) (*PairByPair, error) {
	terms, err := newPairTerms(d, s, l)
	if err != nil {
		return nil, err
	}
	return &PairByPair{pairTerms: terms, grad: make([]float64, s.NumParams())}, nil
}

// NewPerDocument returns the same risk as [NewPairByPair], with the same errors.
func NewPerDocument(d *dataset.Dataset, s scorer.Scorer, l loss.RankNet) (*PerDocument, error) {
	terms, err := newPairTerms(d, s, l)
	if err != nil {
		return nil, err
	}
	longest := 0
	for i := range d.Queries {
		longest = max(longest, len(d.Queries[i].Grades))
	}
	return &PerDocument{pairTerms: terms, scores: make([]float64, longest), lambda: make([]float64, longest)}, nil
}

func newPairTerms(d *dataset.Dataset, s scorer.Scorer, l loss.RankNet) (pairTerms, error) {
	p := pairTerms{scorer: s, loss: l}
	if s.NumFeatures() != d.Features {
		return p, fmt.Errorf("the scorer takes %d features, the data have %d", s.NumFeatures(), d.Features)
	}
	if d.Weighted() {
		return p, errors.New("found weights of queries or documents, expected none")
	}
	if err := l.Validate(); err != nil {
		return p, err
	}
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
func (p *pairTerms) Dim() int { return p.scorer.NumParams() }

// Terms returns the number of queries with a pair.
func (p *pairTerms) Terms() int { return len(p.queries) }

// doc returns the features of the i-th document of a query.
func (p *pairTerms) doc(q *pairQuery, i int) []float32 {
	width := p.scorer.NumFeatures()
	return q.X[i*width : (i+1)*width]
}

// EvalTerm returns the loss of the i-th query with a pair, at w, and adds the gradient of this loss to grad. Both
// slices have Dim elements.
func (p *PairByPair) EvalTerm(i int, w, grad []float64) float64 {
	q, total := &p.queries[i], 0.0
	for i, j := range loss.Pairs(q.Grades) {
		total += p.pair(q, i, j, w, grad)
	}
	return q.weight * total
}

// DescendTerm makes one gradient step for each pair of the i-th query, as the first version of RankNet
// did. It returns the loss of the query. The loss of each pair is computed before the step for the pair.
func (p *PairByPair) DescendTerm(i int, rate float64, w []float64) float64 {
	q, total := &p.queries[i], 0.0
	for i, j := range loss.Pairs(q.Grades) {
		clear(p.grad)
		total += p.pair(q, i, j, w, p.grad)
		kernel.Axpy(-rate, p.grad, w)
	}
	return q.weight * total
}

// pair returns the loss of the pair of documents i, the better one, and j at w. It adds the gradient of
// this loss times q.weight to grad.
func (p *PairByPair) pair(q *pairQuery, i, j int, w, grad []float64) float64 {
	x, y := p.doc(q, i), p.doc(q, j)
	better, worse := &p.better, &p.worse
	p.scorer.Score(better.score[:], w, x, &better.scorer)
	p.scorer.Score(worse.score[:], w, y, &worse.scorer)
	value, lambda := p.loss.PairLoss(better.score[0], worse.score[0])
	better.down[0], worse.down[0] = -q.weight*lambda, q.weight*lambda
	p.scorer.Backward(grad, w, x, better.down[:], &better.scorer)
	p.scorer.Backward(grad, w, y, worse.down[:], &worse.scorer)
	return value
}

// EvalTerm returns the loss of the i-th query with a pair, at w, and adds the gradient of this loss to grad. Both
// slices have Dim elements.
func (p *PerDocument) EvalTerm(i int, w, grad []float64) float64 {
	q, total := &p.queries[i], 0.0
	scores, lambda := p.scores[:len(q.Grades)], p.lambda[:len(q.Grades)]
	for k := range scores {
		p.scorer.Score(scores[k:k+1], w, p.doc(q, k), &p.one.scorer)
	}
	clear(lambda)
	for i, j := range loss.Pairs(q.Grades) {
		value, force := p.loss.PairLoss(scores[i], scores[j])
		total += value
		lambda[i] += force
		lambda[j] -= force
	}
	for k, force := range lambda {
		x := p.doc(q, k)
		p.scorer.Score(p.one.score[:], w, x, &p.one.scorer)
		p.one.down[0] = -q.weight * force
		p.scorer.Backward(grad, w, x, p.one.down[:], &p.one.scorer)
	}
	return q.weight * total
}
