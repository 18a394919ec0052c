package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/featurelog"
)

// Request has the parameters of a search request to Solr by their names. "{query}" in a value is replaced by the
// text of the query.
type Request map[string][]string

// QueryMark is replaced by the text of a query.
const QueryMark = "{query}"

// ParseRequest reads the JSON object of a Request. Values are texts, numbers, or lists of such.
func ParseRequest(text []byte) (Request, error) {
	var members map[string]any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		return nil, fmt.Errorf(`expected a JSON object of parameters, such as {"q": "title:({query})"}: %w`, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("found more than one JSON value, expected one object of parameters")
	}
	r := make(Request)
	marked := false
	for name, value := range members {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			switch v.(type) {
			case string, json.Number, bool:
			default:
				return nil, fmt.Errorf("parameter %q: found %v, expected a text, a number or a list of these", name, v)
			}
			text := fmt.Sprint(v)
			marked = marked || strings.Contains(text, QueryMark)
			r[name] = append(r[name], text)
		}
	}
	switch {
	case r["q"] == nil:
		return nil, errors.New(`found no parameter "q", expected the query of the first ranking`)
	case !marked:
		return nil, fmt.Errorf("found no %s in the parameters, expected it in the place of the query", QueryMark)
	}
	return r, nil
}

// Searcher sends a request to Solr for each query.
type Searcher struct {
	engine  *Engine
	request Request
	key     string // field of document ids
}

// Log prepares the request for the logging of all features of a store. The request must have a parameter for each
// ${name} in these features.
func (e *Engine) Log(ctx context.Context, store string, r Request) (*Searcher, error) {
	if err := checkName("feature store", store); err != nil {
		return nil, err
	}
	external, err := e.parameters(ctx, store, r)
	if err != nil {
		return nil, err
	}
	return e.searcher(ctx, r, "[features store="+store+values(external)+"]")
}

// Rerank prepares the request for a model of Solr: the parameter rq, unless it has one, and the logging of
// the model's features. rq reranks the first depth documents, or all that the request asks for if depth is 0. The
// request must have a parameter for each ${name} in the store's features.
func (e *Engine) Rerank(ctx context.Context, model string, depth int, r Request) (*Searcher, error) {
	if err := checkName("model name", model); err != nil {
		return nil, err
	}
	store, body, err := e.stored(ctx, model)
	switch {
	case err != nil:
		return nil, err
	case body == nil:
		return nil, fmt.Errorf("%s has no model %q, expected one that was uploaded", e.title(), model)
	}
	if r["rq"] == nil {
		external, err := e.parameters(ctx, store, r)
		if err != nil {
			return nil, err
		}
		docs := r.rows()
		if depth > 0 {
			docs = strconv.Itoa(depth)
		}
		r = maps.Clone(r)
		r["rq"] = []string{rerankQuery(model, docs, external)}
	} else if !slices.Contains(strings.FieldsFunc(r["rq"][0], func(c rune) bool { return c == ' ' || c == '}' }), "model="+model) {
		return nil, fmt.Errorf("the parameter rq of the request is %q, expected model=%s in it", r["rq"][0], model)
	}
	return e.searcher(ctx, r, "[features]")
}

// parameters returns the parameters that the features of a store need. It returns an error if the request lacks one,
// or if the store has no features.
func (e *Engine) parameters(ctx context.Context, store string, r Request) ([]External, error) {
	features, err := e.features(ctx, store)
	if err != nil {
		return nil, err
	}
	external := externals(features)
	for _, x := range external {
		if r[x.Name] == nil {
			return nil, fmt.Errorf("the request has no parameter %q, which features of the store %q need: %s", x.Name, store, list(x.Features))
		}
	}
	return external, nil
}

// rows returns the number of documents that the request asks for.
func (r Request) rows() string {
	if r["rows"] == nil {
		return "100"
	}
	return r["rows"][0]
}

// searcher adds to a request what the answers must have.
func (e *Engine) searcher(ctx context.Context, r Request, features string) (*Searcher, error) {
	key, err := e.uniqueKey(ctx)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(r)
	out["rows"] = []string{r.rows()}
	out["fl"] = []string{key + ",score," + features}
	out["wt"] = []string{"json"}
	return &Searcher{e, out, key}, nil
}

func (e *Engine) uniqueKey(ctx context.Context) (string, error) {
	const path = "/schema/uniquekey"
	answer, err := e.get(ctx, path)
	if err != nil {
		return "", err
	}
	var a struct{ UniqueKey string }
	if err := json.Unmarshal(answer, &a); err != nil || a.UniqueKey == "" {
		return "", wrongAnswer(path, fmt.Errorf("found no uniqueKey in %.80q", answer))
	}
	return a.UniqueKey, nil
}

// Answer returns Solr's answer to a query.
func (s *Searcher) Answer(ctx context.Context, query string) ([]byte, error) {
	form := url.Values{}
	for name, values := range s.request {
		for _, v := range values {
			form.Add(name, strings.ReplaceAll(v, QueryMark, query))
		}
	}
	return s.engine.again(ctx, request{http.MethodPost, "/select", []byte(form.Encode()), true})
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
