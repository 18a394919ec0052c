package dataset

import (
	"math"
	"slices"
	"strings"
)

// Judged and retrieved documents may differ. At TREC, for example, systems search a collection, and assessors
// judge only a part of it. A Dataset then has both. Documents that nobody judged have the grade [Unjudged].
// Documents that a system did not return have the score [NotRetrieved].

// Unjudged is the grade of a document that nobody judged. It is −0, which equals 0 in arithmetic and
// comparisons. So such a document counts as irrelevant, unless code calls [IsUnjudged].
var Unjudged = math.Copysign(0, -1)

// IsUnjudged reports whether a grade is Unjudged. Readers of graded documents store −0 as 0.
func IsUnjudged(grade float64) bool { return grade == 0 && math.Signbit(grade) }

// NotRetrieved is the score −∞ of a document that a system did not return for a query. Such a document has no
// rank.
var NotRetrieved = math.Inf(-1)

// AllJudged reports whether all documents have a judgement.
func (d *Dataset) AllJudged() bool {
	for _, g := range d.grades {
		if IsUnjudged(g) {
			return false
		}
	}
	return true
}

// ByDocID returns the indices of the documents in descending byte order of their identifiers. Documents with
// equal identifiers keep the order of the rows.
func (q *Query) ByDocID() []int {
	order := make([]int, q.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(q.DocID(j), q.DocID(i)) })
	return order
}
