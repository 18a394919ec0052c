package ascent

import (
	"cmp"
	"math"
	"slices"
)

// crossings evaluates the mean of the measure at all values of one weight. At the change t of the weight, document i
// has the score s_i + t·x_i. So two documents change places at
//
//	t = (s_a − s_b)/(x_b − x_a).
//
// Between two neighbouring crossings the measure is constant. At t = −∞ documents are ordered by ascending x. From
// there on, every pair with different x crosses once. Only pairs of different classes change the measure.
type crossings struct {
	docs    []int32
	events  []event
	changes []change
	walk    walk

	spareEvents  []event
	spareChanges []change
}

// event is the crossing of two documents of one query. b has the larger x and passes a from below.
type event struct {
	time uint32 // see timeKey
	a, b int32
}

// change is the change of a query's value at a crossing, times the query's weight.
type change struct {
	time uint32
	by   float64
}

// narrow is the largest width, in units of the spread, of intervals that are skipped. Scores that differ by less are
// likely to tie or cross on other data.
const narrow = 1e-4

// best returns the change of weight j in the middle of the interval with the highest mean, and this mean. Among equal
// intervals it takes the widest.
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

// query appends the changes of query i along s.column, and returns the query's value at −∞ times its weight.
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
// Several documents may cross at one point. There, exchanges of neighbours must reverse the order of the documents.
// This works if each document, in ascending order of x, passes all documents of smaller x. It must pass the smallest
// x first, and of equal x the lowest document first. meet makes events in this order, and the stable sort keeps it.
// Times are rounded to float32, so crossings at one point have the same time in spite of rounding errors of the
// quotients.
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

// walk visits all intervals between changes, from t = −∞ on.
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

// consider makes the interval from ≤ t ≤ to the best one if it is better than the best so far.
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

// timeKey rounds a time to float32 and maps it to an integer. Integers have the order of the times.
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
