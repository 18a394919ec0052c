package ascent

import (
	"math"
	"slices"

	"github.com/listwise/listwise/measure"
)

// The search in steps tries changes of the weight by spread·4^k for k from lowest to
// highest in both directions, the change that makes the weight 0, and then as many as
// refinements between the best of them and its neighbours.
const (
	lowestStep  = -3
	highestStep = 1
	refinements = 8
)

// line evaluates a measure at some values of one weight. Documents stay sorted from one
// point to the next, so that sorting takes little more than a step for each pair that
// crosses between them.
type line struct {
	points []float64
	totals []float64

	x      []float64
	order  []int32
	keys   []float64
	ranked []float64
}

// best returns the change of weight j with the highest mean, and that mean; value
// is the present one, that of no change.
func (l *line) best(s *state, j int, spread, value float64) (t, found float64) {
	l.coarse(s, s.w[j], spread)
	l.evaluate(s, j)
	t, found = l.highest(s.data, 0, value)
	if t == 0 {
		return t, found
	}
	l.fine(t)
	l.evaluate(s, j)
	return l.highest(s.data, t, found)
}

// coarse sets the points of the first search, in ascending order.
func (l *line) coarse(s *state, w, spread float64) {
	l.points = l.points[:0]
	for k := lowestStep; k <= highestStep; k++ {
		step := math.Ldexp(spread, 2*k)
		l.points = append(l.points, -step, step)
	}
	if w != 0 {
		l.points = append(l.points, -w)
	}
	slices.Sort(l.points)
	if s.NonNegative {
		l.points = slices.DeleteFunc(l.points, func(t float64) bool { return w+t < 0 })
	}
}

// fine sets the points between the one at t and its neighbours.
func (l *line) fine(t float64) {
	i := slices.Index(l.points, t)
	below, above := t, t
	if i > 0 {
		below = l.points[i-1]
	}
	if i+1 < len(l.points) {
		above = l.points[i+1]
	}
	if below < 0 && t > 0 {
		below = 0
	}
	if above > 0 && t < 0 {
		above = 0
	}
	l.points = l.points[:0]
	half := refinements / 2
	for k := 1; k <= half; k++ {
		f := float64(k) / float64(half+1)
		l.points = append(l.points, below+float64(f*(t-below)), t+float64(f*(above-t)))
	}
	slices.Sort(l.points)
	l.points = slices.Compact(l.points)
}

// evaluate sets totals to the sums over all queries at the points.
func (l *line) evaluate(s *state, j int) {
	l.totals = l.totals[:0]
	for range l.points {
		l.totals = append(l.totals, s.data.settled)
	}
	positive, _ := slices.BinarySearch(l.points, 0)
	for i := range s.data.queries {
		q, scores := &s.data.queries[i], s.scores[i]
		if !q.varies[j] {
			v := l.measure(s.data.measure, q, s.orders[i])
			for p := range l.totals {
				l.totals[p] += v
			}
			continue
		}
		l.x = l.x[:0]
		for _, x := range q.column(j) {
			l.x = append(l.x, float64(x))
		}
		// Outwards from the present order.
		present := l.measure(s.data.measure, q, s.orders[i])
		l.order = append(l.order[:0], s.orders[i]...)
		v := present
		for p := positive; p < len(l.points); p++ {
			if l.sort(q, scores, l.x, l.points[p], l.order) {
				v = l.measure(s.data.measure, q, l.order)
			}
			l.totals[p] += v
		}
		copy(l.order, s.orders[i])
		v = present
		for p := positive - 1; p >= 0; p-- {
			if l.sort(q, scores, l.x, l.points[p], l.order) {
				v = l.measure(s.data.measure, q, l.order)
			}
			l.totals[p] += v
		}
	}
}

// highest returns the point with the highest mean, and that mean, if it is above
// found, the mean at t; else these. Of equals it takes the middle of the longest run
// of neighbours, which is the farthest from where the measure falls.
func (l *line) highest(d *Data, t, found float64) (float64, float64) {
	if len(l.totals) == 0 {
		return t, found
	}
	best := slices.Max(l.totals)
	if d.mean(best) <= found {
		return t, found
	}
	longest := 0
	for from := 0; from < len(l.totals); from++ {
		to := from
		for to < len(l.totals) && l.totals[to] == best {
			to++
		}
		if to-from > longest {
			longest, t = to-from, l.points[from+(to-from)/2]
		}
		from = max(from, to-1)
	}
	return t, d.mean(best)
}

// sort orders the documents by scores + t·x, highest first, those of equal score by grade,
// lowest first, and reports whether that changed their order. It is quick if they are
// nearly in order.
func (l *line) sort(q *query, scores, x []float64, t float64, order []int32) (changed bool) {
	if len(order) > cap(l.keys) {
		l.keys = make([]float64, len(order))
	}
	keys := l.keys[:len(order)]
	for p, i := range order {
		key := scores[i] + float64(t*x[i])
		o := p
		for o > 0 && (keys[o-1] < key || keys[o-1] == key && q.grades[order[o-1]] > q.grades[i]) {
			keys[o], order[o] = keys[o-1], order[o-1]
			o--
		}
		keys[o], order[o] = key, i
		changed = changed || o != p
	}
	return changed
}

// measure returns the query's value in that order, times its weight.
func (l *line) measure(m measure.Measure, q *query, order []int32) float64 {
	if q.terms != nil {
		return q.weight * q.sum(order)
	}
	l.ranked = l.ranked[:0]
	for _, i := range order {
		l.ranked = append(l.ranked, q.grades[i])
	}
	v, _ := m.Value(l.ranked)
	return q.weight * v
}
