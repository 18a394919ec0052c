package boost

import (
	"math"
	"math/bits"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
)

// featureRanks computes the measure of a query ranked by each feature alone, one query after the other. If documents
// have equal values, it computes the expected measure under a random order of these documents. The results have the
// same bits as the results of [measure.Ranker.Value] under measure.TiesAverage, because the measure gets the same
// grades in the same order. A featureRanks must not be used by several goroutines at once.
//
// Sorting takes nearly all of the time. So featureRanks divides the range of a feature's values in a query into about
// as many buckets as there are documents, and sorts documents by bucket in linear time. Few documents are then out of
// order, and insertion sort takes little time.
type featureRanks struct {
	measure measure.Averager
	ranker  measure.Ranker // for values that are not finite

	columns []float32 // some features, one column after the other
	buckets []uint16  // bucket of each document of a column
	counts  []uint32  // number of documents in each bucket, later the end of each bucket
	items   []item    // documents by decreasing value, equal values in the order of the query
	spare   []item
	digits  [valueDigits][256]uint32

	ranked, reversed []float64
	ends, upside     []int
	numbers          []float64 // a column, for ranker
}

// gathered is the number of features that are copied to columns at a time. The values of so many features take a cache
// line.
const gathered = 16

// valueDigits is the number of bytes of a value.
const valueDigits = 4

// item is a document, by its index in the query, with its value.
type item struct {
	value float32
	doc   uint32
}

// fill sets values[f] to the measure of a query ranked by feature f in descending order. If values has twice as many
// elements as there are features, fill sets the second half to the measures for ascending order. x is the query's
// row-major matrix of features.
func (r *featureRanks) fill(values, grades []float64, x []float32) {
	n := len(grades)
	features := len(x) / n
	none := math.NaN() // measure of the query for a constant feature; NaN until computed
	for from := 0; from < features; from += gathered {
		to := min(from+gathered, features)
		r.gather(x, n, from, to)
		for f := from; f < to; f++ {
			column := r.columns[(f-from)*n:][:n]
			least, greatest := extremes(column)
			switch span := greatest - least; {
			case span-span != 0: // a value is infinite
				r.set(values, features, f, r.anyValue(grades, column, 1), r.anyValue(grades, column, -1))
			case span == 0:
				if none != none {
					r.ends = append(r.ends[:0], n)
					none, _ = r.measure.Average(append(r.ranked[:0], grades...), r.ends)
				}
				r.set(values, features, f, none, none)
			default:
				r.sort(column, least, greatest)
				r.measureSorted(values, features, f, grades)
			}
		}
	}
}

// set stores the measures of feature f for descending and ascending order, up and down. It ignores down if values has
// no second half.
func (r *featureRanks) set(values []float64, features, f int, up, down float64) {
	values[f] = up
	if len(values) > features {
		values[features+f] = down
	}
}

// gather copies the features from ≤ f < to of a query's n documents to columns.
func (r *featureRanks) gather(x []float32, n, from, to int) {
	features := len(x) / n
	r.columns = slices.Grow(r.columns[:0], gathered*n)[:gathered*n]
	columns := r.columns
	for i := range n {
		at := i
		for _, v := range x[i*features+from : i*features+to] {
			columns[at] = v
			at += n
		}
	}
}

// extremes returns the least and the greatest value of a column. To avoid branches, it compares values as integers.
func extremes(column []float32) (least, greatest float64) {
	low, high := int32(math.MaxInt32), int32(math.MinInt32)
	for _, v := range column {
		b := int32(math.Float32bits(v))
		key := b ^ int32(uint32(b>>31)>>1)
		low, high = min(low, key), max(high, key)
	}
	of := func(key int32) float64 {
		return float64(math.Float32frombits(uint32(key ^ int32(uint32(key>>31)>>1))))
	}
	return of(low), of(high)
}

// anyValue returns the measure of the query ranked by sign times the column. Unlike measureSorted, it accepts infinite
// values.
func (r *featureRanks) anyValue(grades []float64, column []float32, sign float64) float64 {
	r.ranker.Ties = measure.TiesAverage
	r.numbers = r.numbers[:0]
	for _, v := range column {
		r.numbers = append(r.numbers, sign*float64(v))
	}
	value, _ := r.ranker.Value(r.measure, grades, r.numbers)
	return value
}

// fewDocs is the largest number of documents for which insertion sort is faster than buckets.
const fewDocs = 24

