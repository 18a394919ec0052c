package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// Run is a number of successive documents of one query.
type Run struct {
	ID   string // id of the query
	Docs int    // number of documents
}

// Rows are judged documents in the memory of another program. [FromRows] checks them.
type Rows struct {
	Name         string   // name of the data for messages
	Features     int      // number of columns of X
	FeatureNames []string // one per column, or nil

	X       []float32 // row-major, documents × Features; NaN is a missing value
	Grades  []float64 // one per document
	Weights []float64 // one per document; nil if all are 1
	DocIDs  []string  // one per document, or nil
	Queries []Run     // queries of the documents, in the documents' order; a query may have several runs
	// QueryWeights has the weight of each run's query. It is nil if all are 1.
	QueryWeights []float64
}

// FromRows returns a Dataset of documents in memory. It uses X without a copy, except in two cases. If the
// documents of a query are scattered, it reorders them in a copy and adds a warning. If it replaces missing
// values by the policy MissingZero or MissingMin, it copies X first. Errors are of type [*SyntaxError]; their
// lines are numbers of documents, from 1.
func FromRows(r Rows, m Missing) (*Dataset, error) {
	if err := r.checkShapes(); err != nil {
		return nil, err
	}
	if err := r.checkNumbers(); err != nil {
		return nil, err
	}
	missing, err := r.scan()
	if err != nil {
		return nil, err
	}
	b := Blocks{Features: r.Features, FeatureNames: slices.Clone(r.FeatureNames), X: r.X, Grades: make([]float64, len(r.Grades)), Weights: slices.Clone(r.Weights), Missing: missing}
	for i, g := range r.Grades {
		b.Grades[i] = g + 0 // −0 becomes 0
	}
	if b.Docs, err = r.docIDs(); err != nil {
		return nil, err
	}
	if err := r.cut(&b); err != nil {
		return nil, err
	}
	d := FromBlocks(b)
	if missing == 0 {
		return d, nil
	}
	switch m {
	case MissingError:
		return nil, r.missingError()
	case MissingZero, MissingMin:
		if b.InputRow == nil { // otherwise X is already a copy
			b.X = block.New(len(r.X))
			copy(b.X, r.X)
			d = FromBlocks(b)
		}
		d.TakeMissing(r.Name, m)
	case MissingKeep:
	}
	return d, nil
}

func (r *Rows) bad(document int, expected, found string, args ...any) error {
	return &SyntaxError{File: r.Name, Line: document, Found: fmt.Sprintf(found, args...), Expected: expected}
}

// checkShapes returns an error unless all fields have the same number of documents.
func (r *Rows) checkShapes() error {
	n := len(r.Grades)
	docs := 0
	for _, q := range r.Queries {
		docs += q.Docs
	}
	switch {
	case n == 0:
		return r.bad(0, "one at least", "no documents")
	case r.Features < 0 || len(r.X) != n*r.Features:
		return r.bad(0, fmt.Sprintf("%d × %d", n, r.Features), "%d values of features", len(r.X))
	case r.FeatureNames != nil && len(r.FeatureNames) != r.Features:
		return r.bad(0, strconv.Itoa(r.Features), "%d names of features", len(r.FeatureNames))
	case slices.ContainsFunc(r.FeatureNames, func(name string) bool { return !utf8.ValidString(name) }):
		return r.bad(0, "text in UTF-8", "a name of a feature that is not UTF-8")
	case docs != n:
		return r.bad(0, fmt.Sprintf("those of %d", n), "the queries of %d documents", docs)
	case r.Weights != nil && len(r.Weights) != n:
		return r.bad(0, strconv.Itoa(n), "%d weights of documents", len(r.Weights))
	case r.DocIDs != nil && len(r.DocIDs) != n:
		return r.bad(0, strconv.Itoa(n), "%d ids of documents", len(r.DocIDs))
	case r.QueryWeights != nil && len(r.QueryWeights) != len(r.Queries):
		return r.bad(0, strconv.Itoa(len(r.Queries)), "%d weights of queries", len(r.QueryWeights))
	}
	return nil
}

// checkNumbers checks grades and weights.
func (r *Rows) checkNumbers() error {
	for i, g := range r.Grades {
		if !(g >= 0) || math.IsInf(g, 1) {
			return r.bad(i+1, "a finite non-negative number", "the grade %v", g)
		}
	}
	for i, w := range r.Weights {
		if err := CheckWeight(w); err != nil {
			return r.bad(i+1, "a finite number that is not negative", "the weight %v", w)
		}
	}
	document := 1
	for i, w := range r.QueryWeights {
		if err := CheckWeight(w); err != nil {
			return r.bad(document, "a finite number that is not negative", "the weight %v of query %q", w, r.Queries[i].ID)
		}
		document += r.Queries[i].Docs
	}
	if len(r.Weights) > 0 && slices.Max(r.Weights) == 0 {
		return r.bad(0, "one document at least with another one", "the weight 0 of all documents")
	}
	if len(r.QueryWeights) > 0 && slices.Max(r.QueryWeights) == 0 {
		return r.bad(0, "one query at least with another one", "the weight 0 of all queries")
	}
	return nil
}

