package ascent

import (
	"cmp"
	"math"
	"slices"
)

// crossings evaluates the mean of the measure at all values of one weight. If the weight changes by t, document i has
// the score s_i + t·x_i. So the documents a and b exchange ranks at
//
//	t = (s_a − s_b)/(x_b − x_a).
//
// The comments call t a time. Between two neighbouring crossings the measure is constant. At t = −∞ documents are
// ordered by ascending x. As t increases, every pair of documents with different x crosses once. Only pairs of
// documents of different classes (see pattern) change the measure.
type crossings struct {
	docs    []int32
	events  []event
	changes []change
	walk    walk

	spareEvents  []event
	spareChanges []change
}

// event is the crossing of two documents of one query. Document b, which has the larger x, rises above document a.
type event struct {
	time uint32 // see timeKey
	a, b int32
}

// change is the change of a query's value at a crossing, times the query's weight.
type change struct {
	time uint32
	by   float64
}

// narrow times the spread is the largest width of intervals between crossings that the search ignores. In a narrow
// interval, the scores of two documents nearly agree, so the documents are likely to tie or cross on other data.
const narrow = 1e-4

// best returns the change of weight j in the middle of the interval with the highest mean, and this mean. If several
// intervals have the highest mean, best chooses the widest.
func (c *crossings) best(s *state, j int, spread float64) (t, found float64) {
	c.changes = c.changes[:0]
	total := s.data.settled
	for i := range s.data.queries {
		q := &s.data.queries[i]
		if s.varies[i] {
			total += c.query(s, i)
		} else {
			total += s.lines[0].measure(s.data.measure, q, s.orders[i])
		}
	}
	sortByTime(&c.changes, &c.spareChanges, func(h change) uint32 { return h.time })
	h := highest{total: total, found: math.Inf(-1), lowest: math.Inf(-1), spread: spread}
	if s.NonNegative {
		h.lowest = -s.w[j]
	}
	h.walk(c.changes)
	return h.t, s.data.mean(h.found)
}

// query appends the changes of the value of query i, for t from −∞ to ∞, to c.changes. It returns the query's value at
// t = −∞ times the query's weight.
func (c *crossings) query(s *state, i int) float64 {
	q, scores := &s.data.queries[i], s.scores[i]
	x := s.column[i]
	c.docs = c.docs[:0]
	for k := range x {
		c.docs = append(c.docs, int32(k))
	}
	// Documents of equal x are ordered by descending score, and among ties by ascending grade.
	slices.SortFunc(c.docs, func(a, b int32) int {
		switch {
		case x[a] != x[b]:
			return cmp.Compare(x[a], x[b])
		case scores[a] != scores[b]:
			return cmp.Compare(scores[b], scores[a])
		}
		return cmp.Compare(q.grades[a], q.grades[b])
	})
	value := c.walk.start(s.data.measure, &q.pattern, q.grades, c.docs)
	c.meet(q.class, x, scores)
	for e := 0; e < len(c.events); {
		time, by := c.events[e].time, 0.0
		for ; e < len(c.events) && c.events[e].time == time; e++ {
			by += c.walk.cross(c.events[e].a, c.events[e].b)
		}
		if by != 0 {
			c.changes = append(c.changes, change{time, q.weight * by})
		}
	}
	return q.weight * value
}

// meet sets events to all crossings of documents of different classes, in order of time.
//
// Several documents may cross at the same time. At this time, the order of these documents is reversed, and the events
// must reverse it by exchanges of neighbours. So meet creates the events in the following order, which the stable sort
// preserves for equal times. Each document b, in ascending order of x, rises above all documents with smaller x. It
// first rises above the documents with the smallest x and, among documents of equal x, above the lowest-ranked
// document. Times are rounded to float32. So crossings at the same time get equal times in spite of rounding errors of
// the quotients.
func (c *crossings) meet(class []int32, x []float32, scores []float64) {
	c.events = c.events[:0]
	for _, b := range c.docs {
		xb, sb := x[b], scores[b]
		for first := 0; x[c.docs[first]] < xb; {
			end := first + 1
			for x[c.docs[end]] == x[c.docs[first]] {
				end++
			}
			step := 1 / (float64(xb) - float64(x[c.docs[first]]))
			for k := end - 1; k >= first; k-- {
				if a := c.docs[k]; class[a] != class[b] {
					c.events = append(c.events, event{timeKey((scores[a] - sb) * step), a, b})
				}
			}
			first = end
		}
	}
	sortByTime(&c.events, &c.spareEvents, func(e event) uint32 { return e.time })
}

// highest searches for the interval between crossings with the highest total.
type highest struct {
	total  float64 // total at the present interval
	lowest float64 // smallest change allowed
	spread float64

	t, found, width float64 // the best interval so far
}

// walk visits all intervals between crossings, from t = −∞ to ∞.
func (h *highest) walk(changes []change) {
	at := math.Inf(-1)
	for i := 0; i < len(changes); {
		time := changes[i].time
		h.consider(at, timeOf(time))
		for ; i < len(changes) && changes[i].time == time; i++ {
			h.total += changes[i].by
		}
		at = timeOf(time)
	}
	h.consider(at, math.Inf(1))
}

// rounding is the largest difference of totals that counts as a rounding error.
const rounding = 1e-10

// consider makes the interval from ≤ t ≤ to, with the present total, the best interval if it is better than the best
// interval so far.
func (h *highest) consider(from, to float64) {
	from = max(from, h.lowest)
	width := to - from
	if !(width > narrow*h.spread) || h.total < h.found-rounding || h.total <= h.found+rounding && width <= h.width {
		return
	}
	h.found, h.width = h.total, width
	// In an unbounded interval, t is two spreads from the finite end.
	switch {
	case math.IsInf(width, 1) && math.IsInf(from, -1) && math.IsInf(to, 1):
		h.t = 0
	case math.IsInf(from, -1):
		h.t = to - float64(2*h.spread)
	case math.IsInf(to, 1):
		h.t = from + float64(2*h.spread)
	default:
		h.t = from + float64(width/2)
	}
}

// timeKey rounds a time to float32 and returns an integer. The integers are in the order of the rounded times.
func timeKey(t float64) uint32 {
	b := math.Float32bits(float32(t) + 0) // −0 is 0
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

// timeOf is the inverse of timeKey.
func timeOf(key uint32) float64 {
	if key>>31 == 1 {
		return float64(math.Float32frombits(key &^ (1 << 31)))
	}
	return float64(math.Float32frombits(^key))
}

// sortByTime sorts a list stably by a key of 32 bits, in three passes over 11 bits each. It uses spare as memory.
func sortByTime[T any](list, spare *[]T, key func(T) uint32) {
	const bits = 11
	if len(*list) < 1<<bits/4 {
		slices.SortStableFunc(*list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
		return
	}
	*spare = resize(*spare, len(*list))
	for shift := 0; shift < 32; shift += bits {
		var place [1 << bits]int32
		for _, v := range *list {
			place[key(v)>>shift&(1<<bits-1)]++
		}
		var sum int32
		for b, n := range place {
			place[b] = sum
			sum += n
		}
		for _, v := range *list {
			b := key(v) >> shift & (1<<bits - 1)
			(*spare)[place[b]] = v
			place[b]++
		}
		*list, *spare = *spare, *list
	}
}
