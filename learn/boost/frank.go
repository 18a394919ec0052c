package boost

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
)

// FRankSearch selects how FRank compares weak rankers.
type FRankSearch int

// The searches, from the fastest to the slowest, which is the paper's.
const (
	ByGradient FRankSearch = iota // the largest |Σ W·m| (see FRank), which is the steepest descent of the loss
	ByFeature                     // the smallest loss among the weak rankers that ByGradient would choose for each single feature
	ByLoss                        // the smallest loss of all weak rankers, each with its α
)

// FRankAlpha selects the weight α of a weak ranker.
type FRankAlpha int

// The weights.
const (
	FRankFormula FRankAlpha = iota // ½ ln(Σ_{m=1} W / Σ_{m=−1} W)
	FRankMinimum                   // the minimum of the loss along the weak ranker
)

// FRankOptions are the options of FRank. The paper uses ByLoss, FRankFormula and PerQuery.
type FRankOptions struct {
	Options
	Search FRankSearch
	Alpha  FRankAlpha
}

// FRank is the algorithm of
//
//	Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss,
//	SIGIR 2007
//
// A weak ranker h is 1 above a threshold of a feature and otherwise 0. A pair has two documents of a query with
// different grades, i better than j. The loss is a weighted mean over all pairs of the fidelity loss
//
//	F(o) = 1 − √σ(o),   o = H(i) − H(j),   σ(o) = 1/(1 + exp(−o)),
//
// where H(i) is the score of document i, the sum of the weak rankers, and σ(o) is the modelled probability of the
// pair's order. The fidelity loss is bounded, so the weight W of a very badly ordered pair is near 0. Each round adds
// one α·h to H. With m = h(i) − h(j), the slope of the loss along h is −½ Σ W·m, where
//
//	W = D·e^{o/2}/(1 + e^o)^{3/2}
//
// and D is the weight of the pair in the mean. The formula α = ½ ln(Σ_{m=1} W / Σ_{m=−1} W) approximates W along h by
// W·e^{−αm}.
//
// As in RankBoost, Σ W·m is a sum of potentials over the documents above the threshold. The potentials take one pass
// over the pairs. A pair takes one division and one square root, but no exponential, because e^{−o} is the product of a
// factor for each of its documents.
type FRank struct {
	sum

	options FRankOptions
	loss    float64

	// better has e^{−H} and worse has e^{H} of each document, after a shift of the scores of each query that prevents
	// overflow. If the scores of a query are farther apart than farApart, worse has H instead.
	better, worse []float64
	queries       []query

	sums []splitSums // one for each query
}

type query struct {
	*levels
	far bool
}

// splitSums has sums over the pairs whose documents are on different sides of a weak ranker's threshold. well is the
// total weight W of the pairs that the weak ranker orders correctly, and badly that of the other pairs. loss is the
// loss of all these pairs.
type splitSums struct{ well, badly, loss float64 }

// NewFRank prepares boosting on a data set, which must not change while FRank is used. It returns ErrNoPairs if no
// query has documents with different grades, and another error if an option is invalid.
func NewFRank(d *dataset.Dataset, o FRankOptions) (*FRank, error) {
	if o.Search < ByGradient || o.Search > ByLoss || o.Alpha < FRankFormula || o.Alpha > FRankMinimum {
		return nil, fmt.Errorf("found search %d and alpha %d, expected declared constants", o.Search, o.Alpha)
	}
	s, err := newSum(d, o.Options, 0)
	if err != nil {
		return nil, err
	}
	b := &FRank{
		sum:     s,
		options: o,
		better:  make([]float64, len(s.scores)),
		worse:   make([]float64, len(s.scores)),
		queries: make([]query, s.Queries()),
		sums:    make([]splitSums, s.Queries()),
	}
	for i := range b.queries {
		b.queries[i].levels = &s.documents.queries[i]
	}
	b.weigh()
	b.makeSearch(d, o.Options, o.Search != ByGradient)
	return b, nil
}

