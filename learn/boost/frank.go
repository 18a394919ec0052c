package boost

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
)

// FRankSearch is how FRank compares weak rankers.
type FRankSearch int

// The searches, from the fastest to the paper's.
const (
	ByGradient FRankSearch = iota // the greatest |Σ W·m|: the steepest descent of the loss
	ByFeature                     // each feature's best by gradient, and of these the one with the least loss
	ByLoss                        // the least loss of all weak rankers, each with its α
)

// FRankAlpha is how FRank weighs a weak ranker.
type FRankAlpha int

// The choices of α.
const (
	FRankFormula FRankAlpha = iota // ½ ln(Σ_{m=1} W / Σ_{m=−1} W)
	FRankMinimum                   // the loss's minimum along the weak ranker
)

// FRankOptions are FRank's options. The paper's are ByLoss, FRankFormula and PerQuery.
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
// with weak rankers h that are 1 above a threshold of a feature and else 0. Its loss
// is a weighted mean over the pairs of a query's documents of different grades, i
// better than j, of the fidelity loss of the modelled probability of their order,
//
//	F(o) = 1 − √σ(o),   o = H(i) − H(j),   σ(o) = 1/(1 + exp(−o)),
//
// which is bounded, so that the weight of a pair tends to 0 as it is ordered worse. H grows by one α·h a
// round. With m = h(i) − h(j), the slope of the loss along h is −½ Σ W·m, where
//
//	W = D·e^{o/2}/(1 + e^o)^{3/2}
//
// and D are the weights of the mean. α = ½ ln(Σ_{m=1} W / Σ_{m=−1} W) comes from continuing W as
// W·e^{−αm}.
//
// As with RankBoost, Σ W·m is a sum of potentials over the documents above the threshold. The potentials
// take one pass over the pairs. Each pair takes a division and a square root, because e^{−o} is a product
// of a factor for each document.
type FRank struct {
	sum

	options FRankOptions
	loss    float64

	// Factors e^{−H} and e^{H}, by document, with the scores shifted query by query. If a query's scores
	// are far apart, worse holds H instead.
	better, worse []float64
	queries       []query

	sums []splitSums // one a query
}

type query struct {
	*levels
	far bool
}

// splitSums are sums over the pairs that a weak ranker splits by its threshold: the weights W of the pairs
// it orders well and badly, and their loss.
type splitSums struct{ well, badly, loss float64 }

// NewFRank prepares boosting on a data set, which must not change during it. The error is ErrNoPairs, or
// names an undeclared option.
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

// Loss returns the fidelity loss, 1 − √½ before the first round.
func (b *FRank) Loss() float64 { return b.loss }

// Next adds a weak ranker. ok is false, and nothing added, if none has an edge. The
// loss may grow where α is that of the formula.
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

// leastLoss returns the weak ranker whose step lowers the loss most among those compared, the first of
// equals.
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

// step returns a weak ranker's α, and by how much it changes the loss.
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

// farthest bounds the steps of FRankMinimum, as leastRatio bounds the steps of the formula.
const farthest = 14

// minimum returns the α of a minimum of the loss along the weak ranker. From 0 in the direction of
// descent, it doubles the step until the slope changes sign, then bisects.
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

// along returns the sums at the scores plus alpha times the weak ranker of the last
// split; well − badly is then −2 times the slope of the loss.
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

// splitQuery sums over the split pairs of a query. It pairs each document of a level with the documents of
// lower levels on the other side of the threshold. Their factors are gathered level by level.
func (b *FRank) splitQuery(q *query, alpha float64, buffer []float64) (s splitSums) {
	n := b.documents.longest
	not, are, row := buffer[:0:n], buffer[n:n:2*n], buffer[2*n:] // of lower levels
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

// fidelity returns the sums of W/D and F over the pairs of a document with worse ones, given factors whose
// products are e^{−o}. With f = √σ(o), F = 1 − f and W/D = e^{−o}·f³.
func fidelity(first float64, rest []float64) (weight, loss float64) {
	for _, v := range rest {
		e := float64(first * v)
		f := 1 / math.Sqrt(1+e)
		weight += float64(e * f * f * f)
		loss += 1 - f
	}
	return weight, loss
}

// farApart is the largest range of a query's scores for which e^{−o} is computed as a product of two
// factors. The products with e^{α} cannot overflow then.
const farApart = 680

// factors returns factors whose products are e^{−o}, where o is the score of document i less the score of
// a worse one. worse holds the factors of the worse documents. If scores lie far apart, row takes the
// products one by one. Differences below −farApart count as −farApart, which leaves the pair without
// weight, as it should.
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

// weigh sets the loss and the potentials from the scores.
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

// prepare sets the factors of a query's documents.
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

// fidelityRow is fidelity, and also subtracts the weights W from the potentials of the worse documents.
// The weight that it returns is the sum of W.
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
