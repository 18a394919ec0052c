package measure

import (
	"math"
	"slices"
)

// Ranker orders the documents of one query after the other by score, reusing
// its memory. Use one for each goroutine; the zero value is ready and breaks
// ties by input order.
type Ranker struct {
	// Ties is the order of documents of equal score. Under TiesAverage they
	// stand in input order, for [Averager.Average] to take the mean over.
	Ties TiePolicy

	items, spare []item
	ranked       []float64
	ends         []int
	counts       [8][256]uint32
}

// item is a document on its way to its rank. Sorting whole items is much faster
// than sorting indices through a comparison function.
type item struct {
	key   uint64 // ascends as the score descends
	grade float64
}

// Rank returns the grades in rank order, highest score first, and the ends of
// the groups of equal score as [Averager] takes them. Both are valid until the
// next call and may be changed. There must be one score a grade, none of them
// NaN.
func (r *Ranker) Rank(grades, scores []float64) (ranked []float64, ends []int) {
	if len(grades) != len(scores) {
		panic("measure: there must be one score a grade")
	}
	r.items = resize(r.items, len(grades))
	for i, l := range grades {
		r.items[i] = item{key: descendingKey(scores[i]), grade: l}
	}
	r.sort()
	r.ranked, r.ends = resize(r.ranked, len(grades)), r.ends[:0]
	for i, it := range r.items {
		r.ranked[i] = it.grade
		if i+1 == len(r.items) || r.items[i+1].key != it.key {
			r.ends = append(r.ends, i+1)
		}
	}
	r.breakTies()
	return r.ranked, r.ends
}

// breakTies orders the documents within the groups. No measure of this package
// grows when a worse document moves up, so the extremes are reached by sorting.
func (r *Ranker) breakTies() {
	if r.Ties != TiesPessimistic && r.Ties != TiesOptimistic {
		return
	}
	start := 0
	for _, end := range r.ends {
		if group := r.ranked[start:end]; len(group) > 1 {
			slices.Sort(group)
			if r.Ties == TiesOptimistic {
				slices.Reverse(group)
			}
		}
		start = end
	}
}

// Value returns a measure of one query under the Ranker's tie policy. Under
// TiesAverage the measure must be an [Averager], as all of this package are.
func (r *Ranker) Value(m Measure, grades, scores []float64) (value float64, ok bool) {
	ranked, ends := r.Rank(grades, scores)
	if r.Ties == TiesAverage {
		return m.(Averager).Average(ranked, ends)
	}
	return m.Value(ranked)
}

// descendingKey maps scores to integers in the opposite order, equal scores
// (also 0 and −0) to equal integers.
func descendingKey(score float64) uint64 {
	if score == 0 {
		score = 0 // drops the sign
	}
	b := math.Float64bits(score)
	if b>>63 == 1 {
		return b
	}
	return ^b &^ (1 << 63)
}

// fewItems is where insertion sort stops being the faster one.
const fewItems = 48

// sort orders the items by key and leaves equal ones in place: the radix sort
// goes byte by byte from the lowest, skipping bytes that all keys share.
func (r *Ranker) sort() {
	n := len(r.items)
	if n <= fewItems {
		insertionSort(r.items)
		return
	}
	clear(r.counts[:])
	for _, it := range r.items {
		k := it.key
		for b := range r.counts {
			r.counts[b][byte(k)]++
			k >>= 8
		}
	}
	r.spare = resize(r.spare, n)
	from, to := r.items, r.spare
	for b := range r.counts {
		shift, count := 8*b, &r.counts[b]
		if int(count[byte(from[0].key>>shift)]) == n {
			continue
		}
		var place uint32
		for v, c := range count {
			count[v] = place
			place += c
		}
		for _, it := range from {
			v := byte(it.key >> shift)
			to[count[v]] = it
			count[v]++
		}
		from, to = to, from
	}
	r.items, r.spare = from, to
}

func insertionSort(items []item) {
	for i := 1; i < len(items); i++ {
		it := items[i]
		j := i
		for ; j > 0 && items[j-1].key > it.key; j-- {
			items[j] = items[j-1]
		}
		items[j] = it
	}
}
