package ascent

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
)

// The search Steps first tries the changes ±spread·4^k of the weight, for k from lowestStep to highestStep, where
// spread is the result of [state.spread]. It also tries the change that makes the weight 0. refinements is the number
// of changes that it then tries between the best change and its neighbours. mostPoints is the largest number of changes
// that are evaluated at a time.
const (
	lowestStep  = -3
	highestStep = 1
	refinements = 8
	mostPoints  = 2*(highestStep-lowestStep+1) + 1
)

// points evaluates the mean of the measure at several points. A point is a change of the weight that is being improved.
type points struct {
	at     []float64
	totals []float64
	values []float64 // by query, then by point
}

// line evaluates a query at several points. It keeps the documents sorted from one point to the next. So sorting takes
// little more than one step for each pair of documents that crosses between the points.
type line struct {
	x      []float64
	order  []int32
	keys   []float64
	ranked []float64
}

// best returns the change t of weight j with the highest mean of the measure, and this mean. value is the mean without
// a change. If no change is better, t is 0.
func (l *points) best(s *state, j int, spread, value float64) (t, found float64) {
	l.coarse(s, s.w[j], spread)
	l.evaluate(s)
	t, found = l.highest(s.data, 0, value)
	if t == 0 {
		return t, found
	}
	l.fine(t)
	l.evaluate(s)
	return l.highest(s.data, t, found)
}

// coarse sets l.at to the points that are tried first, in ascending order. w is the weight.
func (l *points) coarse(s *state, w, spread float64) {
	l.at = l.at[:0]
	for k := lowestStep; k <= highestStep; k++ {
		step := math.Ldexp(spread, 2*k)
		l.at = append(l.at, -step, step)
	}
	if w != 0 {
		l.at = append(l.at, -w)
	}
	slices.Sort(l.at)
	if s.NonNegative {
		l.at = slices.DeleteFunc(l.at, func(t float64) bool { return w+t < 0 })
	}
}

// fine sets l.at to points between t, the best point of coarse, and its two neighbours in l.at.
func (l *points) fine(t float64) {
	i := slices.Index(l.at, t)
	below, above := t, t
	if i > 0 {
		below = l.at[i-1]
	}
	if i+1 < len(l.at) {
		above = l.at[i+1]
	}
	if below < 0 && t > 0 {
		below = 0
	}
	if above > 0 && t < 0 {
		above = 0
	}
	l.at = l.at[:0]
	half := refinements / 2
	for k := 1; k <= half; k++ {
		f := float64(k) / float64(half+1)
		l.at = append(l.at, below+float64(f*(t-below)), t+float64(f*(above-t)))
	}
	slices.Sort(l.at)
	l.at = slices.Compact(l.at)
}

// evaluate sets l.totals to the sum of the values of all queries at each point.
func (l *points) evaluate(s *state) {
	n := len(l.at)
	if need := n * len(s.data.queries); need > len(l.values) {
		l.values = make([]float64, need)
	}
	positive, _ := slices.BinarySearch(l.at, 0)
	s.each(func(line *line, i int) {
		values := l.values[i*n : (i+1)*n]
		present := line.measure(s.data.measure, &s.data.queries[i], s.orders[i])
		if !s.varies[i] {
			for p := range values {
				values[p] = present
			}
			return
		}
		line.follow(s, i, present, l.at, values, positive)
	})
	l.totals = l.totals[:0]
	for range l.at {
		l.totals = append(l.totals, s.data.settled)
	}
	for i := range s.data.queries {
		for p, v := range l.values[i*n : (i+1)*n] {
			l.totals[p] += v
		}
	}
}

// follow sets values to the values of query i at the points at. It visits the points in order of their distance from 0,
// first the points above 0 and then the points below. present is the value without a change, and positive is the index
// of the first point above 0.
func (l *line) follow(s *state, i int, present float64, at, values []float64, positive int) {
	q, scores := &s.data.queries[i], s.scores[i]
	l.x = l.x[:0]
	for _, x := range s.column[i] {
		l.x = append(l.x, float64(x))
	}
	l.order = append(l.order[:0], s.orders[i]...)
	v := present
	for p := positive; p < len(at); p++ {
		if l.sort(q, scores, l.x, at[p], l.order) {
			v = l.measure(s.data.measure, q, l.order)
		}
		values[p] = v
	}
	copy(l.order, s.orders[i])
	v = present
	for p := positive - 1; p >= 0; p-- {
		if l.sort(q, scores, l.x, at[p], l.order) {
			v = l.measure(s.data.measure, q, l.order)
		}
		values[p] = v
	}
}

// highest returns the point with the highest mean, and this mean, if the mean exceeds found. Otherwise it returns t and
// found. If several points have the highest mean, highest returns the middle of the longest run of neighbouring points
// among them. This point is farthest from points with a lower mean.
func (l *points) highest(d *Data, t, found float64) (float64, float64) {
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
			longest, t = to-from, l.at[from+(to-from)/2]
		}
		from = max(from, to-1)
	}
	return t, d.mean(best)
}

// sort sorts the documents in order by descending scores + t·x, and documents of equal score by ascending grade. It
// reports whether the order changed. sort is an insertion sort, which is fast if the documents are nearly sorted.
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

// measure returns the value of a query in the given order, times the weight of the query.
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
