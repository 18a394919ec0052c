package stream

import (
	"errors"

	"github.com/listwise/listwise/dataset"
)

// A Writer writes documents in the order of the calls. The caller passes all documents of a query one
// after the other. Close completes the output, but does not close the underlying writer.
type Writer interface {
	Document(query, id string, grade float64, row []float32) error
	Close() error
}

// A WeightWriter also writes weights. If the Contents are Weighted, Weigh is called before each document
// with the weights of its query and of the document itself.
type WeightWriter interface {
	Writer
	Weigh(query, document float64)
}

// weigh returns the function Weigh of w, or one without effect if no weights are written.
func weigh(w Writer, c Contents) func(query, document float64) {
	if z, ok := w.(WeightWriter); ok && c.Weighted {
		return z.Weigh
	}
	return func(float64, float64) {}
}

// Contents describe the documents that are going to be written.
type Contents struct {
	Features     int
	Docs         int      // number of documents, 0 if that is not known
	FeatureNames []string // or nil
	DocIDs       bool     // documents may have identifiers
	Weighted     bool     // queries or documents have weights

	// MaxBytes is the memory limit; 0 means no limit. A writer may use a part of it for pending output.
	MaxBytes int64
}

// ContentsOf returns the contents of a data set.
func ContentsOf(d *dataset.Dataset) Contents {
	return Contents{Features: d.Features, Docs: d.Docs(), FeatureNames: d.FeatureNames, DocIDs: d.KeepsDocIDs(), Weighted: d.Weighted()}
}

// Contents returns the contents of a plan.
func (p *Plan) Contents() Contents {
	return Contents{Features: p.Features, Docs: p.Docs, FeatureNames: p.FeatureNames, DocIDs: p.KeepsDocIDs, Weighted: p.Weighted()}
}

// of returns the i-th weight, or 1 if weights is nil.
func of(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// Write passes all documents of a data set to a writer and closes it. If observe is not nil, it is called
// after every query with the number of queries written and the total.
func Write(w Writer, d *dataset.Dataset, observe func(done, total int)) (err error) {
	defer func() { err = errors.Join(err, w.Close()) }()
	defer dataset.GuardFaults(&err)()
	tell, rows := weigh(w, ContentsOf(d)), d.Reader()
	for i := range d.Queries {
		q := rows.Query(i)
		for j := range q.Len() {
			tell(q.Weight(), of(q.Weights(), j))
			if err := w.Document(q.ID, q.DocID(j), q.Grades[j], q.Row(j)); err != nil {
				return err
			}
		}
		if observe != nil {
			observe(i+1, len(d.Queries))
		}
	}
	return d.Changed()
}

// Write passes the documents of a plan to a writer in input order, and closes it. The documents of a query
// must be adjacent in the input. The policy for missing values must not be [dataset.MissingMin], which
// needs whole queries.
func (p *Plan) Write(w Writer, observe func(done, total int)) (err error) {
	defer func() { err = errors.Join(err, w.Close()) }()
	tell := weigh(w, p.Contents())
	err = p.Each(func(part *Part) error {
		doc := 0
		for i := range part.Runs {
			r := &part.Runs[i]
			for range r.Docs {
				tell(of(p.QueryWeights, r.Query()), of(part.Weights, doc))
				if err := w.Document(r.ID, part.DocID(doc), part.Grades[doc], part.X[doc*p.Features:(doc+1)*p.Features]); err != nil {
					return err
				}
				doc++
			}
			if observe != nil {
				observe(r.Query(), len(p.IDs))
			}
		}
		return nil
	})
	if err == nil && observe != nil {
		observe(len(p.IDs), len(p.IDs))
	}
	return err
}
