package ascent

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
)

// Steps first tries the changes ±spread·4^k of the weight, for k from lowestStep to highestStep, and the change that
// makes the weight 0. Then it tries the given number of refinements between the best change and its neighbours.
const (
	lowestStep  = -3
	highestStep = 1
	refinements = 8
	mostPoints  = 2*(highestStep-lowestStep+1) + 1
)

// points evaluates the mean of the measure at some changes of one weight.
type points struct {
	at     []float64
	totals []float64
	values []float64 // by query, then by point
}

// line evaluates a query at several changes of one weight. The documents stay sorted from one point to the next, so
// sorting takes little more than a step for each pair that crosses between the points.
type line struct {
	x      []float64
	order  []int32
	keys   []float64
	ranked []float64
}

// best returns the change of weight j with the highest mean, and this mean. value is the present mean.
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

// coarse sets at to the points of the first search, in ascending order.
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

// fine sets at to the points between t and its neighbours.
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

// evaluate computes totals: for each point, the sum of the values of all queries.
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

// follow sets values to the values of query i at the points. It moves outwards from 0 in both directions. Points from
// index positive on are above 0.
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

// highest returns the point with the highest mean, and this mean, if the mean exceeds found. Otherwise it returns t
// and found. Among equal points, it returns the middle of the longest run of neighbours. This point is farthest from
// where the measure falls.
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

// sort sorts order, the documents, by descending scores + t·x. Documents of equal score are sorted by ascending
// grade. sort reports whether the order changed. It is fast if the documents are nearly in order.
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
