package trec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
)

// Pool returns a data set for measuring runs: for every query of the judgements, which have
// no features, its judged documents and, with the grade [dataset.Unjudged], all others that
// a run has for it. Documents stand in descending order of their identifiers, as trec_eval
// puts those of equal score. Runs may be nil, and their queries without judgements are left
// out. Queries keep their weights; those of documents, which no measure looks at, are gone.
func Pool(judged *dataset.Dataset, runs ...*Run) (*dataset.Dataset, error) {
	if err := joinable(judged); err != nil {
		return nil, err
	}
	pools := make([][]pooled, len(judged.Queries))
	parallel.For(len(pools), parallel.Workers(0, len(pools)), func(_, i int) {
		pools[i] = pool(&judged.Queries[i], runs)
	})
	b := dataset.Blocks{Warnings: judged.Warnings, QueryWeights: judged.QueryWeights()}
	var text strings.Builder
	for i := range judged.Queries {
		b.IDs, b.Counts = append(b.IDs, judged.Queries[i].ID), append(b.Counts, len(pools[i]))
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

// pool returns a query's judged documents and those of runs, each once.
func pool(q *dataset.Query, runs []*Run) []pooled {
	all := make([]pooled, q.Len())
	for i := range all {
		all[i] = pooled{q.DocID(i), q.Grades[i]}
	}
	for _, r := range runs {
		if r != nil {
			r.Each(q.ID, func(doc string, _ float64) { all = append(all, pooled{doc, dataset.Unjudged}) })
		}
	}
	// Of the same document the judged one, which comes first, stays.
	slices.SortStableFunc(all, func(a, b pooled) int { return strings.Compare(b.doc, a.doc) })
	return slices.CompactFunc(all, func(a, b pooled) bool { return a.doc == b.doc })
}

// joinable returns an error unless documents can be told by query and identifier.
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

// descending reports whether a query's identifiers strictly descend, as those of Pool do;
// none of them is then empty but the last.
func descending(q *dataset.Query) bool {
	for j := 1; j < q.Len(); j++ {
		if q.DocID(j-1) <= q.DocID(j) {
			return false
		}
	}
	return q.DocID(q.Len()-1) != ""
}

// Missed counts what a join leaves out.
type Missed struct {
	Queries   int // of the run, that are not in the data
	Documents int // of the run, that are not in the data though their query is
	Empty     int // queries of the data of which the run has no document
}

// Scores returns the run's scores of the documents of d, one a row:
// [dataset.NotRetrieved] for those that it does not have. It is an error if documents of
// d cannot be told by query and identifier, or if the run has none of them.
func (r *Run) Scores(d *dataset.Dataset) ([]float64, Missed, error) {
	if err := joinable(d); err != nil {
		return nil, Missed{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	scores := make([]float64, d.Docs())
	workers := parallel.Workers(0, len(d.Queries))
	rows, joins := make([]map[string]int, workers), make([]join, len(d.Queries))
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		if rows[worker] == nil {
			rows[worker] = make(map[string]int)
		}
		clear(rows[worker])
		joins[i] = r.join(&d.Queries[i], scores, rows[worker])
	})
	var missed Missed
	common, found := 0, 0
	for _, j := range joins {
		found += j.found
		missed.Documents += j.other
		if j.found+j.other > 0 {
			common++
		}
		if j.found == 0 {
			missed.Empty++
		}
	}
	missed.Queries = len(r.queries) - common
	switch {
	case common == 0:
		return nil, missed, fmt.Errorf("%s: found no query of the data among the run's %d, such as %q, expected the same ids as in the data, such as %q", r.Name, len(r.queries), r.queries[0], d.Queries[0].ID)
	case found == 0:
		return nil, missed, fmt.Errorf("%s: found no document of the data among the run's, such as %q, expected the same ids as in the data, such as %q", r.Name, r.docs.At(0), d.Queries[0].DocID(0))
	}
	return scores, missed, nil
}

// join counts the documents of a query that a run has and the data have (found), or have
// not.
type join struct{ found, other int }

// join sets the scores of a query's documents.
func (r *Run) join(q *dataset.Query, scores []float64, rows map[string]int) join {
	for j := range q.Len() {
		rows[q.DocID(j)] = q.Start + j
		scores[q.Start+j] = dataset.NotRetrieved
	}
	var n join
	r.Each(q.ID, func(doc string, score float64) {
		if row, ok := rows[doc]; ok {
			scores[row] = score
			n.found++
		} else {
			n.other++
		}
	})
	return n
}
