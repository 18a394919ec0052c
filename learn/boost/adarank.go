package boost

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// Stop is AdaRank's rule for the end of boosting. It depends on the mean of the measure over the training queries.
type Stop int

// The rules for the end of boosting.
const (
	StopPaper   Stop = iota // stop at the first round that does not increase the mean, and undo this round
	StopRankLib             // stop at the first round that decreases the mean by the tolerance or more, and undo this round
	StopNever               // never stop
)

// Reweighting is AdaRank's rule for the query weights P after a round. E is the measure of a query.
type Reweighting int

// The rules for query weights.
const (
	ReweightPaper      Reweighting = iota // P ∝ exp(−E)
	ReweightCumulative                    // P is multiplied by exp(−rate·αE); RankLib's rule at rate 1
)

// AdaRankOptions are the options of AdaRank. Measure is required. With zero values for all other options, AdaRank is
// the paper's algorithm.
type AdaRankOptions struct {
	Measure   measure.Averager // E, with values from −1 to 1
	Both      bool             // a feature may also rank documents by ascending values
	Stop      Stop
	Tolerance float64 // tolerance of StopRankLib
	Reweight  Reweighting
	Rate      float64 // rate of ReweightCumulative; 0 means 1

	// Repeats, if not 0, suspends a feature, which then cannot be chosen. It suspends the feature once Repeats rounds
	// in succession chose the same feature as the round before and did not change the mean. The suspension ends with
	// the next round that changes the mean or chooses another feature.
	Repeats int

	// Enqueue undoes a round if the next round would choose the same feature again, and suspends the feature. When the
	// rule ends boosting, the feature suspended last becomes available again, and boosting continues until the rule
	// ends it again. This is repeated for the other features that Enqueue suspended, in the opposite order of their
	// suspension.
	Enqueue bool

	Workers int // goroutines; 0 means GOMAXPROCS
}

// AdaRank is the algorithm of
//
//	Xu, Li: AdaRank: A Boosting Algorithm for Information Retrieval, SIGIR 2007,
//	Algorithm 1
//
// with the features as weak rankers, so the sum is a linear function of the features. Let E(q, h) be the measure of
// query q ranked by h. A round chooses the feature x_f with the greatest edge Σ_q P(q)E(q, x_f). It adds α·x_f to the
// scores with
//
//	α = ½ ln( Σ_q P(q)(1 + E(q, x_f)) / Σ_q P(q)(1 − E(q, x_f)) ),
//
// and increases the weights P of queries that the sum of the features, f, ranks badly: P(q) ∝ exp(−E(q, f)). In the
// first round all queries have the same weight P. The loss is Σ_q exp(−E(q, f)). If the data have query weights, the
// terms of the loss and P are multiplied by these weights.
//
// NewAdaRank computes the matrix of all E(q, x_f), so that a round computes all edges as the product of a vector and
// this matrix. If documents have equal scores, E is the expected measure under a random order of these documents. A
// query whose measure is the same for every order takes part if the query counts for the measure.
type AdaRank struct {
	options   AdaRankOptions
	data      *dataset.Dataset
	columns   featureColumns
	standings *Standings
	table     []float64 // E of each weak ranker, by query, then by weak ranker
	edges     []float64 // Σ_q P(q)E(q, h) for each weak ranker h

	used    int       // number of queries with documents of different grades
	weights []float64 // weights of the linear scorer
	scores  []float64 // of the documents of queries that count; by row
	p       []float64 // query weights P, with sum 1
	mean    float64   // mean of the measure
	loss    float64

	aside     []bool // marks the suspended weak rankers
	queue     []int  // weak rankers suspended by Enqueue
	enqueuing bool   // Enqueue is set, and endPhase was not called yet
	last      int    // weak ranker of the last round, −1 before the first
	repeats   int
	back      position // state before the last round
	over      bool
}

// position is the part of the state that takeBack restores.
type position struct {
	weight     float64   // weight of the round's feature
	p, scores  []float64 // nil if the options undo no round
	mean, loss float64
}

// LinearRound describes a round of AdaRank: the added feature, and the mean measure and the loss after the round.
type LinearRound struct {
	Feature int     // from 0
	Weight  float64 // α, negative for a feature that ranks by ascending values
	Mean    float64 // mean of the measure over the training queries, weighted by query weights
	Loss    float64 // mean of exp(−E) over the training queries, weighted by query weights
}

