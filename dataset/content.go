package dataset

import (
	"math"
	"strconv"
)

// Content returns a key of the query's content: its grades and its feature vectors, in order. Names do not
// count, neither the query's nor its documents'. Training draws by it, so that renamed queries give the same
// model. Two different queries have the same key with probability 2^-64. The features must be in memory; see
// [Dataset.Contents].
func (q *Query) Content() string { return contentKey(q.content(q.X)) }

// content is the number that Content spells, of a query with the features x.
func (q *Query) content(x []float32) uint64 {
	h := mixer(hashOffset)
	h.mix(uint64(q.Len()))
	for _, g := range q.Grades {
		h.mix(math.Float64bits(g + 0))
	}
	for _, v := range x {
		if v != v {
			v = float32(math.NaN()) // the same bits for every NaN
		}
		h.mix(uint64(math.Float32bits(v + 0)))
	}
	return uint64(h)
}

func contentKey(content uint64) string { return strconv.FormatUint(content, 16) }

// Contents returns a function of the queries' [Query.Content], by their number. It reads all
// features once.
func (d *Dataset) Contents() func(query int) string {
	contents := make([]uint64, len(d.Queries))
	d.eachPart(func(_, from, to int, rows *RowReader) {
		for i := from; i < to; i++ {
			contents[i] = d.Queries[i].content(rows.At(i))
		}
	})
	return func(query int) string { return contentKey(contents[query]) }
}
