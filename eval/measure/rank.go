package measure

import (
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Ranker ranks the documents of one query after the other by score, and reuses its memory. Each
// goroutine needs its own. The zero value is ready to use and breaks ties by input order.
type Ranker struct {
	// Ties is the order of documents of equal score. Under TiesAverage they keep their input order,
	// and [Averager.Average] takes the mean over their permutations. Under TiesTREC they keep it
	// too, after [Evaluate] has sorted the input.
	Ties TiePolicy

	items, spare []item
	ranked       []float64
	ends, places []int
	counts       [8][256]uint32
}

// item is a document with its sort key. Sorting items is much faster than sorting indices by a
// comparison function.
type item struct {
	key   uint64 // ascends as the score descends
	grade float64
}

// Rank returns the grades in rank order, highest score first, and the ends of
// the groups of equal score as [Averager] takes them. Both are valid until the
// next call and may be changed. There must be one score a grade, none of them
// NaN.
//
// Documents whose score is [dataset.NotRetrieved] stand behind the last end if they were
// judged, and are left out if not: for this ranking they do not exist.
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

// notRetrieved is the key of documents without rank, the largest of all.
var notRetrieved = descendingKey(dataset.NotRetrieved)

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

// Value returns a measure of one query under the Ranker's tie policy. Under TiesAverage, and
// where not all documents were retrieved, the measure must be an [Averager], as all of this
// package are.
func (r *Ranker) Value(m Measure, grades, scores []float64) (value float64, ok bool) {
	ranked, ends := r.Rank(grades, scores)
	if r.Ties == TiesAverage {
		return m.(Averager).Average(ranked, ends)
	}
	return r.value(m, ranked, ends)
}

// value returns the measure of the documents in their current order. If some documents were not
// retrieved, it is the Average with every document as a group of its own.
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

// fewItems is where insertion sort stops being the faster one, and someItems where merging
// does.
const (
	fewItems  = 16
	someItems = 256
)

// sort orders the items by key and leaves equal ones in place: the radix sort
// goes byte by byte from the lowest, skipping bytes that all keys share.
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

// mergeSort merges runs that insertion has sorted.
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

// merge merges the ascending runs before and from mid of items. Which one is next is
// unpredictable, so the choice is written without a branch.
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
