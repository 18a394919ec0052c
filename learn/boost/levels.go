package boost

import (
	"cmp"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
)

// arrangement lists the documents of all queries that have documents with different grades. Documents are ordered by
// query and, within a query, by increasing grade. A level is the set of the documents of a query with the same grade.
// So the documents of a level are contiguous, and so are all documents of a query with lower grades than a level.
type arrangement struct {
	rows    []int // row in the data set of each document
	queries []levels
	longest int // largest number of documents of a query

	weights    []float64 // weights of the documents, indexed like rows; nil if all are 1
	logWeights []float64 // logarithms of weights
}

// levels describes the levels of a query. Level k has the documents start[k] ≤ i < start[k+1].
type levels struct {
	start  []int
	number int     // index of the query in the data set
	weight float64 // weight of each pair of the query, to be multiplied by the weights of its documents; the weights of all pairs then add up to 1
}

func (q *levels) from() int  { return q.start[0] }
func (q *levels) to() int    { return q.start[len(q.start)-1] }
func (q *levels) count() int { return len(q.start) - 1 }

// pairs returns the number of pairs of documents with different grades.
func (q *levels) pairs() float64 {
	var n float64
	for k := 1; k < q.count(); k++ {
		n += float64(float64(q.start[k]-q.from()) * float64(q.start[k+1]-q.start[k]))
	}
	return n
}

// arrange returns the arrangement of a data set, without queries and documents of weight 0. perQuery is
// Options.PerQuery.
func arrange(d *dataset.Dataset, perQuery bool) *arrangement {
	a := &arrangement{rows: make([]int, 0, d.Docs())}
	var pairs, queries float64
	var weights []float64 // of the queries
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.Weight() == 0 {
			continue
		}
		start := a.add(q)
		if len(start) < 3 {
			a.rows = a.rows[:start[0]]
			continue
		}
		a.longest = max(a.longest, q.Len())
		a.queries = append(a.queries, levels{start: start, number: i})
		weights = append(weights, q.Weight())
	}
	a.weighDocuments(d)
	for i, w := range weights {
		pairs += float64(w * a.pairs(&a.queries[i]))
		queries += w
	}
	for i, w := range weights {
		q := &a.queries[i]
		q.weight = w / pairs
		if perQuery {
			q.weight = w / (a.pairs(q) * queries)
		}
	}
	return a
}

// weighDocuments sets the weights of the documents and the logarithms of these weights.
func (a *arrangement) weighDocuments(d *dataset.Dataset) {
	if d.Weights() == nil {
		return
	}
	a.weights, a.logWeights = make([]float64, len(a.rows)), make([]float64, len(a.rows))
	for i, row := range a.rows {
		a.weights[i] = d.Weights()[row]
		a.logWeights[i] = elementary.Log(a.weights[i])
	}
}

// pairs returns the total weight of the pairs of a query: the sum over pairs of the product of their documents'
// weights. Without document weights it is the number of pairs.
func (a *arrangement) pairs(q *levels) float64 {
	if a.weights == nil {
		return q.pairs()
	}
	var sum, worse float64
	for k := range q.count() {
		level := total(a.weights[q.start[k]:q.start[k+1]])
		sum += float64(worse * level)
		worse += level
	}
	return sum
}

// add appends the documents of a query by increasing grade. It returns the starts of the levels and the end of the
// last level. Documents of the same grade keep their order.
func (a *arrangement) add(q *dataset.Query) []int {
	from := len(a.rows)
	for i := range q.Len() {
		if q.Weights() == nil || q.Weights()[i] > 0 {
			a.rows = append(a.rows, q.Start+i)
		}
	}
	rows := a.rows[from:]
	grade := func(row int) float64 { return q.Grades[row-q.Start] }
	slices.SortStableFunc(rows, func(r, s int) int { return cmp.Compare(grade(r), grade(s)) })
	start := []int{from}
	if len(rows) == 0 {
		return start
	}
	for i := 1; i < len(rows); i++ {
		if grade(rows[i]) != grade(rows[i-1]) {
			start = append(start, from+i)
		}
	}
	return append(start, from+len(rows))
}
