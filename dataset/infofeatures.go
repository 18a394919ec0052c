package dataset

import (
	"slices"
	"sync"
)

// featureFacts are what a pass over the features tells.
type featureFacts struct {
	missing                   []int  // documents that lack a feature
	variesWhole, variesWithin []bool // whether a feature varies in the set, and within a query
	duplicates                Duplicates
}

func newFeatureFacts(features int) featureFacts {
	return featureFacts{missing: make([]int, features), variesWhole: make([]bool, features), variesWithin: make([]bool, features)}
}

// describeFeatures passes once over the features, in parallel.
func describeFeatures(d *Dataset, threshold float64) featureFacts {
	if d.Docs() == 0 {
		return featureFacts{}
	}
	f := newFeatureFacts(d.Features)
	first := slices.Clone(d.Reader().Query(0).Row(0))
	var joining sync.Mutex
	d.eachPart(func(_, from, to int, rows *RowReader) {
		part := newFeatureFacts(d.Features)
		var find copyFinder
		for i := from; i < to; i++ {
			part.add(rows.Query(i), first, threshold, &find, d.missing > 0)
		}
		joining.Lock()
		defer joining.Unlock()
		f.join(&part)
	})
	return f
}

// add adds a query; first are the features of the set's first document.
func (f *featureFacts) add(q *Query, first []float32, threshold float64, find *copyFinder, missing bool) {
	if missing {
		for k, v := range q.X {
			if isNaN(v) {
				f.missing[k%len(first)]++
			}
		}
	}
	head := q.Row(0)
	for row := range slices.Chunk(q.X, max(len(first), 1)) {
		for j, v := range row {
			f.variesWithin[j] = f.variesWithin[j] || differ(v, head[j])
			f.variesWhole[j] = f.variesWhole[j] || differ(v, first[j])
		}
	}
	f.duplicates.add(q, threshold, find)
}

// join adds the summary of other queries.
func (f *featureFacts) join(o *featureFacts) {
	for j := range f.missing {
		f.missing[j] += o.missing[j]
		f.variesWhole[j] = f.variesWhole[j] || o.variesWhole[j]
		f.variesWithin[j] = f.variesWithin[j] || o.variesWithin[j]
	}
	f.duplicates.Sets += o.duplicates.Sets
	f.duplicates.Documents += o.duplicates.Documents
	f.duplicates.ConflictingGrades += o.duplicates.ConflictingGrades
	f.duplicates.ConflictingRelevance += o.duplicates.ConflictingRelevance
	f.duplicates.RepeatedIDs += o.duplicates.RepeatedIDs
}

// constant returns the numbers, from 1, of the features that are constant in the whole set, and of
// those constant in every query.
func (f *featureFacts) constant() (whole, within []int) {
	whole, within = []int{}, []int{}
	for j := range f.variesWhole {
		if !f.variesWhole[j] {
			whole = append(whole, j+1)
		}
		if !f.variesWithin[j] {
			within = append(within, j+1)
		}
	}
	return whole, within
}

// differ reports whether two values are different; two missing values are equal.
func differ(a, b float32) bool { return a != b && !(isNaN(a) && isNaN(b)) }

// add adds the copies among a query's documents.
func (c *Duplicates) add(q *Query, threshold float64, find *copyFinder) {
	find.vectors(q, func(docs []int) {
		c.Sets++
		c.Documents += len(docs)
		if slices.ContainsFunc(docs, func(j int) bool { return q.Grades[j] != q.Grades[docs[0]] }) {
			c.ConflictingGrades += len(docs)
		}
		if mixed(q.Grades, docs, threshold) {
			c.ConflictingRelevance += len(docs)
		}
	})
	find.ids(q, func(docs []int) { c.RepeatedIDs += len(docs) - 1 })
}
