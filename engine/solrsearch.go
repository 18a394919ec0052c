package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// solrRequest has the parameters of a search request by their names.
type solrRequest map[string][]string

const solrExample = `{"q": "{query}", "defType": "edismax", "qf": "title"}`

// parse reads parameters. Values are texts, numbers, or lists of such.
func (solr) parse(text []byte) (Request, error) {
	members, err := object(text, solrExample)
	if err != nil {
		return nil, err
	}
	r := make(solrRequest)
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

func (r solrRequest) has(name string) bool { return r[name] != nil }

func (r solrRequest) log(ctx context.Context, e *Engine, store string) (*Searcher, error) {
	external, err := e.parameters(ctx, store, r.has)
	if err != nil {
		return nil, err
	}
	return r.searcher(ctx, e, "[features store="+store+values(external)+"]")
}

// rerank adds the parameter rq, unless the request has one.
func (r solrRequest) rerank(ctx context.Context, e *Engine, model string, depth int) (*Searcher, error) {
	store, err := e.storeOf(ctx, model)
	if err != nil {
		return nil, err
	}
	if r["rq"] == nil {
		external, err := e.parameters(ctx, store, r.has)
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
	return r.searcher(ctx, e, "[features]")
}

// rows returns the number of documents that the request asks for.
func (r solrRequest) rows() string {
	if r["rows"] == nil {
		return mostRows
	}
	return r["rows"][0]
}

// searcher adds to a request what the answers must have. Solr would replace ${name} in a user's query by a parameter, so
// macros are for requests that have some themselves.
func (r solrRequest) searcher(ctx context.Context, e *Engine, features string) (*Searcher, error) {
	key, err := e.uniqueKey(ctx)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(r)
	out["rows"] = []string{r.rows()}
	out["fl"] = []string{key + ",score," + features}
	out["wt"] = []string{"json"}
	if !r.macros() {
		out["expandMacros"] = []string{"false"}
	}
	return &Searcher{e, out.fill, key}, nil
}

// macros reports whether the request has ${name}, or says whether Solr replaces it.
func (r solrRequest) macros() bool {
	for name, values := range r {
		if name == "expandMacros" || slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, "${") }) {
			return true
		}
	}
	return false
}

// fill makes the request for a query.
func (r solrRequest) fill(query string) (request, error) {
	form := url.Values{}
	for name, values := range r {
		for _, v := range values {
			form.Add(name, strings.ReplaceAll(v, QueryMark, query))
		}
	}
	return request{http.MethodPost, "/select", []byte(form.Encode()), true}, nil
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
