package boost

import (
	"errors"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/internal/parallel"
)

// ErrNoPairs is the error for a data set in which no query has documents with different grades. There is then no pair
// to train on.
var ErrNoPairs = errors.New("found no query with documents of different grades, expected at least one")

// RankBoost is the algorithm of
//
//	Freund, Iyer, Schapire, Singer: An Efficient Boosting Algorithm for Combining
//	Preferences, JMLR 4, 2003, Figure 1
//
// A weak ranker h is 1 if a feature exceeds a threshold, and otherwise 0. Each round adds one α·h to the scores H.
// The algorithm minimises the exponential loss over all pairs of documents of a query with different grades, where x₁
// is better than x₀:
//
//	L(H) = Σ D₁(x₀,x₁) exp(H(x₀) − H(x₁)).
//
// D₁ is the weight of a pair. In a round the pairs have the weights D = D₁·exp(H(x₀) − H(x₁))/Z, where Z makes their
// sum 1. The round selects the h with the largest absolute edge r = Σ D(x₀,x₁)(h(x₁) − h(x₀)) (Section 3.2). The edge
// needs no loop over pairs, because D is the product of a factor for each document of the pair. With documents sorted
// by grade, r = Σ_x π(x)h(x)/Z, where
//
//	π(x) = exp(−H(x))·Σ_{x' worse} exp(H(x')) − exp(H(x))·Σ_{x' better} exp(−H(x'))
//
// (Section 3.3, there for two grades). If documents have weights w, D₁ has the factor w(x₀)w(x₁). In π, the worse
// document of a pair then has H + log w in place of H, and the better one has H − log w.
//
// A round takes O(documents) for the potentials π and O(documents × features) for all edges. Sums are stored as
// logarithms, so no exponential overflows.
type RankBoost struct {
	sum // its potential is π/Z

	exact   bool
	workers int
	logLoss float64
	sums    []float64 // for each query, the weight of all pairs, or, after ordered, of the correctly ordered pairs
	others  []float64 // for each query, the weight of the wrongly ordered pairs, set by ordered
}

// NewRankBoost prepares boosting on a data set, which must not change while RankBoost is used. If exact is set, α
// minimises the loss: α = ½ ln(W₊/W₋). Here W₊ is the total weight of the pairs that the weak ranker orders correctly,
// and W₋ that of the pairs in the wrong order. Otherwise α minimises the paper's upper bound of the loss: α = ½
// ln((1+r)/(1−r)). The error is ErrNoPairs.
func NewRankBoost(d *dataset.Dataset, o Options, exact bool) (*RankBoost, error) {
	s, err := newSum(d, o, 2)
	if err != nil {
		return nil, err
	}
	b := &RankBoost{sum: s, exact: exact, workers: o.Workers, sums: make([]float64, s.Queries()), others: make([]float64, s.Queries())}
	b.weigh()
	b.makeSearch(d, o, false)
	return b, nil
}

// Loss returns the exponential loss. It is 1 before the first round and decreases in every round.
func (b *RankBoost) Loss() float64 { return elementary.Exp(b.logLoss) }

// Next performs a round, which adds a weak ranker times α to the scores. If all edges are 0, Next adds nothing and ok
// is false.
func (b *RankBoost) Next() (round Round, ok bool) {
	best, ok := b.find()
	if !ok {
		return Round{}, false
	}
	b.split(best)
	alpha := halfLogRatio(1+best.edge, 1-best.edge)
	if b.exact {
		alpha = halfLogRatio(b.ordered())
	}
	b.add(alpha)
	b.weigh()
	return Round{Stump: b.stump(best), Weight: alpha, Edge: best.edge, Loss: b.Loss()}, true
}

// weigh computes the loss and the potentials from the scores. It divides the weights of the pairs by the loss of the
// last round. So the sum of the weights, which is Z of this round, does not underflow if the loss is tiny.
func (b *RankBoost) weigh() {
	parallel.For(len(b.sums), b.workers, func(worker, i int) {
		b.sums[i] = b.weighQuery(&b.documents.queries[i], b.buffers[worker])
	})
	z := total(b.sums)
	kernel.Scale(1/z, b.potential)
	b.logLoss += elementary.Log(z)
}

