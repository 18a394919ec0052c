package trec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/parallel"
)

// Pool returns a data set for measuring runs, without features. Each query of the judgements has its judged
// documents and all other documents that a run has for it. The latter have the grade [dataset.Unjudged].
// Documents are in descending order of their identifiers, the order in which trec_eval ranks documents of
// equal score. An element of runs may be nil. Queries without judgements are omitted. Queries keep their
// weights. Weights of documents are omitted, because no measure uses them.
func Pool(judged *dataset.Dataset, runs ...*Run) (*dataset.Dataset, error) {
	if err := joinable(judged); err != nil {
		return nil, err
	}
	b := dataset.Blocks{Warnings: judged.Warnings, QueryWeights: judged.QueryWeights()}
	for i := range judged.Queries {
		b.IDs = append(b.IDs, judged.Queries[i].ID)
	}
	return gather(b, judged.Queries, runs)
}

// UnjudgedQueries returns a data set of the queries that occur in runs but not in judged, which may be nil. A
// query has all documents that the runs have for it, with the grade [dataset.Unjudged]. Queries are in the
// order of the runs. The result is nil if there is no such query.
func UnjudgedQueries(judged *dataset.Dataset, runs ...*Run) (*dataset.Dataset, error) {
	known := make(map[string]bool)
	if judged != nil {
		for i := range judged.Queries {
			known[judged.Queries[i].ID] = true
		}
	}
	var b dataset.Blocks
	for _, r := range runs {
		for _, id := range r.queries {
			if !known[id] {
				known[id] = true
				b.IDs = append(b.IDs, id)
			}
		}
	}
	if b.IDs == nil {
		return nil, nil
	}
	return gather(b, make([]dataset.Query, len(b.IDs)), runs)
}

// gather completes b, which has the ids of the queries. It adds the documents that are judged or that a run
// has.
func gather(b dataset.Blocks, judged []dataset.Query, runs []*Run) (*dataset.Dataset, error) {
	pools := make([][]pooled, len(b.IDs))
	parallel.For(len(pools), parallel.Workers(0, len(pools)), func(_, i int) {
		pools[i] = pool(b.IDs[i], &judged[i], runs)
	})
	var text strings.Builder
	for i := range pools {
		b.Counts = append(b.Counts, len(pools[i]))
		for _, p := range pools[i] {
			text.WriteString(p.doc)
			b.Docs.End = append(b.Docs.End, uint32(text.Len()))
			b.Grades = append(b.Grades, p.grade)
		}
		pools[i] = nil
		if int64(text.Len()) != int64(uint32(text.Len())) {
			return nil, errors.New("found document ids of more than 4 GiB, expected fewer or shorter ones")
		}
	}
	b.Docs.Text = text.String()
	return dataset.FromBlocks(b), nil
}

type pooled struct {
	doc   string
	grade float64
}

// pool returns the judged documents of a query and the documents of runs, each once.
func pool(id string, q *dataset.Query, runs []*Run) []pooled {
	n := q.Len()
	for _, r := range runs {
		if r != nil {
			docs, _ := r.sizeOf(id)
			n += docs
		}
	}
	all := make([]pooled, q.Len(), n)
	for i := range all {
		all[i] = pooled{q.DocID(i), q.Grades[i]}
	}
	for _, r := range runs {
		if r != nil {
			r.Each(id, func(doc string, _ float64) { all = append(all, pooled{doc, dataset.Unjudged}) })
		}
	}
	// The judged entry of a document comes first and is kept.
	slices.SortStableFunc(all, func(a, b pooled) int { return strings.Compare(b.doc, a.doc) })
	return slices.CompactFunc(all, func(a, b pooled) bool { return a.doc == b.doc })
}

// joinable returns an error unless query and document ids identify all documents.
func joinable(d *dataset.Dataset) error {
	seen := make(map[string]bool)
	for i := range d.Queries {
		q := &d.Queries[i]
		if descending(q) {
			continue
		}
		clear(seen)
		for j := range q.Len() {
			id := q.DocID(j)
			switch {
			case id == "":
				return fmt.Errorf("found document %d of query %s of the data without an identifier, expected one for every document to join by", j+1, q.ID)
			case seen[id]:
				return fmt.Errorf("found document %q of query %s of the data twice, expected every document of a query once to join by", id, q.ID)
			}
			seen[id] = true
		}
	}
	return nil
}

// descending reports whether a query's identifiers strictly descend, as in the result of Pool. If so, they are
// different. It also checks that the last one, which alone could be empty, is not.
func descending(q *dataset.Query) bool {
	for j := 1; j < q.Len(); j++ {
		if q.DocID(j-1) <= q.DocID(j) {
			return false
		}
	}
	return q.DocID(q.Len()-1) != ""
}

