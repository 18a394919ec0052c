package featurelog

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/internal/suggest"
)

// Document is a document of an answer with the engine's score.
type Document struct {
	ID       string
	Score    float64
	Features map[string]float64 // by name; a sparse log omits zeros
}

// ReadDocuments returns the documents of each answer. Every document must have an id of its own, a finite score and
// logged features. An answer of an incomplete search is an error. key is the key of ids, "" for id and _id. Errors name
// the answers.
func ReadDocuments(r io.Reader, name, key string, opts dataset.Options) ([][]Document, error) {
	in, err := input.Hold(r, name, opts, nil)
	if err != nil {
		return nil, err
	}
	l := &Log{o: Options{Doc: key}, read: opts, scores: true}
	d := &documents{seen: make(map[string]bool)}
	err = l.each(in, d)
	return d.answers, err
}

// documents collects the documents of answers.
type documents struct {
	answers [][]Document
	of      []Document // the answer that is read
	seen    map[string]bool
}

// document implements visitor.
func (v *documents) document(d *document) error {
	switch {
	case len(d.id) == 0:
		return &dataset.SyntaxError{Found: fmt.Sprintf("document %d of the answer without an id", len(v.of)+1), Expected: "the id of every document"}
	case !d.logged:
		return d.unlogged()
	}
	score, err := strconv.ParseFloat(string(d.score), 64)
	if err == nil && (math.IsNaN(score) || math.IsInf(score, 0)) {
		return &dataset.SyntaxError{Found: fmt.Sprintf("the score %s of document %s", d.score, suggest.Quote(d.id)), Expected: "a finite number"}
	}
	if err != nil {
		return &dataset.SyntaxError{Found: fmt.Sprintf("document %s without a score", suggest.Quote(d.id)), Expected: "a number as score (fl=id,score,[features] in Solr) or _score"}
	}
	if v.seen[string(d.id)] {
		return &dataset.SyntaxError{Found: fmt.Sprintf("document %s twice in an answer", suggest.Quote(d.id)), Expected: "every document once"}
	}
	v.seen[string(d.id)] = true
	features := make(map[string]float64, len(d.features))
	for _, f := range d.features {
		x := float32(0) // the feature did not match
		if f.value != nil {
			if x, err = d.number(f); err != nil {
				return err
			}
		}
		features[string(f.name)] = float64(x)
	}
	v.of = append(v.of, Document{string(d.id), score, features})
	return nil
}

// answer implements visitor.
func (v *documents) answer(_ []byte, partial string) error {
	if partial != "" {
		return &dataset.SyntaxError{Found: "an answer of an incomplete search, " + partial, Expected: "a search of all documents: a larger limit of its time, or all shards"}
	}
	clear(v.seen)
	v.answers, v.of = append(v.answers, v.of), nil
	return nil
}