// weighQuery sets the potentials of the documents of a query, before division by Z. It returns the sum
// of the weights of the query's pairs.
func (b *RankBoost) weighQuery(q *levels, buffer []float64) (sum float64) {
	base := elementary.Log(q.weight) - b.logLoss
	worse := math.Inf(-1) // log Σ exp(H) over the documents of lower grades
	for k := range q.count() {
		h, p := b.level(q, k, -1, buffer), b.potential[q.start[k]:q.start[k+1]]
		for i, v := range h {
			p[i] = worse + base - v
		}
		kernel.Exp(p, p)
		sum += kernel.Sum(p)
		worse = logspace.AddExp(worse, kernel.LogSumExp(b.level(q, k, 1, buffer)))
	}
	better := math.Inf(-1) // log Σ exp(−H) over the documents of higher grades
	for k := q.count() - 1; k >= 0; k-- {
		h, p := b.level(q, k, 1, buffer), b.potential[q.start[k]:q.start[k+1]]
		e := buffer[b.documents.longest:][:len(h)]
		for i, v := range h {
			e[i] = v + better + base
		}
		kernel.Exp(e, e)
		kernel.Axpy(-1, e, p)
		for i, v := range b.level(q, k, -1, buffer) {
			e[i] = -v
		}
		better = logspace.AddExp(better, kernel.LogSumExp(e))
	}
	return sum
}

// level returns H + sign·log w for the documents of level k, which have the k-th lowest grade of the query. It may
// use the first b.documents.longest elements of buffer.
func (b *RankBoost) level(q *levels, k int, sign float64, buffer []float64) []float64 {
	h := b.scores[q.start[k]:q.start[k+1]]
	if b.documents.weights == nil {
		return h
	}
	of := buffer[:len(h)]
	for i, v := range h {
		of[i] = v + float64(sign*b.documents.logWeights[q.start[k]+i])
	}
	return of
}

// ordered returns W₊ and W₋: the total weights of the pairs that the last weak ranker orders correctly
// and wrongly.
func (b *RankBoost) ordered() (well, badly float64) {
	parallel.For(len(b.sums), b.workers, func(worker, i int) {
		b.sums[i], b.others[i] = b.orderedQuery(&b.documents.queries[i], b.buffers[worker])
	})
	return total(b.sums), total(b.others)
}

func (b *RankBoost) orderedQuery(q *levels, buffer []float64) (well, badly float64) {
	base := elementary.Log(q.weight) - b.logLoss
	n := b.documents.longest
	worse := [2]float64{math.Inf(-1), math.Inf(-1)} // log Σ exp(H) over lower grades: below the threshold, above it
	for k := range q.count() {
		part := b.sides(q, k, -1, buffer)
		well += pairWeight(part[1], worse[0]+base, buffer[2*n:])
		badly += pairWeight(part[0], worse[1]+base, buffer[2*n:])
		if b.documents.weights != nil {
			part = b.sides(q, k, 1, buffer)
		}
		for side := range worse {
			worse[side] = logspace.AddExp(worse[side], kernel.LogSumExp(part[side]))
		}
	}
	return well, badly
}

// sides divides the result of level into the documents below the threshold of the last weak ranker, part[0], and the
// documents above it, part[1]. It uses the first 2·b.documents.longest elements of buffer.
func (b *RankBoost) sides(q *levels, k int, sign float64, buffer []float64) (part [2][]float64) {
	n := b.documents.longest
	part = [2][]float64{buffer[:0:n], buffer[n : n : 2*n]}
	for i := q.start[k]; i < q.start[k+1]; i++ {
		side := 0
		if b.above[i] {
			side = 1
		}
		h := b.scores[i]
		if b.documents.weights != nil {
			h += float64(sign * b.documents.logWeights[i])
		}
		part[side] = append(part[side], h)
	}
	return part
}

// pairWeight returns Σ_i exp(worse − h[i]). It overwrites buffer, which must have at least len(h) elements.
func pairWeight(h []float64, worse float64, buffer []float64) float64 {
	e := buffer[:len(h)]
	for i, v := range h {
		e[i] = worse - v
	}
	kernel.Exp(e, e)
	return kernel.Sum(e)
}

// total returns the sum of the terms, added in order. Its bits do not depend on the number of workers.
func total(terms []float64) float64 {
	var sum float64
	for _, t := range terms {
		sum += t
	}
	return sum
}