// Loss returns the fidelity loss. It is 1 − √½ before the first round.
func (b *FRank) Loss() float64 { return b.loss }

// Next performs a round, which adds a weak ranker. If all edges are 0, Next adds nothing and ok is false. With
// FRankFormula, a round may increase the loss.
func (b *FRank) Next() (round Round, ok bool) {
	best, ok := b.find()
	if !ok {
		return Round{}, false
	}
	if b.options.Search != ByGradient {
		best = b.leastLoss()
	}
	alpha, _ := b.step(best)
	b.add(alpha)
	b.weigh()
	return Round{Stump: b.stump(best), Weight: alpha, Edge: best.edge, Loss: b.loss}, true
}

// leastLoss returns the weak ranker whose addition gives the smallest loss. It compares the weak rankers of ByFeature
// or of ByLoss. If several give the smallest loss, it returns the first of them.
func (b *FRank) leastLoss() candidate {
	var best candidate
	lowest := math.Inf(1)
	try := func(c candidate) {
		if sizeOf(c.edge, b.options.Up) <= leastEdge {
			return
		}
		if _, change := b.step(c); change < lowest {
			best, lowest = c, change
		}
	}
	b.eachCandidate(b.options.Search == ByLoss, try)
	b.split(best)
	return best
}

// step returns the α of a weak ranker, and the change of the loss that adding α times the weak ranker causes.
func (b *FRank) step(c candidate) (alpha, change float64) {
	b.split(c)
	at := b.along(0)
	if b.options.Alpha == FRankFormula {
		alpha = halfLogRatio(at.well, at.badly)
	} else {
		alpha = b.minimum(at)
	}
	return alpha, b.along(alpha).loss - at.loss
}

// farthest is the largest |α| of FRankMinimum. It corresponds to leastRatio, which limits α of FRankFormula.
const farthest = 14

// minimum returns the α of a local minimum of the loss along the weak ranker. at has the sums at α = 0. From 0, minimum
// goes in the direction of descent and doubles the step until the slope changes sign. Then it finds the change of sign
// by bisection.
func (b *FRank) minimum(at splitSums) float64 {
	sign := 1.0
	if at.well < at.badly {
		sign = -1
	}
	falls := func(s splitSums) bool { return sign*(s.well-s.badly) > 0 }
	from, to := 0.0, 0.25
	for falls(b.along(sign * to)) {
		if to >= farthest {
			return sign * farthest
		}
		from, to = to, min(2*to, farthest)
	}
	for range 30 {
		middle := (from + to) / 2
		if falls(b.along(sign * middle)) {
			from = middle
		} else {
			to = middle
		}
	}
	return sign * from
}

// along returns the sums for the scores plus alpha times the weak ranker of the last call of split. The slope of the
// loss along the weak ranker is −½(well − badly) at these scores.
func (b *FRank) along(alpha float64) splitSums {
	parallel.For(len(b.sums), b.options.Workers, func(worker, i int) {
		b.sums[i] = b.splitQuery(&b.queries[i], alpha, b.buffers[worker])
	})
	return b.total()
}

func (b *FRank) total() (t splitSums) {
	for _, s := range b.sums {
		t.well += s.well
		t.badly += s.badly
		t.loss += s.loss
	}
	return t
}