// scan returns the number of missing values, or an error about an infinite value.
func (r *Rows) scan() (missing int, err error) {
	const part = 1 << 16
	n := (len(r.X) + part - 1) / part
	holes, infinite := make([]int, n), make([]int, n)
	parallel.For(n, 0, func(_, i int) {
		infinite[i] = -1
		holes[i], infinite[i] = scan(r.X[i*part : min((i+1)*part, len(r.X))])
	})
	for i := range n {
		if at := infinite[i]; at >= 0 {
			at += i * part
			return 0, r.bad(at/r.Features+1, "a finite number, or NaN for a missing one", "the value %v of feature %s", r.X[at], r.featureText(at%r.Features))
		}
		missing += holes[i]
	}
	return missing, nil
}

// scan returns the number of NaN and the index of the first infinite value, or −1. It stops at an infinite
// value.
func scan(x []float32) (missing, infinite int) {
	for i, v := range x {
		if v-v == 0 { // finite
			continue
		}
		if v == v {
			return missing, i
		}
		missing++
	}
	return missing, -1
}

func (r *Rows) featureText(feature int) string {
	d := Dataset{FeatureNames: r.FeatureNames}
	return d.FeatureText(feature)
}

// missingError returns the error about the first missing value.
func (r *Rows) missingError() error {
	at := slices.IndexFunc(r.X, isNaN)
	return r.bad(at/r.Features+1, "a finite number (or an option that says what missing ones become)", "no value (NaN) of feature %s", r.featureText(at%r.Features))
}

func (r *Rows) docIDs() (DocIDs, error) {
	if r.DocIDs == nil {
		return DocIDs{}, nil
	}
	total := 0
	for i, id := range r.DocIDs {
		if what := wrongID(id); what != "" {
			return DocIDs{}, r.bad(i+1, "an id "+what, "the document id %q", id)
		}
		total += len(id)
	}
	if total > math.MaxUint32 {
		return DocIDs{}, r.bad(0, "at most 4 GiB of them", "document ids of %d bytes", total)
	}
	text, end := make([]byte, 0, total), make([]uint32, len(r.DocIDs))
	for i, id := range r.DocIDs {
		text = append(text, id...)
		end[i] = uint32(len(text))
	}
	return DocIDs{Text: string(text), End: end}, nil
}

// wrongID returns the property that an invalid id should have, or "" if the id is valid.
func wrongID(id string) string {
	switch {
	case !utf8.ValidString(id):
		return "in UTF-8"
	case slices.ContainsFunc([]rune(id), unicode.IsControl):
		return "without control characters"
	}
	return ""
}

// cut sets the queries of b. It reorders the documents if those of a query are scattered.
func (r *Rows) cut(b *Blocks) error {
	number := make(map[string]int, len(r.Queries))
	of := make([]int, len(r.Queries)) // index of each run's query
	scattered, first := make(map[int]bool), ""
	document, last := 1, -1
	for i, run := range r.Queries {
		if run.Docs < 1 {
			return r.bad(document, "one at least", "%d documents of query %q", run.Docs, run.ID)
		}
		if what := wrongID(run.ID); what != "" || run.ID == "" {
			return r.bad(document, "an id "+orNotEmpty(what), "the query %q", run.ID)
		}
		q, known := number[run.ID]
		if !known {
			q = len(b.IDs)
			number[run.ID] = q
			b.IDs, b.Counts = append(b.IDs, run.ID), append(b.Counts, 0)
			if r.QueryWeights != nil {
				b.QueryWeights = append(b.QueryWeights, r.QueryWeights[i])
			}
		} else if r.QueryWeights != nil && b.QueryWeights[q] != r.QueryWeights[i] {
			return r.bad(document, fmt.Sprintf("%v as before", b.QueryWeights[q]), "the weight %v of query %q", r.QueryWeights[i], run.ID)
		}
		if known && q != last && !scattered[q] {
			if scattered[q] = true; first == "" {
				first = run.ID
			}
		}
		of[i], last = q, q
		b.Counts[q] += run.Docs
		document += run.Docs
	}
	if len(scattered) > 0 {
		b.Warnings = append(b.Warnings, ScatteredWarning(r.Name, len(scattered), first))
		r.gather(b, of)
	}
	return nil
}

func orNotEmpty(what string) string {
	if what == "" {
		return "that is not empty"
	}
	return what
}

// gather replaces the blocks of b by copies in which the documents of each query are adjacent. The argument of
// is the index of each run's query.
func (r *Rows) gather(b *Blocks, of []int) {
	next := make([]int, len(b.Counts))
	for q := 1; q < len(next); q++ {
		next[q] = next[q-1] + b.Counts[q-1]
	}
	b.InputRow = make([]int, len(r.Grades))
	x, grades := block.New(len(r.X)), make([]float64, len(b.Grades))
	var weights []float64
	if b.Weights != nil {
		weights = make([]float64, len(b.Weights))
	}
	from := 0
	for i, run := range r.Queries {
		to := next[of[i]]
		next[of[i]] += run.Docs
		copy(x[to*r.Features:], r.X[from*r.Features:(from+run.Docs)*r.Features])
		copy(grades[to:], b.Grades[from:from+run.Docs])
		if weights != nil {
			copy(weights[to:], b.Weights[from:from+run.Docs])
		}
		for k := range run.Docs {
			b.InputRow[to+k] = from + k
		}
		from += run.Docs
	}
	b.X, b.Grades, b.Weights, b.Docs = x, grades, weights, b.Docs.Pick(b.InputRow)
}
