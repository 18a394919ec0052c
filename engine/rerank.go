package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/featurelog"
)

// Request is the template of a search request. [QueryMark] in it is replaced by the text of the query.
type Request interface {
	log(ctx context.Context, e *Engine, store string) (*Searcher, error)
	rerank(ctx context.Context, e *Engine, model string, depth int) (*Searcher, error)
}

// QueryMark is replaced by the text of a query.
const QueryMark = "{query}"

// mostRows is the number of documents that a request asks for which does not say.
const mostRows = "100"

// ParseRequest reads a JSON object: the parameters of a request to Solr, or the body of a search request to
// Elasticsearch or OpenSearch. In a body, the member "params" has the parameters of features; it is not sent.
func (e *Engine) ParseRequest(text []byte) (Request, error) { return e.parse(text) }

// object reads a JSON object.
func object(text []byte, example string) (map[string]any, error) {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		return nil, fmt.Errorf("expected a JSON object, such as %s: %w", example, err)
	}
	if members == nil {
		return nil, fmt.Errorf("found null, expected a JSON object, such as %s", example)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("found more than one JSON value, expected one object")
	}
	return members, nil
}

// Searcher sends a request to an engine for each query.
type Searcher struct {
	engine *Engine
	fill   func(query string) (request, error)
	key    string // field of document ids, "" for the standard ones
}

// Log prepares the request for the logging of all features of a store. The request must have the parameters that these
// features need.
func (e *Engine) Log(ctx context.Context, store string, r Request) (*Searcher, error) {
	if err := checkName("name of a "+e.storeIs(), store); err != nil {
		return nil, err
	}
	return r.log(ctx, e, store)
}

// Rerank prepares the request for a model of the engine: the reranking, and the logging of the model's features. The
// model reranks the first depth documents, or all that the request asks for if depth is 0. A request to Solr with a
// parameter rq reranks by that. The request must have the parameters that the store's features need.
func (e *Engine) Rerank(ctx context.Context, model string, depth int, r Request) (*Searcher, error) {
	if err := checkName("model name", model); err != nil {
		return nil, err
	}
	return r.rerank(ctx, e, model, depth)
}

// storeOf returns the feature store of a model of the engine.
func (e *Engine) storeOf(ctx context.Context, model string) (store string, err error) {
	store, body, err := e.stored(ctx, model)
	if err == nil && body == nil {
		err = fmt.Errorf("%s has no model %q, expected one that was uploaded", e.title(), model)
	}
	return store, err
}

// parameters returns the parameters that the features of a store need. It returns an error if the request lacks one,
// or if the store has no features.
func (e *Engine) parameters(ctx context.Context, store string, has func(name string) bool) ([]External, error) {
	features, err := e.features(ctx, store)
	if err != nil {
		return nil, err
	}
	external := externals(features)
	if i := slices.IndexFunc(external, func(x External) bool { return !has(x.Name) }); i >= 0 {
		x := external[i]
		return nil, fmt.Errorf("the request has no parameter %q, which features of the %s %q need: %s", x.Name, e.storeIs(), store, list(x.Features))
	}
	return external, nil
}

// Answer returns the engine's answer to a query, a line of JSON.
func (s *Searcher) Answer(ctx context.Context, query string) ([]byte, error) {
	r, err := s.fill(query)
	if err != nil {
		return nil, err
	}
	answer, err := s.engine.again(ctx, r)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, answer); err != nil {
		return nil, wrongAnswer(r.path, fmt.Errorf("found %s, expected JSON", cmp.Or(messageOf(answer), err.Error())))
	}
	return line.Bytes(), nil
}

// Query returns the documents of a query in the engine's order, with scores and features.
func (s *Searcher) Query(ctx context.Context, query string) ([]featurelog.Document, error) {
	answer, err := s.Answer(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.Documents(answer)
}

// Documents returns the documents of an answer.
func (s *Searcher) Documents(answer []byte) ([]featurelog.Document, error) {
	answers, err := featurelog.ReadDocuments(bytes.NewReader(answer), "the answer", s.key, dataset.Options{})
	if err != nil {
		return nil, err
	}
	if len(answers) != 1 {
		return nil, fmt.Errorf("found %d answers, expected one", len(answers))
	}
	return answers[0], nil
}
