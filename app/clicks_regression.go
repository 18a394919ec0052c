package app

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// regress returns the regression of --regression on features of documents.
func (w *weighing) regress(ctx context.Context, features *dataset.Dataset) (propensity.Regression, error) {
	if w.regression == "logistic" {
		return propensity.NewFeatures(features)
	}
	m, err := method.Lookup("mart")
	if err != nil {
		return nil, err
	}
	r := &treeRegression{ctx: ctx, method: m, data: features, rows: make(map[propensity.Pair]int, features.Docs())}
	for i := range features.Queries {
		q := &features.Queries[i]
		for k := range q.Len() {
			r.rows[propensity.Pair{Query: q.ID, Doc: q.DocID(k)}] = q.Start + k
		}
	}
	if r.values, err = m.Values(treeSettings); err != nil {
		return nil, err
	}
	return r, nil
}

// treeSettings are those of the regression. A leaf has ten examinations or more.
var treeSettings = map[string]string{"trees": "100", "leaves": "10", "rate": "0.1", "leaf_curvature": "10", "leaf_documents": "1"}

// treeRegression is regression by boosted trees, as a propensity.Regression.
type treeRegression struct {
	ctx    context.Context
	method *method.Method
	values method.Values
	data   *dataset.Dataset
	rows   map[propensity.Pair]int

	one sync.Mutex // a training takes all cores, and memory for a copy of the features
}

// Has implements propensity.Regression.
func (r *treeRegression) Has(p propensity.Pair) bool { _, ok := r.rows[p]; return ok }

// Start implements propensity.Regression.
func (r *treeRegression) Start(pairs []propensity.Pair) propensity.Fitter {
	f := &treeFitter{treeRegression: r, at: make([]int, len(pairs)), pair: make([]int, r.data.Docs())}
	for i := range f.pair {
		f.pair[i] = -1
	}
	for i, p := range pairs {
		f.at[i] = r.rows[p]
		f.pair[f.at[i]] = i
	}
	return f
}

// treeFitter is a regression on some documents.
type treeFitter struct {
	*treeRegression

	at   []int // row of each pair
	pair []int // of each row; −1 for none

	labels, weights, predictions []float64 // of the last fit
}

// Fit implements propensity.Fitter.
func (f *treeFitter) Fit(labels, weights, predictions []float64) error {
	if slices.Equal(labels, f.labels) && slices.Equal(weights, f.weights) {
		copy(predictions, f.predictions)
		return nil
	}
	f.one.Lock()
	defer f.one.Unlock()
	row := func(query, doc int) int { return f.pair[f.data.Queries[query].Start+doc] }
	of := func(query, doc int) bool { i := row(query, doc); return i >= 0 && weights[i] > 0 }
	d := f.data.KeepDocs(of)
	var w []float64
	for i, grades := 0, d.Grades(); i < len(f.pair); i++ {
		if p := f.pair[i]; p >= 0 && weights[p] > 0 {
			grades[len(w)] = labels[p]
			w = append(w, weights[p])
		}
	}
	d.Modified()
	if err := d.Weigh(nil, w); err != nil {
		return err
	}
	p := &method.Problem{Problem: train.Problem{Data: d, Seed: 1}, Values: f.values}
	if f.data.Missing() > 0 {
		p.Missing = dataset.MissingKeep
	}
	m, err := f.method.Train(f.ctx, p)
	if err != nil {
		return fmt.Errorf("regression by trees: %w", err)
	}
	scores, err := m.Score(f.data)
	if err != nil {
		return err
	}
	for i, at := range f.at {
		predictions[i] = min(max(scores[at], 0), 1)
	}
	f.labels, f.weights, f.predictions = slices.Clone(labels), slices.Clone(weights), slices.Clone(predictions)
	return nil
}