// sort sets items to the sorted documents of a column with at least two different values.
func (r *featureRanks) sort(column []float32, least, greatest float64) {
	n := len(column)
	r.items, r.spare = slices.Grow(r.items[:0], n)[:n], slices.Grow(r.spare[:0], n)[:n]
	if n <= fewDocs {
		for i, v := range column {
			r.items[i] = item{v, uint32(i)}
		}
		insertItems(r.items, n*n)
		return
	}
	r.spread(column, least, greatest)
	const each = 4
	if !insertItems(r.items, each*n) {
		r.sortDigits()
	}
}

// spread sets items to the documents sorted by bucket. Buckets have equal spans and descending values.
func (r *featureRanks) spread(column []float32, least, greatest float64) {
	n := len(column)
	last := 1<<min(bits.Len(uint(n)), 16) - 1
	r.buckets, r.counts = slices.Grow(r.buckets[:0], n)[:n], slices.Grow(r.counts[:0], last+1)[:last+1]
	buckets, counts := r.buckets, r.counts
	clear(counts)
	scale := float64(last) / (greatest - least)
	for i, v := range column {
		b := uint16((greatest - float64(v)) * scale)
		buckets[i] = b
		counts[b]++
	}
	var end uint32
	for b, c := range counts {
		counts[b] = end
		end += c
	}
	items := r.items
	for i, v := range column {
		b := buckets[i]
		items[counts[b]] = item{v, uint32(i)}
		counts[b]++
	}
}

// insertItems sorts items by insertion. If this takes more than the given number of moves, it stops and returns false,
// and items are partly sorted.
func insertItems(items []item, moves int) bool {
	for i := 1; i < len(items); i++ {
		at, k := items[i], i
		for ; k > 0 && items[k-1].value < at.value; k-- {
			items[k] = items[k-1]
		}
		items[k] = at
		if moves -= i - k; moves < 0 {
			return false
		}
	}
	return true
}

// sortDigits sorts the items by radix sort on the bytes of their values, from the lowest byte on. It skips bytes that
// are equal in all items. Items with equal values keep their order, which is the order of the documents.
func (r *featureRanks) sortDigits() {
	clear(r.digits[:])
	for _, it := range r.items {
		key := kernel.AscendingKey(-it.value)
		for b := range r.digits {
			r.digits[b][uint8(key)]++
			key >>= 8
		}
	}
	for b := range r.digits {
		shift, counts := 8*b, &r.digits[b]
		if int(counts[uint8(kernel.AscendingKey(-r.items[0].value)>>shift)]) == len(r.items) {
			continue
		}
		var end uint32
		for v, c := range counts {
			counts[v] = end
			end += c
		}
		for _, it := range r.items {
			v := uint8(kernel.AscendingKey(-it.value) >> shift)
			r.spare[counts[v]] = it
			counts[v]++
		}
		r.items, r.spare = r.spare, r.items
	}
}

// measureSorted sets the measures of a feature whose documents are sorted in items.
func (r *featureRanks) measureSorted(values []float64, features, f int, grades []float64) {
	n := len(r.items)
	r.ranked, r.ends = slices.Grow(r.ranked[:0], n)[:n], slices.Grow(r.ends[:0], n)[:n]
	ranked, ends, items := r.ranked, r.ends, r.items
	groups := 0
	for i, it := range items[:n-1] {
		ranked[i] = grades[it.doc]
		ends[groups] = i + 1
		if it.value != items[i+1].value {
			groups++
		}
	}
	ranked[n-1], ends[groups] = grades[items[n-1].doc], n
	r.ends = ends[:groups+1]
	values[f], _ = r.measure.Average(ranked, r.ends)
	if len(values) > features {
		r.turn()
		values[features+f], _ = r.measure.Average(r.reversed, r.upside)
	}
}

// turn reverses the order of the groups of equal values in a ranking. From ranked and ends, it sets reversed to the
// grades in the new order and upside to the ends of the groups. Documents of a group keep their order.
func (r *featureRanks) turn() {
	r.reversed, r.upside = r.reversed[:0], r.upside[:0]
	for g := len(r.ends) - 1; g >= 0; g-- {
		from := 0
		if g > 0 {
			from = r.ends[g-1]
		}
		r.reversed = append(r.reversed, r.ranked[from:r.ends[g]]...)
		r.upside = append(r.upside, len(r.reversed))
	}
}