// splitQuery returns the sums of along for one query. It pairs each document with the documents of lower grades on the
// other side of the threshold.
func (b *FRank) splitQuery(q *query, alpha float64, buffer []float64) (s splitSums) {
	n := b.documents.longest
	not, are, row := buffer[:0:n], buffer[n:n:2*n], buffer[2*n:] // factors of documents of lower levels, below and above the threshold
	closer, farther := elementary.Exp(alpha), elementary.Exp(-alpha)
	for k := range q.count() {
		for i := q.start[k]; i < q.start[k+1]; i++ {
			if b.above[i] {
				first, rest := b.factors(q, i, not, row)
				w, l := fidelity(first*farther, rest)
				s.well, s.loss = s.well+w, s.loss+l
			} else {
				first, rest := b.factors(q, i, are, row)
				w, l := fidelity(first*closer, rest)
				s.badly, s.loss = s.badly+w, s.loss+l
			}
		}
		for i := q.start[k]; i < q.start[k+1]; i++ {
			if b.above[i] {
				are = append(are, b.worse[i])
			} else {
				not = append(not, b.worse[i])
			}
		}
	}
	s.well, s.badly, s.loss = s.well*q.weight, s.badly*q.weight, s.loss*q.weight
	return s
}

// fidelity returns the sums of W/D and of F over the pairs of one document with worse documents. first times element j
// of rest is the e^{−o} of pair j. With f = √σ(o), F is 1 − f and W/D is e^{−o}·f³.
func fidelity(first float64, rest []float64) (weight, loss float64) {
	for _, v := range rest {
		e := float64(first * v)
		f := 1 / math.Sqrt(1+e)
		weight += float64(e * f * f * f)
		loss += 1 - f
	}
	return weight, loss
}

// farApart is the largest range of a query's scores for which e^{−o} is computed as a product of two factors. Within
// this range, the two factors times e^{α} cannot overflow.
const farApart = 680

// factors returns first and rest such that first·rest[j] is e^{−o} for the pair of document i and the j-th worse
// document. worse has the elements of b.worse for the worse documents. If the scores of the query are far apart,
// factors computes each e^{−o} and stores it in row, and first is 1. A difference o below −farApart is replaced by
// −farApart. The weight of such a pair is practically 0.
func (b *FRank) factors(q *query, i int, worse, row []float64) (first float64, rest []float64) {
	if !q.far {
		return b.better[i], worse
	}
	row = row[:len(worse)]
	for j, h := range worse {
		row[j] = elementary.Exp(min(h-b.scores[i], farApart))
	}
	return 1, row
}

// weigh computes the loss and the potentials from the scores.
func (b *FRank) weigh() {
	parallel.For(len(b.sums), b.options.Workers, func(worker, i int) {
		b.sums[i] = splitSums{loss: b.weighQuery(&b.queries[i], b.buffers[worker])}
	})
	b.loss = b.total().loss
}

func (b *FRank) weighQuery(q *query, row []float64) (loss float64) {
	from := q.from()
	b.prepare(q)
	clear(b.potential[from:q.to()])
	for k := 1; k < q.count(); k++ {
		lower := b.worse[from:q.start[k]]
		for i := q.start[k]; i < q.start[k+1]; i++ {
			first, rest := b.factors(q, i, lower, row)
			w, l := fidelityRow(first, rest, b.potential[from:q.start[k]], q.weight)
			b.potential[i] += w
			loss += l
		}
	}
	return loss * q.weight
}

// prepare computes the factors of a query's documents.
func (b *FRank) prepare(q *query) {
	h := b.scores[q.from():q.to()]
	lowest, highest := slices.Min(h), slices.Max(h)
	q.far = highest-lowest > farApart
	if q.far {
		copy(b.worse[q.from():q.to()], h)
		return
	}
	middle := lowest + float64((highest-lowest)/2)
	for i, v := range h {
		b.worse[q.from()+i], b.better[q.from()+i] = elementary.Exp(v-middle), elementary.Exp(middle-v)
	}
}

// fidelityRow returns the same sums as fidelity, with weight multiplied by d, the weight D of each pair. It also
// subtracts W of each pair from the potential of the pair's worse document.
func fidelityRow(first float64, rest, potential []float64, d float64) (weight, loss float64) {
	potential = potential[:len(rest)]
	for j, v := range rest {
		e := float64(first * v)
		f := 1 / math.Sqrt(1+e)
		w := float64(d * e * f * f * f)
		potential[j] -= w
		weight += w
		loss += 1 - f
	}
	return weight, loss
}
