package dataset

import (
	"math"
	"strconv"
)

// Content returns a key of the query's grades and feature vectors, in order. It does not depend on the ids of
// the query and its documents. Training uses the key for random draws, so renamed queries give the same model.
// Two different queries have the same key with probability 2^-64. The features must be in memory; see
// [Dataset.Contents].
func (q *Query) Content() string { return contentKey(q.content(q.X)) }

// content returns the number that Content formats. x are the features of the query.
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

// Contents returns a function from the index of a query to its [Query.Content]. It reads all features once.
func (d *Dataset) Contents() func(query int) string {
	contents := make([]uint64, len(d.Queries))
	d.eachPart(func(_, from, to int, rows *RowReader) {
		for i := from; i < to; i++ {
			contents[i] = d.Queries[i].content(rows.At(i))
		}
	})
	return func(query int) string { return contentKey(contents[query]) }
}
