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

// ErrNoPairs is returned when a data set has no query with documents of different grades,
// so that there is no pair to train on.
var ErrNoPairs = errors.New("found no query with documents of different grades, expected at least one")

// RankBoost is the algorithm of
//
//	Freund, Iyer, Schapire, Singer: An Efficient Boosting Algorithm for Combining
//	Preferences, JMLR 4, 2003, Figure 1
//
// with weak rankers h that are 1 above a threshold of a feature and else 0. Adding one α·h a round, it
// minimises the exponential loss over the pairs of a query's documents of different grades, x₁ better than
// x₀:
//
//	L(H) = Σ D₁(x₀,x₁) exp(H(x₀) − H(x₁)).
//
// A round takes the h of the greatest edge r = Σ D(x₀,x₁)(h(x₁) − h(x₀)), in either direction, where D is
// D₁·exp(H(x₀) − H(x₁)) divided by its sum Z (Section 3.2). It needs no loop over pairs. Documents are
// arranged in levels of equal grade, so that D is a product of a factor for each document, and r = Σ_x
// π(x)h(x) with
//
//	π(x) = exp(−H(x))·Σ_{x' worse} exp(H(x')) − exp(H(x))·Σ_{x' better} exp(−H(x'))
//
// (their Section 3.3 for two levels). With weights w of the documents, D₁ has the factor w(x₀)w(x₁). This
// is as if H were log w more for the worse document of a pair and log w less for the better one.
//
// A round takes O(documents) for the potentials π and O(documents × features) for all edges. Sums are kept
// as logarithms, so that no exponential overflows.
type RankBoost struct {
	sum // whose potential is π/Z

	exact   bool
	workers int
	logLoss float64
	sums    []float64 // one a query: of its pairs' weights
	others  []float64
}

// NewRankBoost prepares boosting on a data set, which must not change during it. With exact, α minimises
// the loss: α = ½ ln(W₊/W₋), with the weights of the pairs that the weak ranker orders well and badly.
// Otherwise α minimises the paper's upper bound: α = ½ ln((1+r)/(1−r)). The error is ErrNoPairs.
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

// Loss returns the exponential loss, 1 before the first round and less after each.
func (b *RankBoost) Loss() float64 { return elementary.Exp(b.logLoss) }

// Next adds a weak ranker. ok is false, and nothing added, if none has an edge.
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

// weigh sets the loss and the potentials from the scores. Weights are relative to the loss before, so that
// their sum is the round's Z even if the loss is tiny.
func (b *RankBoost) weigh() {
	parallel.For(len(b.sums), b.workers, func(worker, i int) {
		b.sums[i] = b.weighQuery(&b.documents.queries[i], b.buffers[worker])
	})
	z := total(b.sums)
	kernel.Scale(1/z, b.potential)
	b.logLoss += elementary.Log(z)
}

// weighQuery sets the potentials of a query's documents, before normalization, and
// returns the sum of its pairs' weights.
func (b *RankBoost) weighQuery(q *levels, buffer []float64) (sum float64) {
	base := elementary.Log(q.weight) - b.logLoss
	worse := math.Inf(-1) // log Σ exp(H) over the levels so far
	for k := range q.count() {
		h, p := b.level(q, k, -1, buffer), b.potential[q.start[k]:q.start[k+1]]
		for i, v := range h {
			p[i] = worse + base - v
		}
		kernel.Exp(p, p)
		sum += kernel.Sum(p)
		worse = logspace.AddExp(worse, kernel.LogSumExp(b.level(q, k, 1, buffer)))
	}
	better := math.Inf(-1) // log Σ exp(−H) likewise, from the best level down
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

// level returns the scores H of a level's documents plus sign times the logarithms of their weights. It
// may use the first longest numbers of the buffer.
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

// ordered returns the weights of the pairs that the last weak ranker orders well and badly.
func (b *RankBoost) ordered() (well, badly float64) {
	parallel.For(len(b.sums), b.workers, func(worker, i int) {
		b.sums[i], b.others[i] = b.orderedQuery(&b.documents.queries[i], b.buffers[worker])
	})
	return total(b.sums), total(b.others)
}

func (b *RankBoost) orderedQuery(q *levels, buffer []float64) (well, badly float64) {
	base := elementary.Log(q.weight) - b.logLoss
	n := b.documents.longest
	worse := [2]float64{math.Inf(-1), math.Inf(-1)} // log Σ exp(H) over lower levels: not above, above
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

// sides is level for the documents below and above the last weak ranker's threshold. It uses the first
// 2·longest numbers of the buffer.
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

// pairWeight returns Σ exp(worse − h).
func pairWeight(h []float64, worse float64, buffer []float64) float64 {
	e := buffer[:len(h)]
	for i, v := range h {
		e[i] = worse - v
	}
	kernel.Exp(e, e)
	return kernel.Sum(e)
}

// total adds in order, so that the bits do not depend on the number of workers.
func total(terms []float64) float64 {
	var sum float64
	for _, t := range terms {
		sum += t
	}
	return sum
}