// NewAdaRank prepares boosting on a data set, which must not change while AdaRank is used. It returns ErrNoPairs if no
// query has documents with different grades. It also returns an error if an option is invalid or the measure has a
// value outside [−1, 1].
func NewAdaRank(d *dataset.Dataset, o AdaRankOptions) (a *AdaRank, err error) {
	switch {
	case o.Measure == nil:
		return nil, errors.New("found no measure to boost, expected one")
	case o.Stop < StopPaper || o.Stop > StopNever || o.Reweight < ReweightPaper || o.Reweight > ReweightCumulative:
		return nil, fmt.Errorf("found stop %d and reweighting %d, expected declared constants", o.Stop, o.Reweight)
	}
	if o.Rate == 0 {
		o.Rate = 1
	}
	a = &AdaRank{options: o, data: d, standings: NewStandings(d, o.Measure, o.Workers)}
	for _, q := range a.standings.queries {
		if slices.ContainsFunc(q.grades, func(grade float64) bool { return grade != q.grades[0] }) {
			a.used++
		}
	}
	if a.used == 0 {
		return nil, ErrNoPairs
	}
	if err := a.fillTable(); err != nil {
		return nil, err
	}
	a.begin()
	return a, nil
}

// begin sets the state before the first round.
func (a *AdaRank) begin() {
	d, queries := a.data, a.standings.Queries()
	weak := len(a.table) / queries
	a.edges, a.aside = make([]float64, weak), make([]bool, weak)
	a.weights, a.scores = make([]float64, d.Features), make([]float64, d.Docs())
	a.p = make([]float64, queries)
	if a.takesBack() {
		a.back.p, a.back.scores = make([]float64, queries), make([]float64, d.Docs())
	}
	for i := range a.p {
		a.p[i] = a.standings.weight(i) / a.standings.total
	}
	// Before the first round all scores are 0. A mean of −∞ makes every stopping rule accept the first round.
	a.mean, a.loss = math.Inf(-1), math.NaN()
	a.last, a.enqueuing = -1, a.options.Enqueue
}

// takesBack reports whether a round may be undone under the options.
func (a *AdaRank) takesBack() bool { return a.options.Stop != StopNever || a.options.Enqueue }

// weak returns the number of weak rankers.
func (a *AdaRank) weak() int {
	if a.options.Both {
		return 2 * a.data.Features
	}
	return a.data.Features
}

// AdaRankBytes returns the bytes that AdaRank needs in addition to the features.
func AdaRankBytes(queries, docs, features int) float64 {
	const (
		document = 2*8 + 4 + 4*keptFeatures // score, score before the last round, rank, and stored columns
		query    = 2*8 + 128                // weight and measure, and the query's share of standings
	)
	return float64(document*float64(docs)) + float64(float64(queries)*float64(query+2*8*features))
}

// fillTable computes the measure of every query for every weak ranker.
func (a *AdaRank) fillTable() error {
	d, queries, weak := a.data, a.standings.queries, a.weak()
	a.table = make([]float64, len(queries)*weak)
	ranks := make([]featureRanks, parallel.Workers(a.options.Workers, len(d.Queries)))
	a.columns = featureColumns{data: d}
	parallel.For(len(queries), a.options.Workers, func(worker, i int) {
		ranks[worker].measure = a.options.Measure
		ranks[worker].fill(a.table[i*weak:(i+1)*weak], queries[i].grades, d.Queries[queries[i].number].X)
	})
	for _, e := range a.table {
		if !(e >= -1 && e <= 1) {
			return fmt.Errorf("found a value of %v of %s on the training data, expected a measure between -1 and 1",
				e, a.options.Measure.Name())
		}
	}
	return nil
}

// direction returns the feature of a weak ranker, and the sign of its weight. The sign is −1 if the weak ranker ranks
// documents by ascending values, and otherwise 1.
func (a *AdaRank) direction(weak int) (feature int, sign float64) {
	if weak < a.data.Features {
		return weak, 1
	}
	return weak - a.data.Features, -1
}

// Queries returns the number of queries with documents of different grades.
func (a *AdaRank) Queries() int { return a.used }

// Weights returns the weights of the features. They are valid until the next round.
func (a *AdaRank) Weights() []float64 { return a.weights }

