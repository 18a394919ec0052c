package boost

import (
	"cmp"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/measure"
)

// Standings measure scores of a data set's documents that change a little from one
// call to the next: every query's documents stay sorted, so that bringing them up to
// date costs a comparison a document and as many moves as documents pass each other.
// The value with ties is the mean over their orders (measure.TiesAverage), and the mean over
// the queries is by their weights.
type Standings struct {
	measure measure.Averager
	workers int
	queries []standing
	values  []float64
	weights []float64 // of the queries, in their order; nil if all are 1
	total   float64   // of the weights
	scratch []scratch // one a worker
}

// standing is a query's documents, best first after the last call.
type standing struct {
	from   int
	places []place
}

type place struct {
	score float64
	doc   int // within the query
	grade float64
}

type scratch struct {
	grades []float64
	ends   []int
}

// NewStandings returns the standings of the data set's queries that count for the
// measure; those of weight 0 do not.
func NewStandings(d *dataset.Dataset, m measure.Averager, workers int) *Standings {
	s := &Standings{measure: m, workers: workers}
	weighted := d.QueryWeights() != nil
	for i := range d.Queries {
		q := &d.Queries[i]
		if _, counts := m.Average(q.Grades, []int{q.Len()}); !counts || q.Weight() == 0 {
			continue
		}
		st := standing{from: q.Start, places: make([]place, q.Len())}
		for j, g := range q.Grades {
			st.places[j] = place{doc: j, grade: g}
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

// Values returns the measure of each query that counts under the scores, one a document of
// the data set, none NaN. The slice is valid until the next call.
func (s *Standings) Values(scores []float64) []float64 {
	parallel.For(len(s.queries), s.workers, func(worker, i int) {
		q, tmp := &s.queries[i], &s.scratch[worker]
		q.sort(scores)
		tmp.grades, tmp.ends = tmp.grades[:0], tmp.ends[:0]
		for j, p := range q.places {
			tmp.grades = append(tmp.grades, p.grade)
			if j+1 == len(q.places) || q.places[j+1].score != p.score {
				tmp.ends = append(tmp.ends, j+1)
			}
		}
		s.values[i], _ = s.measure.Average(tmp.grades, tmp.ends)
	})
	return s.values
}

// Mean returns the mean of Values, by the queries' weights; without queries it is NaN.
func (s *Standings) Mean(scores []float64) float64 { return s.mean(s.Values(scores)) }

// mean returns the mean of values, one a query that counts.
func (s *Standings) mean(values []float64) float64 {
	var sum float64
	for i, v := range values {
		sum += float64(s.weight(i) * v)
	}
	return sum / s.total
}

// weight returns the weight of a query that counts.
func (s *Standings) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}

// sort brings the places up to date, by insertion as long as that takes few moves.
func (q *standing) sort(scores []float64) {
	p := q.places
	for j := range p {
		p[j].score = scores[q.from+p[j].doc]
	}
	moves := 8 * len(p)
	for j := 1; j < len(p); j++ {
		at, k := p[j], j
		for ; k > 0 && at.above(p[k-1]); k-- {
			p[k] = p[k-1]
		}
		p[k] = at
		if moves -= j - k; moves < 0 {
			slices.SortFunc(p, func(a, b place) int {
				return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
			})
			return
		}
	}
}

// above reports whether a place is to stand before another. Documents of equal score stand
// in the order of the data, so that the result depends on the scores alone.
func (p *place) above(o place) bool {
	return p.score > o.score || p.score == o.score && p.doc < o.doc
}
