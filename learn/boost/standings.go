package boost

import (
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// Standings computes a measure of scores that change a little from one call to the next. It keeps the documents of
// every query sorted. A call compares each document with its neighbour once, and sorts again only if the order changed.
// If the order of a query does not change, its value is not computed again.
//
// If documents have equal scores, the value of a query is the mean over all orders of these documents
// (measure.TiesAverage). The mean over the queries is weighted by the queries' weights.
type Standings struct {
	measure measure.Averager
	workers int
	queries []standing
	values  []float64
	weights []float64 // weights of queries; nil if all are 1
	total   float64   // sum of the weights
	scratch []scratch // one for each worker
}

// standing is a query with its documents in the order of the last call, best first.
type standing struct {
	number int // index of the query in the data set
	from   int
	grades []float64 // by document
	order  []uint32  // documents by rank; the mark first is at the start of each group of equal scores; there are no marks before the first call
}

type place struct {
	score float64
	doc   uint32 // within the query
}

type scratch struct {
	places []place
	grades []float64
	ends   []int

	keys, docs, workKeys, workDocs []float64
}

// NewStandings returns a Standings for the queries of d that count for the measure m. Queries of weight 0 do not count.
func NewStandings(d *dataset.Dataset, m measure.Averager, workers int) *Standings {
	s := &Standings{measure: m, workers: workers}
	weighted := d.QueryWeights() != nil
	orders := make([]uint32, d.Docs())
	for i := range d.Queries {
		q := &d.Queries[i]
		if _, counts := m.Average(q.Grades, []int{q.Len()}); !counts || q.Weight() == 0 {
			continue
		}
		st := standing{number: i, from: q.Start, grades: q.Grades, order: orders[:q.Len():q.Len()]}
		orders = orders[q.Len():]
		for doc := range st.order {
			st.order[doc] = uint32(doc)
		}
		s.queries = append(s.queries, st)
		s.total += q.Weight()
		if weighted {
			s.weights = append(s.weights, q.Weight())
		}
	}
	s.values = make([]float64, len(s.queries))
	s.scratch = make([]scratch, parallel.Workers(workers, len(s.queries)))
	return s
}

// Queries returns the number of queries that count.
func (s *Standings) Queries() int { return len(s.queries) }

// Values returns the measure of each query that counts. scores has a score for each document of the data set, none of
// them NaN. The caller must not change the result, which is valid until the next call.
func (s *Standings) Values(scores []float64) []float64 { return s.after(scores, nil) }

// after returns the measure, under the scores, of each query that counts. If change is not nil, after first calls
// change for the rows from ≤ row < to of each query. The calls are concurrent. change may set the scores of these rows,
// which are then still in the processor's cache when after sorts the query.
func (s *Standings) after(scores []float64, change func(from, to int)) []float64 {
	parallel.For(len(s.queries), s.workers, func(worker, i int) {
		q := &s.queries[i]
		of := scores[q.from : q.from+len(q.order)]
		if change != nil {
			change(q.from, q.from+len(q.order))
		}
		if tmp := &s.scratch[worker]; q.sort(of, tmp) {
			s.values[i], _ = s.measure.Average(tmp.grades, tmp.ends)
		}
	})
	return s.values
}

// Mean returns the weighted mean of Values, or NaN if no query counts.
func (s *Standings) Mean(scores []float64) float64 { return s.mean(s.Values(scores)) }

// mean returns the weighted mean of values, which has a value for each query that counts.
func (s *Standings) mean(values []float64) float64 {
	var sum float64
	for i, v := range values {
		sum += float64(s.weight(i) * v)
	}
	return sum / s.total
}

// weight returns the weight of the i-th query that counts.
func (s *Standings) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}

// sort updates the order. It sets tmp.grades to the grades by rank, and tmp.ends to the ends of the groups of documents
// with equal scores. Documents of a group are in the order of the data, so the result depends on the scores alone. If
// the order and the groups do not change, sort sets nothing and returns false.
func (q *standing) sort(scores []float64, tmp *scratch) bool {
	if q.stands(scores) {
		return false
	}
	if !tmp.insert(q.order, scores) {
		tmp.merge(scores)
	}
	tmp.rank(q)
	return true
}

// rank sets q.order, t.grades and t.ends from the documents in t.places, which are sorted.
func (t *scratch) rank(q *standing) {
	p := t.places
	n := len(p)
	t.grades, t.ends = slices.Grow(t.grades[:0], n)[:n], slices.Grow(t.ends[:0], n)[:n]
	order, grades, ends := q.order[:n], t.grades, t.ends
	groups, last := 0, math.NaN()
	for k, at := range p {
		begins := uint32(0)
		if at.score != last {
			begins = first
			groups++
		}
		last = at.score
		order[k] = at.doc | begins
		grades[k] = q.grades[at.doc]
		ends[groups-1] = k + 1
	}
	t.ends = ends[:groups]
}

// stands reports whether q.order is sorted by the scores and its marks are at the starts of the groups of equal scores.
func (q *standing) stands(scores []float64) bool {
	last := scores[q.order[0]&^first]
	if q.order[0]&first == 0 {
		return false
	}
	for _, doc := range q.order[1:] {
		score := scores[doc&^first]
		if doc&first != 0 && score >= last || doc&first == 0 && score != last {
			return false
		}
		last = score
	}
	return true
}

// insert sets t.places to the sorted documents, by insertion sort beginning with the given order. It returns false, and
// t.places is not valid, if this takes many moves.
func (t *scratch) insert(order []uint32, scores []float64) bool {
	t.places = slices.Grow(t.places[:0], len(order))[:len(order)]
	p := t.places
	moves := 8 * len(order)
	for j, doc := range order {
		doc &^= first
		at, k := place{scores[doc], doc}, j
		for ; k > 0 && at.above(p[k-1]); k-- {
			p[k] = p[k-1]
		}
		p[k] = at
		if moves -= j - k; moves < 0 {
			return false
		}
	}
	return true
}

// merge sets t.places to the sorted documents, by merge sort.
func (t *scratch) merge(scores []float64) {
	n := len(scores)
	for _, of := range []*[]float64{&t.keys, &t.docs, &t.workKeys, &t.workDocs} {
		*of = slices.Grow((*of)[:0], n)[:n]
	}
	for doc, score := range scores {
		t.keys[doc], t.docs[doc] = score, float64(doc)
	}
	kernel.SortDescending(t.keys, t.docs, t.workKeys, t.workDocs)
	t.places = t.places[:0]
	for k, score := range t.keys {
		t.places = append(t.places, place{score, uint32(t.docs[k])})
	}
}

// above reports whether p comes before o.
func (p *place) above(o place) bool {
	return p.score > o.score || p.score == o.score && p.doc < o.doc
}
