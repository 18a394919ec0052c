package explain

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Set contains the contributions to the scores of many documents.
type Set struct {
	Queries []int     // indices of the queries in the data, in ascending order
	Docs    []Place   // documents of these queries
	Parts   []float64 // row-major, documents × terms
	Terms   int
}

// Place identifies a document by the index of its query in the data and its row within the query.
type Place struct{ Query, Row int }

// ExplainSet explains the scores of whole queries of d. It draws random queries until their number of
// documents reaches most. It explains all queries if most is 0 or d has fewer documents.
func (e *Explainer) ExplainSet(ctx context.Context, d *dataset.Dataset, most int, seed uint64) (*Set, error) {
	s := &Set{Terms: len(e.terms)}
	total := 0
	for _, i := range random.Stream(seed, "explain queries", "").Perm(len(d.Queries)) {
		if most > 0 && total >= most {
			break
		}
		s.Queries = append(s.Queries, i)
		total += d.Queries[i].Len()
	}
	if err := checkCells("a set", total, s.Terms, 16); err != nil { // 16 bytes, because the contributions are copied
		return nil, err
	}
	slices.Sort(s.Queries)
	explained, errs := make([]*Query, len(s.Queries)), make([]error, len(s.Queries))
	parallel.For(len(s.Queries), 0, func(_, k int) {
		if errs[k] = ctx.Err(); errs[k] == nil {
			explained[k], errs[k] = e.Explain(&d.Queries[s.Queries[k]])
		}
	})
	for k, i := range s.Queries {
		if errs[k] != nil {
			return nil, errs[k]
		}
		for row := range d.Queries[i].Len() {
			s.Docs = append(s.Docs, Place{i, row})
		}
		s.Parts = append(s.Parts, explained[k].Parts...)
	}
	return s, d.Changed()
}

// Row returns the contributions to the score of the document Docs[doc].
func (s *Set) Row(doc int) []float64 { return s.Parts[doc*s.Terms : (doc+1)*s.Terms] }

// Sizes returns the mean absolute contribution of every term.
func (s *Set) Sizes() []float64 {
	sizes := make([]float64, s.Terms)
	for doc := range s.Docs {
		for j, v := range s.Row(doc) {
			sizes[j] += math.Abs(v) / float64(len(s.Docs))
		}
	}
	return sizes
}

// mostBytes limits the memory for the contributions of a query or a set. A short model file can ask for
// any number of features.
const mostBytes = 1 << 30

// importanceBytes is the approximate memory for one feature's importance.
const importanceBytes = 256

// checkWidth returns an error if the features and contributions of the longest query need more than
// mostBytes.
func checkWidth(features int, d *dataset.Dataset) error {
	longest := 0
	for i := range d.Queries {
		longest = max(longest, d.Queries[i].Len())
	}
	return checkCells("a query", longest, features, 12) // a float32 and a float64
}

// checkCells returns an error if a matrix of rows × columns needs more than mostBytes. bytes is the
// size of a cell.
func checkCells(what string, rows, columns, bytes int) error {
	if size := float64(rows) * float64(columns) * float64(bytes); size > mostBytes {
		return fmt.Errorf("found %d documents of %d features: to explain %s of them would take %.0f GiB, and at most %d are taken", rows, columns, what, size/(1<<30), mostBytes>>30)
	}
	return nil
}
