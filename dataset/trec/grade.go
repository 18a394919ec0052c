package trec

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
)

// Unjudged is the policy for documents that have features but no judgement.
type Unjudged int

const (
	// UnjudgedError makes such a document an error.
	UnjudgedError Unjudged = iota

	// UnjudgedZero makes an unjudged document irrelevant.
	UnjudgedZero

	// UnjudgedDrop omits unjudged documents.
	UnjudgedDrop

	// UnjudgedKeep leaves it unjudged: its grade is [dataset.Unjudged].
	UnjudgedKeep
)

var unjudgedNames = []string{"error", "zero", "drop", "keep"}

// String returns the name that ParseUnjudged reads.
func (u Unjudged) String() string { return unjudgedNames[u] }

// ParseUnjudged reads error, zero, drop or keep.
func ParseUnjudged(name string) (Unjudged, error) {
	if i := slices.Index(unjudgedNames, name); i >= 0 {
		return Unjudged(i), nil
	}
	return 0, fmt.Errorf("found %q%s", name, suggest.Or(name, unjudgedNames, ", expected error, zero, drop or keep"))
}

// Of returns the grade of an unjudged document; keep is false if it is left out. An error is a [*dataset.FormatError]
// that names the document.
func (u Unjudged) Of(query, doc string) (grade float64, keep bool, err error) {
	switch u {
	case UnjudgedError:
		return 0, false, &dataset.FormatError{
			Found:    fmt.Sprintf("document %q of query %q without a judgement", doc, query),
			Expected: "one for every document of the data, or --unjudged zero (it counts as irrelevant), drop (it is left out) or keep (its grade is empty)",
		}
	case UnjudgedKeep:
		return dataset.Unjudged, true, nil
	}
	return 0, u == UnjudgedZero, nil
}

// Graded has the counts of [Grade].
type Graded struct {
	Judged   int // documents of the data that have a judgement
	Unjudged int // documents of the data without a judgement
	Absent   int // judged documents that are not in the data
	Queries  int // queries of the data without any judged document
}

// Grade replaces the grades of data by the judgements, which it finds by query and document id. If the judgements
// have document weights, they replace those of data, and unjudged documents have the weight 1. Grade overwrites
// the grades and weights of data. It is an error if ids do not identify the documents, or if no document is judged. With
// UnjudgedError, an unjudged document is an error. With UnjudgedDrop, Grade omits unjudged documents, and
// queries without judged documents.
func Grade(data, judged *dataset.Dataset, unjudged Unjudged) (*dataset.Dataset, Graded, error) {
	if err := joinable(data); err != nil {
		return nil, Graded{}, err
	}
	queries := make(map[string]*dataset.Query, len(judged.Queries))
	for i := range judged.Queries {
		queries[judged.Queries[i].ID] = &judged.Queries[i]
	}
	grades, n := make([]float64, data.Docs()), Graded{}
	var weights []float64
	if judged.Weights() != nil {
		weights = make([]float64, data.Docs())
	}
	for i := range data.Queries {
		q := &data.Queries[i]
		own, found, err := gradesOf(q, queries[q.ID], unjudged)
		if err != nil {
			return nil, n, err
		}
		copy(grades[q.Start:], own)
		if weights != nil {
			weigh(weights[q.Start:q.Start+q.Len()], q, queries[q.ID])
		}
		n.Judged += found
		n.Unjudged += len(own) - found
		if found == 0 {
			n.Queries++
		}
	}
	n.Absent = judged.Docs() - n.Judged
	if n.Judged == 0 {
		return nil, n, fmt.Errorf("found no judged document among the data's, such as %q of query %q, expected the ids of the judgements, such as %q of query %q",
			data.Queries[0].DocID(0), data.Queries[0].ID, judged.Queries[0].DocID(0), judged.Queries[0].ID)
	}
	if weights != nil {
		if err := data.Weigh(data.QueryWeights(), weights); err != nil {
			return nil, n, err
		}
	}
	d := data
	if unjudged == UnjudgedDrop && n.Unjudged > 0 {
		d = data.KeepDocs(func(query, doc int) bool { return !dataset.IsUnjudged(grades[data.Queries[query].Start+doc]) })
		grades = slices.DeleteFunc(grades, dataset.IsUnjudged)
	}
	for row, g := range grades {
		if unjudged != UnjudgedKeep {
			g += 0 // 0 for those without judgement
		}
		d.Grades()[row] = g
	}
	d.Modified()
	return d, n, nil
}

// weigh writes the weights of a query's documents by judged, which may be nil. Documents that are not in it have the
// weight 1.
func weigh(weights []float64, q, judged *dataset.Query) {
	of := make(map[string]float64)
	if judged != nil {
		for j := range judged.Len() {
			of[judged.DocID(j)] = 1
			if judged.Weights() != nil {
				of[judged.DocID(j)] = judged.Weights()[j]
			}
		}
	}
	for j := range weights {
		w, ok := of[q.DocID(j)]
		if !ok {
			w = 1
		}
		weights[j] = w
	}
}

// gradesOf returns the grades of a query's documents and the number of judged documents. The grade is
// dataset.Unjudged for documents that are not in judged, which may be nil.
func gradesOf(q, judged *dataset.Query, unjudged Unjudged) (grades []float64, found int, err error) {
	of := make(map[string]float64)
	if judged != nil {
		for j := range judged.Len() {
			of[judged.DocID(j)] = judged.Grades[j]
		}
	}
	grades = make([]float64, q.Len())
	for j := range grades {
		g, ok := of[q.DocID(j)]
		if ok {
			found++
		} else if _, _, err := unjudged.Of(q.ID, q.DocID(j)); err != nil {
			return nil, 0, err
		} else {
			g = dataset.Unjudged
		}
		grades[j] = g
	}
	return grades, found, nil
}
