// Package ascent maximises a measure over linear combinations of columns, one weight at a time. This is coordinate
// ascent as Metzler and Croft use it to learn rankings (Linear feature-based models for information retrieval,
// Information Retrieval 10, 2007).
//
// A measure changes only where the scores of two documents cross, so its gradient is 0 or undefined. As a function of
// one weight, the measure is a step function. The package evaluates the measure either at a few values of the weight
// (line.go) or on all steps of the function, crossing by crossing (crossing.go). Evaluating all steps follows Och
// (Minimum Error Rate Training in Statistical Machine Translation, ACL 2003).
//
// Start reading at [Climber]. A climb is one run of coordinate ascent, and a sweep is one pass over all weights. A
// column has a number for every document: a feature in the method coordascent, and the votes of a system in package
// ensemble. This package must not depend on the meaning of columns.
package ascent

import (
	"context"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/parallel"
)

// Search selects how a [Climber] searches for the best value of one weight.
type Search int

// The searches.
const (
	// Steps tries a fixed number of changes of the weight in both directions, each four times as large as the one
	// before. Then it tries some changes between the best change and its neighbours. Changes are proportional to the
	// standard deviation of the scores divided by that of the column, so the scale of a column does not matter.
	Steps Search = iota

	// Exact finds all values of the weight at which the scores of two documents cross, and evaluates the measure
	// between every two neighbouring crossings. Time and memory are proportional to the number of pairs of documents
	// with different grades.
	Exact
)

// ParseSearch parses "steps" or "exact".
func ParseSearch(name string) (Search, error) {
	switch name {
	case "steps":
		return Steps, nil
	case "exact":
		return Exact, nil
	}
	return 0, fmt.Errorf("found the search %q, expected steps or exact", name)
}

// Climber maximises the mean over queries of the measure of a [Data]. Documents of equal score count in the order with
// the lowest value. The zero value is ready to use.
type Climber struct {
	Search      Search
	MaxSweeps   int     // largest number of passes over all weights; 0 means 100
	Tolerance   float64 // a sweep with at most this gain is the last one
	NonNegative bool    // weights do not become negative
	Workers     int     // number of goroutines; 0 means GOMAXPROCS; does not affect the result

	// Order, if not nil, is called at the start of a sweep to permute columns, which contains 0, 1, …. The sweep
	// processes the weights in the resulting order.
	Order func(sweep int, columns []int)

	// Observe, if not nil, is called after every sweep. An error ends the climb.
	Observe func(Sweep) error
}

// Sweep is one pass over all weights.
type Sweep struct {
	Number int     // counted from 1
	Value  float64 // mean of the measure
	W      []float64
}

// Result is the result of a climb.
type Result struct {
	W         []float64 // Σ|w| = 1, unless all weights are 0
	Value     float64   // mean of the measure, with ties in the worst order
	Sweeps    int
	Converged bool // the last sweep gained at most the tolerance
}

