package boost

import (
	"cmp"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// arrangement lists the documents of the queries that have pairs of different
// grades, query by query and by increasing grade within each. The documents that a
// document is better than are then a contiguous stretch, and so is each level, the
// documents of one grade.
type arrangement struct {
	rows    []int // of the data set, one a document
	queries []levels
	longest int // documents of a query
}

// levels is a query: level k are the documents start[k] ≤ i < start[k+1].
type levels struct {
	start  []int
	weight float64 // of each of its pairs; the weights of all pairs add up to 1
}

func (q *levels) from() int  { return q.start[0] }
func (q *levels) to() int    { return q.start[len(q.start)-1] }
func (q *levels) count() int { return len(q.start) - 1 }

// pairs returns the number of pairs of different grades.
func (q *levels) pairs() float64 {
	var n float64
	for k := 1; k < q.count(); k++ {
		n += float64(q.start[k]-q.from()) * float64(q.start[k+1]-q.start[k])
	}
	return n
}

func arrange(d *dataset.Dataset, perQuery bool) *arrangement {
	a := new(arrangement)
	var pairs float64
	for i := range d.Queries {
		q := &d.Queries[i]
		start := a.add(q)
		if len(start) < 3 {
			a.rows = a.rows[:start[0]]
			continue
		}
		a.longest = max(a.longest, q.Len())
		a.queries = append(a.queries, levels{start: start})
		pairs += a.queries[len(a.queries)-1].pairs()
	}
	for i := range a.queries {
		q := &a.queries[i]
		q.weight = 1 / pairs
		if perQuery {
			q.weight = 1 / (q.pairs() * float64(len(a.queries)))
		}
	}
	return a
}

// add appends the query's documents by increasing grade, those of a grade in the
// order of the data, and returns the starts of its levels and the end.
func (a *arrangement) add(q *dataset.Query) []int {
	from := len(a.rows)
	for i := range q.Len() {
		a.rows = append(a.rows, q.Start+i)
	}
	rows := a.rows[from:]
	grade := func(row int) float64 { return q.Grades[row-q.Start] }
	slices.SortStableFunc(rows, func(r, s int) int { return cmp.Compare(grade(r), grade(s)) })
	start := []int{from}
	for i := 1; i < len(rows); i++ {
		if grade(rows[i]) != grade(rows[i-1]) {
			start = append(start, from+i)
		}
	}
	return append(start, from+len(rows))
}