// Next performs a round, which adds a feature times a weight to the scores. If boosting has ended, Next adds nothing
// and ok is false.
func (a *AdaRank) Next() (round LinearRound, ok bool) {
	for !a.over {
		weak := a.choose()
		switch {
		case weak < 0:
			a.endPhase()
		case a.enqueuing && weak == a.last:
			a.takeBack()
			a.aside[weak] = true
			a.queue = append(a.queue, weak)
		default:
			if round, ok := a.add(weak); ok {
				return round, true
			}
			a.endPhase()
		}
	}
	return LinearRound{}, false
}

// choose returns the weak ranker with the largest edge among the weak rankers that are not suspended. If several of
// them have this edge, it returns the first. It returns −1 if none of their edges is above leastEdge.
func (a *AdaRank) choose() int {
	clear(a.edges)
	for i, p := range a.p {
		kernel.Axpy(p, a.table[i*len(a.edges):(i+1)*len(a.edges)], a.edges)
	}
	best, size := -1, leastEdge
	for h, e := range a.edges {
		if !a.aside[h] && e > size {
			best, size = h, e
		}
	}
	return best
}

// add performs a round with a weak ranker. If the stopping rule then ends boosting, add undoes the round and returns
// false.
func (a *AdaRank) add(weak int) (round LinearRound, ok bool) {
	f, sign := a.direction(weak)
	alpha := halfLogRatio(1+a.edges[weak], 1-a.edges[weak])
	before := a.mean
	a.back.weight, a.back.mean, a.back.loss = a.weights[f], a.mean, a.loss
	copy(a.back.p, a.p)
	values := a.addFeature(f, float64(sign*alpha))
	a.mean = a.standings.mean(values)
	if !a.enqueuing {
		a.countRepeats(weak, before)
	}
	a.last = weak
	if a.stops(before) {
		a.takeBack()
		return LinearRound{}, false
	}
	a.reweight(values, alpha)
	return LinearRound{Feature: f, Weight: sign * alpha, Mean: a.mean, Loss: a.loss}, true
}

// countRepeats implements AdaRankOptions.Repeats after a round that chose the weak ranker weak. before is the mean
// before the round.
func (a *AdaRank) countRepeats(weak int, before float64) {
	if a.mean == before && weak == a.last {
		if a.repeats++; a.repeats == a.options.Repeats {
			a.repeats, a.aside[weak] = 0, true
		}
		return
	}
	a.repeats = 0
	clear(a.aside)
	for _, queued := range a.queue {
		a.aside[queued] = true
	}
}

// endPhase ends the suspension of the last feature of the queue, or ends boosting if the queue is empty.
func (a *AdaRank) endPhase() {
	a.enqueuing = false
	if len(a.queue) == 0 {
		a.over = true
		return
	}
	first := a.queue[len(a.queue)-1]
	a.queue = a.queue[:len(a.queue)-1]
	a.aside[first] = false
}

func (a *AdaRank) stops(before float64) bool {
	switch a.options.Stop {
	case StopPaper:
		return a.mean <= before
	case StopRankLib:
		return a.mean+a.options.Tolerance <= before
	}
	return false
}

// addFeature adds feature f times weight to the scores, and returns the measure of every query.
func (a *AdaRank) addFeature(f int, weight float64) (values []float64) {
	a.weights[f] += weight
	column, there := a.columns.of(f)
	return a.standings.after(a.scores, func(from, to int) {
		if !there {
			a.columns.gather(column, f, from, to)
		}
		scores := a.scores[from:to]
		if a.back.scores != nil {
			copy(a.back.scores[from:to], scores)
		}
		for i, v := range column[from:to] {
			scores[i] += float64(weight * float64(v))
		}
	})
}

// reweight computes P and the loss from values, the measures of the queries. alpha is the weight of the round.
func (a *AdaRank) reweight(values []float64, alpha float64) {
	a.loss = 0
	for i, e := range values {
		w := a.standings.weight(i)
		a.loss += float64(w * elementary.Exp(-e))
		if a.options.Reweight == ReweightPaper {
			a.p[i] = w * elementary.Exp(-e)
		} else {
			a.p[i] *= elementary.Exp(-a.options.Rate * alpha * e)
		}
	}
	a.loss /= a.standings.total
	kernel.Scale(1/total(a.p), a.p)
}

// takeBack undoes the last round.
func (a *AdaRank) takeBack() {
	f, _ := a.direction(a.last)
	a.weights[f], a.mean, a.loss = a.back.weight, a.back.mean, a.back.loss
	copy(a.p, a.back.p)
	copy(a.scores, a.back.scores)
}