// Climb maximises the mean of the measure, starting at the weights w, one for each column. It does not modify w. The
// result depends only on the arguments and the fields of c. Climb returns an error if ctx is cancelled or Observe
// returns an error.
func (c *Climber) Climb(ctx context.Context, d *Data, w []float64) (*Result, error) {
	if len(w) != d.columns {
		panic(fmt.Sprintf("ascent: %d weights for %d columns", len(w), d.columns))
	}
	s := newState(d, c, w)
	r := &Result{W: s.w, Value: s.value()}
	columns := make([]int, d.columns)
	maxSweeps := c.MaxSweeps
	if maxSweeps == 0 {
		maxSweeps = 100
	}
	for r.Sweeps < maxSweeps && !r.Converged {
		before := r.Value
		for j := range columns {
			columns[j] = j
		}
		if c.Order != nil {
			c.Order(r.Sweeps, columns)
		}
		for _, j := range columns {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.Value = s.improve(j, r.Value)
		}
		s.normalize()
		r.Value = s.value()
		r.Sweeps++
		r.Converged = r.Value <= before+c.Tolerance
		if c.Observe == nil {
			continue
		}
		if err := c.Observe(Sweep{Number: r.Sweeps, Value: r.Value, W: s.w}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Value returns the mean of the measure at the weights w, with ties in the worst order. A [Climber] maximises this
// value.
func (d *Data) Value(w []float64) float64 { return newState(d, new(Climber), w).value() }

// state is a running climb.
type state struct {
	*Climber
	data   *Data
	w      []float64
	scores [][]float64 // scores of the documents of each query in data.queries
	before [][]float64 // scores before the last move
	orders [][]int32   // documents by rank, for each query
	column [][]float32 // for each query, the column whose weight is being improved
	varies []bool      // for each query, whether this column has different values; if not, the query's element of column is not set
	values []float64   // value of each query
	lines  []line      // one for each worker
	points points
	sweep  crossings
}

func newState(d *Data, c *Climber, w []float64) *state {
	s := &state{Climber: c, data: d, w: append([]float64(nil), w...)}
	docs := 0
	for i := range d.queries {
		docs += len(d.queries[i].grades)
	}
	scores, before, orders := make([]float64, docs), make([]float64, docs), make([]int32, docs)
	column := make([]float32, docs)
	s.column, s.varies = make([][]float32, len(d.queries)), make([]bool, len(d.queries))
	for i := range d.queries {
		n := len(d.queries[i].grades)
		for k := range n {
			orders[k] = int32(k)
		}
		s.scores = append(s.scores, scores[:n:n])
		s.before = append(s.before, before[:n:n])
		s.orders = append(s.orders, orders[:n:n])
		scores, before, orders = scores[n:], before[n:], orders[n:]
		s.column[i], column = column[:n:n], column[n:]
	}
	s.values = make([]float64, len(d.queries))
	s.lines = make([]line, parallel.Workers(c.Workers, s.parts()))
	s.rescore()
	return s
}

// part is the number of queries that a worker processes at a time.
const part = 32

func (s *state) parts() int { return (len(s.data.queries) + part - 1) / part }

// each calls do for every query, on several goroutines.
func (s *state) each(do func(l *line, i int)) {
	parallel.For(s.parts(), len(s.lines), func(worker, p int) {
		for i := p * part; i < min((p+1)*part, len(s.data.queries)); i++ {
			do(&s.lines[worker], i)
		}
	})
}

// rescore computes all scores from the weights.
func (s *state) rescore() {
	s.each(func(_ *line, i int) {
		x := s.data.queries[i].x
		for k := range s.scores[i] {
			score := 0.0
			for j, w := range s.w {
				if w != 0 {
					score += float64(w * float64(x[j]))
				}
			}
			s.scores[i][k], x = score, x[len(s.w):]
		}
	})
}

// value returns the mean of the measure at the weights, and updates the orders.
func (s *state) value() float64 {
	s.each(func(l *line, i int) {
		q := &s.data.queries[i]
		l.sort(q, s.scores[i], s.scores[i], 0, s.orders[i])
		s.values[i] = l.measure(s.data.measure, q, s.orders[i])
	})
	total := s.data.settled
	for _, v := range s.values {
		total += v
	}
	return s.data.mean(total)
}

// take sets s.column and s.varies to column j.
func (s *state) take(j int) {
	s.each(func(_ *line, i int) {
		q := &s.data.queries[i]
		if s.varies[i] = q.varies[j]; s.varies[i] {
			q.column(s.column[i], j)
		}
	})
}

// improve changes weight j to the best value that the search finds, and returns the mean of the measure for this value.
// value is the mean before the change. If the search finds no larger mean, improve keeps the weight and returns value.
func (s *state) improve(j int, value float64) float64 {
	s.take(j)
	spread := s.spread()
	if spread == 0 {
		return value
	}
	var t, found float64
	if s.Search == Exact {
		t, found = s.sweep.best(s, j, spread)
	} else {
		t, found = s.points.best(s, j, spread, value)
	}
	if !(found > value) || t == 0 {
		return value
	}
	old := s.w[j]
	s.move(j, t)
	if after := s.value(); after > value {
		return after
	}
	// Because of rounding errors, the new weight does not give the mean that the search computed. Restore the weight
	// and the scores, which move stored in s.before.
	s.w[j] = old
	s.scores, s.before = s.before, s.scores
	return s.value()
}

// move adds t to weight j, updates the scores, and stores the old scores in s.before. The caller must have called take
// for column j.
func (s *state) move(j int, t float64) {
	s.w[j] += t
	s.scores, s.before = s.before, s.scores
	s.each(func(_ *line, i int) {
		q, scores, before := &s.data.queries[i], s.scores[i], s.before[i]
		if !s.varies[i] {
			q.column(s.column[i], j)
		}
		for k, x := range s.column[i] {
			scores[k] = before[k] + float64(t*float64(x))
		}
	})
}

// normalize scales the weights to Σ|w| = 1. This changes no ranking.
func (s *state) normalize() {
	var sum float64
	for _, w := range s.w {
		sum += math.Abs(w)
	}
	if sum > 0 && !math.IsInf(sum, 1) {
		for j := range s.w {
			s.w[j] /= sum
		}
	}
	s.rescore()
}

// spread returns the standard deviation of the scores within queries, divided by the standard deviation of the column.
// A change of the weight by this number changes scores by about their standard deviation. spread returns 0 if the
// column is constant within all queries.
func (s *state) spread() float64 {
	var scores, column float64
	for i := range s.data.queries {
		q := &s.data.queries[i]
		if s.varies[i] {
			column += float64(q.weight * variation(s.column[i]))
		}
		scores += float64(q.weight * variation(s.scores[i]))
	}
	switch {
	case column == 0:
		return 0
	case scores == 0:
		return 1 // all weights are 0, so any unit will do
	}
	return math.Sqrt(scores / column)
}

// variation returns Σ(x − mean)².
func variation[T float32 | float64](x []T) float64 {
	var sum, square float64
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / float64(len(x))
	for _, v := range x {
		d := float64(v) - mean
		square += float64(d * d)
	}
	return square
}
