package dataset

import (
	"math"
	"slices"
	"strings"
)

// Judged documents and retrieved ones need not be the same, where systems searched a collection of which a part
// was judged, as at TREC. A Dataset then holds both. Documents that nobody judged have the grade [Unjudged], and
// documents that a system did not return have the score [NotRetrieved].

// Unjudged is the grade of a document that nobody judged. It is −0, the number 0 to all
// arithmetic and comparisons, so that such a document counts as irrelevant except where
// judgements themselves are asked for: see [IsUnjudged].
var Unjudged = math.Copysign(0, -1)

// IsUnjudged reports whether a grade is Unjudged. Readers of files of graded documents give
// the grade 0 to what they find as −0.
func IsUnjudged(grade float64) bool { return grade == 0 && math.Signbit(grade) }

// NotRetrieved is the score, −∞, of a document that a system did not return for a query: it
// has no rank.
var NotRetrieved = math.Inf(-1)

// AllJudged reports whether no document is without judgement.
func (d *Dataset) AllJudged() bool {
	for _, g := range d.grades {
		if IsUnjudged(g) {
			return false
		}
	}
	return true
}

// ByDocID returns the documents in descending order of the bytes of their identifiers. Documents of equal
// identifiers keep the order of the rows.
func (q *Query) ByDocID() []int {
	order := make([]int, q.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(q.DocID(j), q.DocID(i)) })
	return order
}
