package bridge

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/trec"
)

// readRequest is a request to read a file of judged documents.
type readRequest struct {
	Path, Missing, Negative, Input string
	AbsentMissing                  bool     `json:"absent_missing"`
	MissingValues                  []string `json:"missing_values"` // numbers, or inf
	FromZero                       bool     `json:"from_zero"`
	AnyOrder                       bool     `json:"any_order"`
	MaxFeature                     int      `json:"max_feature"`
	Query, Grade, Doc              string   // columns of a table
	OneHot                         []string `json:"one_hot"`
}

// readAnswer describes the arrays: features (documents × features), grades and, if there are any,
// weights of documents and of queries; in the order of the file's queries.
type readAnswer struct {
	Warnings []string `json:"warnings"`
	Features int      `json:"features"`
	Names    []string `json:"names"`
	IDs      []string `json:"ids"`
	Counts   []int    `json:"counts"`
	Docs     []string `json:"docs"`
	Weights  bool     `json:"weights"` // array 2
	Queries  bool     `json:"query_weights"`
}

// read reads a file of any format.
func (j *job) read(ctx context.Context, r readRequest, _ Arrays) (any, error) {
	o := dataset.Options{Context: ctx, AbsentMissing: r.AbsentMissing, FromZero: r.FromZero, AnyOrder: r.AnyOrder, MaxFeature: r.MaxFeature, Table: dataset.TableOptions{Query: r.Query, Grade: r.Grade, Doc: r.Doc, OneHot: r.OneHot}}
	var err error
	if o.Missing, err = dataset.ParseMissing(r.Missing); err != nil {
		return nil, fmt.Errorf("missing: %w", err)
	}
	if o.Negative, err = dataset.ParseNegative(r.Negative); err != nil {
		return nil, fmt.Errorf("negative_grades: %w", err)
	}
	for _, text := range r.MissingValues {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("missing_values: found %q, expected a number", text)
		}
		o.MissingValues = append(o.MissingValues, v)
	}
	if o.Input = r.Input; r.Input != "" && !slices.Contains(datafile.Formats(), r.Input) {
		return nil, fmt.Errorf("input: found %q, expected one of %v", r.Input, datafile.Formats())
	}
	d, err := datafile.Open(r.Path, o)
	if err != nil {
		return nil, err
	}
	return j.documents(d)
}

// documents answers with the documents of a data set, which is closed.
func (j *job) documents(d *dataset.Dataset) (any, error) {
	a := readAnswer{Warnings: d.Warnings, Features: d.Features, Names: d.FeatureNames}
	withDocs := d.HasDocIDs()
	for i := range d.Queries {
		q := &d.Queries[i]
		a.IDs, a.Counts = append(a.IDs, q.ID), append(a.Counts, q.Len())
		for k := 0; withDocs && k < q.Len(); k++ {
			a.Docs = append(a.Docs, q.DocID(k))
		}
	}
	weights, queries := d.Weights(), d.QueryWeights()
	a.Weights, a.Queries = weights != nil, queries != nil
	j.arrays = []any{slices.Clone(d.X()), slices.Clone(d.Grades()), slices.Clone(weights), queries}
	if err := d.Changed(); err != nil {
		return nil, err
	}
	return a, d.Close()
}

// readRun reads a run of TREC.
func (j *job) readRun(ctx context.Context, r readRequest, _ Arrays) (any, error) {
	run, err := trec.OpenRun(r.Path, dataset.Options{Context: ctx})
	if err != nil {
		return nil, err
	}
	var a readAnswer
	scores := make([]float64, 0, run.Docs())
	for _, q := range run.Queries() {
		before := len(scores)
		run.Each(q, func(doc string, score float64) {
			a.Docs, scores = append(a.Docs, doc), append(scores, score)
		})
		a.IDs, a.Counts = append(a.IDs, q), append(a.Counts, len(scores)-before)
	}
	j.arrays = []any{scores}
	return a, nil
}
