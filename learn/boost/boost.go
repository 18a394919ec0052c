// Package boost learns sums of weak rankers. Each round adds one weak ranker. In RankBoost and FRank a weak ranker
// compares a feature with a threshold. In AdaRank a weak ranker is a feature.
//
// Start reading at [RankBoost], [FRank] and [AdaRank]. Their constructors take a data set. Each call of Next performs
// one round, so the caller decides when to stop. RankBoost, and FRank by default, choose the weak ranker with the
// largest edge, which is the slope of the loss along the weak ranker, up to a factor. Both compute a potential for each
// document, such that the edge is the sum of the potentials of the documents above the threshold. levels.go stores
// pairs of documents without a matrix of pairs. search.go finds the largest edge. For many documents, large.go finds
// the same weak rankers in less time and memory. [Standings] computes a measure of scores that change a little every
// round.
//
// The package must not depend on names of hyperparameters, validation data or model files.
package boost

import (
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// Options are the options of RankBoost and FRank. With the zero value, every value of a feature is a
// threshold, and weak rankers may have either sign.
type Options struct {
	// Cuts is the number of thresholds of each feature, equally spaced from its lowest value up. If Cuts is 0, or if
	// the feature has no more values than Cuts, every value is a threshold.
	Cuts int

	// Up excludes weak rankers with a negative weight. Such weak rankers prefer documents with a low value of the
	// feature.
	Up bool

	// PerQuery gives every query the same weight, which is divided among its pairs of documents with
	// different grades. Otherwise every pair has the same weight.
	PerQuery bool

	Workers int // number of goroutines; 0 means GOMAXPROCS
}

// Round describes a round: the added weak ranker, and the training loss after the round.
type Round struct {
	Stump  scorer.Stump
	Weight float64 // α, the factor of the weak ranker in the sum

	// Edge is the edge of the weak ranker before the round: r of [RankBoost] or Σ W·m of [FRank]. It may be negative.
	Edge float64

	// Loss is the training loss after the round.
	Loss float64
}

// sum is the sum H of the weak rankers added so far, for the documents of queries with pairs.
type sum struct {
	documents *arrangement
	search    *search
	large     *largeSearch // replaces search if not nil

	scores    []float64   // H, by document
	potential []float64   // potentials of the documents
	above     []bool      // whether a document is above the threshold of the last split
	buffers   [][]float64 // one for each worker
}

// newSum returns a sum without weak rankers and without a search, which the caller makes by makeSearch. Each worker's
// buffer has 3n + more elements, where n is the number of documents of the longest query. The error is ErrNoPairs.
func newSum(d *dataset.Dataset, o Options, more int) (sum, error) {
	a := arrange(d, o.PerQuery)
	if len(a.queries) == 0 {
		return sum{}, ErrNoPairs
	}
	n := len(a.rows)
	s := sum{
		documents: a,
		scores:    block.NewNumbers(n),
		potential: block.NewNumbers(n),
		above:     make([]bool, n),
		buffers:   make([][]float64, parallel.Workers(o.Workers, len(a.queries))),
	}
	for w := range s.buffers {
		s.buffers[w] = make([]float64, 3*a.longest+more)
	}
	return s, nil
}

// makeSearch makes the search for weak rankers. The potentials of the first round must be set. all requests that the
// search finds the best weak ranker of every feature. A largeSearch cannot do this.
func (s *sum) makeSearch(d *dataset.Dataset, o Options, all bool) {
	if rows := s.documents.rows; isLarge(len(rows), all) {
		s.large = newLargeSearch(d, rows, o, s.potential)
		return
	}
	s.search = newSearch(newColumns(d, s.documents.rows, o.Cuts, o.Workers), o.Up, o.Workers)
}

// isLarge reports whether makeSearch makes a largeSearch for the given number of documents.
func isLarge(docs int, all bool) bool { return !all && docs >= manyDocs && docs < first }

// Bytes returns the number of bytes that RankBoost and FRank need in addition to the features. all must be set for an
// FRank with a search other than ByGradient.
func Bytes(docs, features, workers int, all bool) float64 {
	const document = 5*8 + 1 + 4*8 // row, score, two potentials, integer, side; weights, and factors of FRank
	cell, sorted := float64(binBytes), float64(keyBytes)
	if isLarge(docs, all) {
		cell, sorted = 1, loadedBytes
	}
	each := document + float64(cell*float64(features)) + float64(sorted*float64(parallel.Workers(workers, features)))
	return float64(each*float64(docs)) + float64(float64(features)*float64(unsafe.Sizeof(largeColumn{})))
}

// find returns the weak ranker with the largest edge, as search.run does.
func (s *sum) find() (best candidate, ok bool) {
	if s.large != nil {
		return s.large.run(s.potential)
	}
	return s.search.run(s.potential)
}

// eachCandidate calls try for the best weak ranker of every column, or for every weak ranker if all is set. The weak
// rankers of a column come in the order of descending thresholds. find must have been called in this round, and the sum
// must have a search, not a largeSearch.
func (s *sum) eachCandidate(all bool, try func(candidate)) {
	for i, c := range s.search.best {
		if !all {
			try(c)
			continue
		}
		for _, c := range s.search.all(i, s.potential) {
			try(c)
		}
	}
}

// Queries returns the number of queries with documents of different grades.
func (s *sum) Queries() int { return len(s.documents.queries) }

// split marks in s.above the documents above the threshold of a weak ranker.
func (s *sum) split(c candidate) {
	if s.large != nil {
		s.large.split(s.above, c)
		return
	}
	column := &s.search.columns[c.column]
	for i := range s.above {
		s.above[i] = column.bin(i) > c.cut
	}
}

// add adds alpha times the weak ranker of the last split to the scores.
func (s *sum) add(alpha float64) {
	for i, above := range s.above {
		if above {
			s.scores[i] += alpha
		}
	}
}

// stump returns the weak ranker of a candidate.
func (s *sum) stump(c candidate) scorer.Stump {
	if s.large != nil {
		return s.large.stump(c)
	}
	return s.search.columns[c.column].stump(c.cut)
}

// leastRatio is a lower bound on the ratio of the smaller to the larger of two weights in halfLogRatio. It limits the
// absolute value of α to about 14. Without the limit, a weak ranker without wrongly ordered pairs would have an
// infinite α.
const leastRatio = 1e-12

// halfLogRatio returns ½ ln(plus/minus), limited by leastRatio, or 0 if both arguments are 0.
func halfLogRatio(plus, minus float64) float64 {
	most := max(plus, minus)
	if most == 0 {
		return 0
	}
	return 0.5 * elementary.Log(max(plus, most*leastRatio)/max(minus, most*leastRatio))
}

// leastEdge is the largest edge that counts as a rounding error.
const leastEdge = 1e-12
