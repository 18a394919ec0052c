package dataset

import (
	"slices"
	"strings"
)

// copyFinder finds the documents of a query that have the same features or identifier. It reuses its memory
// for the next query.
type copyFinder struct {
	order []int
	group []int
}

// vectors calls visit for every set of two or more documents of q with the same feature vector. 0 and −0 are
// the same. The documents of a set are ascending.
func (c *copyFinder) vectors(q *Query, visit func(docs []int)) {
	if q.Len() < 2 || len(q.X) == 0 {
		return
	}
	c.sets(q.Len(), func(i, j int) int { return slices.Compare(q.Row(i), q.Row(j)) }, visit)
}

// ids calls visit for every set of two or more documents of q with the same identifier. The documents of a set
// are ascending.
func (c *copyFinder) ids(q *Query, visit func(docs []int)) {
	if q.docs.End == nil {
		return
	}
	compare := func(i, j int) int { return strings.Compare(q.DocID(i), q.DocID(j)) }
	c.sets(q.Len(), compare, func(docs []int) {
		if q.DocID(docs[0]) != "" {
			visit(docs)
		}
	})
}

// sets calls visit for every set of two or more numbers below n that compare as equal.
func (c *copyFinder) sets(n int, compare func(i, j int) int, visit func(docs []int)) {
	c.order = c.order[:0]
	for i := range n {
		c.order = append(c.order, i)
	}
	slices.SortStableFunc(c.order, compare)
	for from := 0; from < n; {
		to := from + 1
		for to < n && compare(c.order[from], c.order[to]) == 0 {
			to++
		}
		if to-from > 1 {
			c.group = append(c.group[:0], c.order[from:to]...)
			visit(c.group)
		}
		from = to
	}
}

// mixed reports whether some of the documents are relevant and others are not.
func mixed(grades []float64, docs []int, threshold float64) bool {
	first := grades[docs[0]] >= threshold
	for _, i := range docs[1:] {
		if (grades[i] >= threshold) != first {
			return true
		}
	}
	return false
}

// HasDocIDs reports whether any document has an identifier.
func (d *Dataset) HasDocIDs() bool {
	return slices.ContainsFunc(d.Queries, func(q Query) bool {
		for i := range q.Len() {
			if q.DocID(i) != "" {
				return true
			}
		}
		return false
	})
}