// Missed counts the queries and documents that a join cannot match.
type Missed struct {
	Queries   int // queries of the run that are not in the data
	Documents int // documents of the run that are not in the data, in queries that are
	Empty     int // queries of the data for which the run has no document
}

// Joined has the scores of a run for the documents of a data set, one element per row.
type Joined struct {
	Scores []float64 // [dataset.NotRetrieved] for documents that the run does not have
	Places []uint32  // position among the query's lines of the run, from 0; 0 for documents not in the run
	Missed Missed
}

// Join returns the scores of the run for the documents of d. It is an error if ids do not identify the
// documents of d, or if the run has none of them.
func (r *Run) Join(d *dataset.Dataset) (*Joined, error) {
	if err := joinable(d); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	j, common, found := r.lookUp(d)
	switch {
	case common == 0:
		return nil, fmt.Errorf("%s: found no query of the data among the run's %d, such as %q, expected the same ids as in the data, such as %q", r.Name, len(r.queries), r.queries[0], d.Queries[0].ID)
	case found == 0:
		return nil, fmt.Errorf("%s: found no document of the data among the run's, such as %q, expected the same ids as in the data, such as %q", r.Name, r.docs.At(0), d.Queries[0].DocID(0))
	}
	return j, nil
}

// LookUp returns the scores of the run for d, which [UnjudgedQueries] returned. Unlike Join, it accepts a run
// that has no document of d.
func (r *Run) LookUp(d *dataset.Dataset) *Joined {
	j, _, _ := r.lookUp(d)
	return j
}

// lookUp returns the scores of the run for d. common is the number of queries that both have, and found the
// number of documents that both have.
func (r *Run) lookUp(d *dataset.Dataset) (j *Joined, common, found int) {
	j = &Joined{Scores: make([]float64, d.Docs()), Places: make([]uint32, d.Docs())}
	workers := parallel.Workers(0, len(d.Queries))
	rows, matches := make([]map[string]int, workers), make([]match, len(d.Queries))
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		if rows[worker] == nil {
			rows[worker] = make(map[string]int)
		}
		clear(rows[worker])
		matches[i] = j.join(r, &d.Queries[i], rows[worker])
	})
	for _, m := range matches {
		found += m.found
		j.Missed.Documents += m.other
		if m.found+m.other > 0 {
			common++
		}
		if m.found == 0 {
			j.Missed.Empty++
		}
	}
	j.Missed.Queries = len(r.queries) - common
	return j, common, found
}

// match counts the documents that a run has for a query. found are in the data, and other are not.
type match struct{ found, other int }

// join sets the scores of a query's documents. rows is reused memory.
func (j *Joined) join(r *Run, q *dataset.Query, rows map[string]int) match {
	for i := range q.Len() {
		rows[q.DocID(i)] = q.Start + i
		j.Scores[q.Start+i] = dataset.NotRetrieved
	}
	var m match
	r.Each(q.ID, func(doc string, score float64) {
		if row, ok := rows[doc]; ok {
			j.Scores[row], j.Places[row] = score, uint32(m.found+m.other)
			m.found++
		} else {
			m.other++
		}
	})
	return m
}

// MemoryBytes returns the approximate memory of the run in bytes.
func (r *Run) MemoryBytes() int64 {
	return int64(len(r.docs.Text))*5/4 + int64(len(r.scores))*(4+8) + int64(len(r.queries))*memory.QueryBytes
}

// PoolBytes returns estimates of the memory that [Pool] takes while it runs, and that its result takes. If
// judged is nil, the estimates are for [UnjudgedQueries].
func PoolBytes(judged *dataset.Dataset, runs ...*Run) (most, left int64) {
	var docs, text, queries int64
	if judged != nil {
		queries = int64(len(judged.Queries))
		for i := range judged.Queries {
			q := &judged.Queries[i]
			for j := range q.Len() {
				docs, text = docs+1, text+int64(len(q.DocID(j)))
			}
			for _, r := range runs {
				if r != nil {
					n, ids := r.sizeOf(q.ID)
					docs, text = docs+int64(n), text+ids
				}
			}
		}
	} else {
		for _, r := range runs {
			docs, text, queries = docs+int64(r.Docs()), text+int64(len(r.docs.Text)), queries+int64(len(r.queries))
		}
	}
	left = docs*memory.DocumentBytes + text + queries*memory.QueryBytes
	return left*3 + docs*int64(unsafe.Sizeof(pooled{})), left
}
