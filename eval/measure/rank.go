package measure

import (
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Ranker ranks the documents of one query at a time by score, and reuses its memory. Each goroutine
// needs its own Ranker. The zero value is ready to use and breaks ties by input order.
type Ranker struct {
	// Ties is the order of documents with equal scores. With TiesAverage, Rank keeps the input
	// order, and [Averager.Average] computes the mean over all orders. With TiesTREC, Rank also
	// keeps the input order. The caller must then pass the documents in descending order of their
	// identifiers, with scores rounded by [TRECScore], as [Evaluate] does.
	Ties TiePolicy

	items, spare []item
	ranked       []float64
	ends, places []int
	counts       [8][256]uint32
}

// item is a document with its sort key. Sorting items is much faster than sorting indices with a
// comparison function.
type item struct {
	key   uint64 // ascends if the score descends
	grade float64
}

// Rank returns the grades in rank order, highest score first. ends contains the ends of the groups of
// documents with equal scores, as for [Averager]. Both slices are valid until the next call, and the
// caller may change them. There must be one score for each grade, and no score may be NaN.
//
// A judged document with the score [dataset.NotRetrieved] is placed after the last end. An unjudged
// document with this score is omitted.
func (r *Ranker) Rank(grades, scores []float64) (ranked []float64, ends []int) {
	if len(grades) != len(scores) {
		panic("measure: there must be one score a grade")
	}
	r.items = resize(r.items, len(grades))
	for i, l := range grades {
		r.items[i] = item{key: descendingKey(scores[i]), grade: l}
	}
	r.sort()
	retrieved := len(r.items)
	for retrieved > 0 && r.items[retrieved-1].key == notRetrieved {
		retrieved--
	}
	r.ranked, r.ends = resize(r.ranked, len(grades)), r.ends[:0]
	for i, it := range r.items[:retrieved] {
		r.ranked[i] = it.grade
		if i+1 == retrieved || r.items[i+1].key != it.key {
			r.ends = append(r.ends, i+1)
		}
	}
	r.ranked = r.ranked[:retrieved]
	for _, it := range r.items[retrieved:] {
		if !dataset.IsUnjudged(it.grade) {
			r.ranked = append(r.ranked, it.grade)
		}
	}
	r.breakTies()
	return r.ranked, r.ends
}

// notRetrieved is the key of documents that were not retrieved. It is the largest key.
var notRetrieved = descendingKey(dataset.NotRetrieved)

// breakTies orders the documents within the groups. Sorting by grade gives the extreme values, since no
// measure of this package grows when a worse document moves up.
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

// Value returns the value of a measure for one query under the Ranker's tie policy. ok is false if the
// query does not count in means. The measure must be an [Averager] under TiesAverage, and if some
// documents were not retrieved.
func (r *Ranker) Value(m Measure, grades, scores []float64) (value float64, ok bool) {
	ranked, ends := r.Rank(grades, scores)
	if r.Ties == TiesAverage {
		return m.(Averager).Average(ranked, ends)
	}
	return r.value(m, ranked, ends)
}

// value returns the measure of the documents in their current order. If some documents were not
// retrieved, it calls Average with a group for each retrieved document.
func (r *Ranker) value(m Measure, ranked []float64, ends []int) (value float64, ok bool) {
	n := lastEnd(ends)
	if n == len(ranked) {
		return m.Value(ranked)
	}
	for len(r.places) < n {
		r.places = append(r.places, len(r.places)+1)
	}
	return m.(Averager).Average(ranked, r.places[:n])
}

// descendingKey maps scores to integers in the opposite order. Equal scores, including 0 and −0, have
// equal keys.
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

// Insertion sort is fastest for up to fewItems items, and merge sort for up to someItems items.
const (
	fewItems  = 16
	someItems = 256
)

// sort sorts the items stably by key. It uses a radix sort for long lists, which sorts by one byte at a
// time from the lowest and skips bytes that are equal in all keys.
func (r *Ranker) sort() {
	n := len(r.items)
	if n <= someItems {
		r.mergeSort()
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

// mergeSort sorts short runs by insertion and then merges the runs.
func (r *Ranker) mergeSort() {
	n := len(r.items)
	for from := 0; from < n; from += fewItems {
		insertionSort(r.items[from:min(from+fewItems, n)])
	}
	r.spare = resize(r.spare, n)
	for width := fewItems; width < n; width *= 2 {
		for from := 0; from < n; from += 2 * width {
			to := min(from+2*width, n)
			merge(r.spare[from:to], r.items[from:to], min(width, to-from))
		}
		r.items, r.spare = r.spare, r.items
	}
}

// merge merges the ascending runs items[:mid] and items[mid:]. The next item is unpredictable, so merge
// selects it without a branch.
func merge(dst, items []item, mid int) {
	dst = dst[:len(items)]
	i, j, o := 0, mid, 0
	for i < mid && j < len(items) {
		second := 0
		if items[j].key < items[i].key {
			second = 1
		}
		dst[o] = items[i+(j-i)&-second]
		i += 1 - second
		j += second
		o++
	}
	o += copy(dst[o:], items[i:mid])
	copy(dst[o:], items[j:])
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
