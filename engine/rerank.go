package engine

import (
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
)

// Doc is a document of an engine's answer.
type Doc struct {
	ID       string
	Score    float64
	Features map[string]float64 // by name; a sparse log omits zeros
}

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
func (s *Searcher) Query(ctx context.Context, query string) ([]Doc, error) {
	answer, err := s.Answer(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.Documents(answer)
}

// Documents returns the documents of an answer.
func (s *Searcher) Documents(answer []byte) ([]Doc, error) { return readAnswer(answer, s.key) }

// ReadAnswers reads stored answers of engines, one JSON object after another. key is Solr's field of document ids.
func ReadAnswers(r io.Reader, key string) ([][]Doc, error) {
	var answers [][]Doc
	d := json.NewDecoder(r)
	for {
		var text json.RawMessage
		err := d.Decode(&text)
		if errors.Is(err, io.EOF) {
			return answers, nil
		}
		if err != nil {
			return nil, fmt.Errorf("answer %d: %w", len(answers)+1, err)
		}
		docs, err := readAnswer(text, key)
		if err != nil {
			return nil, fmt.Errorf("answer %d: %w", len(answers)+1, err)
		}
		answers = append(answers, docs)
	}
}

// readAnswer reads an answer of Solr with the fields key, score and [features], or one of Elasticsearch or OpenSearch
// with _ltrlog.
func readAnswer(text []byte, key string) ([]Doc, error) {
	var a struct {
		Response *struct {
			Docs []map[string]json.RawMessage
		}
		Hits *struct{ Hits []hit }
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	var docs []Doc
	switch {
	case a.Response != nil:
		for i, fields := range a.Response.Docs {
			d, err := solrDoc(fields, key)
			if err != nil {
				return nil, fmt.Errorf("document %d: %w", i+1, err)
			}
			docs = append(docs, d)
		}
	case a.Hits != nil:
		for i, h := range a.Hits.Hits {
			d, err := h.doc()
			if err != nil {
				return nil, fmt.Errorf("document %d: %w", i+1, err)
			}
			docs = append(docs, d)
		}
	default:
		return nil, fmt.Errorf(`found no "response" and no "hits", expected an answer of a search: %.80q`, text)
	}
	return docs, nil
}

func solrDoc(fields map[string]json.RawMessage, key string) (d Doc, err error) {
	var log string
	if json.Unmarshal(fields[key], &d.ID) != nil {
		d.ID = string(fields[key]) // a number
	}
	if d.ID == "" {
		return d, fmt.Errorf("found no %q, expected the id of each document", key)
	}
	if err := json.Unmarshal(fields["score"], &d.Score); err != nil {
		return d, errors.New(`found no number as "score"`)
	}
	if json.Unmarshal(fields["[features]"], &log) != nil {
		return d, errors.New(`found no text as "[features]"`)
	}
	d.Features, err = parseLog(log)
	return d, err
}

// hit is a document of Elasticsearch or OpenSearch.
type hit struct {
	ID     string   `json:"_id"`
	Score  *float64 `json:"_score"`
	Fields struct {
		Log []map[string][]struct {
			Name  string
			Value float64 // left out if the feature does not match
		} `json:"_ltrlog"`
	}
}

func (h *hit) doc() (Doc, error) {
	switch {
	case h.ID == "":
		return Doc{}, errors.New(`found no "_id"`)
	case h.Score == nil:
		return Doc{}, errors.New(`found no number as "_score"`)
	case len(h.Fields.Log) == 0:
		return Doc{}, errors.New(`found no "_ltrlog" in "fields"`)
	}
	d := Doc{h.ID, *h.Score, make(map[string]float64)}
	for _, log := range h.Fields.Log {
		for _, features := range log {
			for _, f := range features {
				d.Features[f.Name] = f.Value
			}
		}
	}
	return d, nil
}

// parseLog reads a feature log such as "bm25=1.5,ctr=0.0".
func parseLog(log string) (map[string]float64, error) {
	features := make(map[string]float64)
	if log == "" {
		return features, nil
	}
	for _, pair := range strings.Split(log, ",") {
		name, value, _ := strings.Cut(pair, "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("found %.80q among the features, expected NAME=NUMBER", pair)
		}
		features[name] = v
	}
	return features, nil
}
