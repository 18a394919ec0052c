package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// pluginRequest is the body of a search request, with the parameters of features.
type pluginRequest struct {
	path         string
	body, params map[string]any
	size         int
}

const pluginExample = `{"query": {"match": {"title": "{query}"}}, "params": {"keywords": "{query}"}}`

// loggedQuery is the name of the query whose features are logged.
const loggedQuery = "listwise"

// parse reads a body.
func (p plugin) parse(text []byte) (Request, error) {
	body, err := object(text, pluginExample)
	if err != nil {
		return nil, err
	}
	switch {
	case p.index == "":
		return nil, errors.New("found no index, expected the name of the one to search")
	case strings.ContainsAny(p.index, " /\\?#\"<>|") || strings.HasPrefix(p.index, "_"):
		return nil, fmt.Errorf("found the index %q, expected the name of an index, or several with commas", p.index)
	}
	r := pluginRequest{path: "/" + url.PathEscape(p.index) + "/_search", body: body}
	if _, ok := body["query"].(map[string]any); !ok {
		return nil, errors.New(`found no object "query", expected the query of the first ranking`)
	}
	if body["ext"] != nil {
		return nil, errors.New(`found the member "ext", expected none: the logging of features is added`)
	}
	if filled, _ := replaced(body, ""); !filled {
		return nil, fmt.Errorf("found no %s in the request, expected it in the place of the query", QueryMark)
	}
	if body["params"] != nil {
		params, ok := body["params"].(map[string]any)
		if !ok {
			return nil, fmt.Errorf(`"params": found %v, expected an object with the parameters of features`, body["params"])
		}
		r.params = params
		delete(body, "params")
	}
	if body["size"] == nil {
		body["size"] = json.Number(mostRows)
	}
	if r.size, err = strconv.Atoi(fmt.Sprint(body["size"])); err != nil || r.size < 1 {
		return nil, fmt.Errorf(`"size": found %v, expected a number of documents`, body["size"])
	}
	body["_source"] = false
	return r, nil
}

func (r pluginRequest) has(name string) bool { return r.params[name] != nil }

// log adds a query that computes the features of all documents and changes no score.
func (r pluginRequest) log(ctx context.Context, e *Engine, store string) (*Searcher, error) {
	if _, err := e.parameters(ctx, store, r.has); err != nil {
		return nil, err
	}
	body := maps.Clone(r.body)
	body["query"] = map[string]any{"bool": map[string]any{
		"must":   r.body["query"],
		"filter": map[string]any{"sltr": map[string]any{"_name": loggedQuery, "featureset": store, "params": r.values()}},
	}}
	return r.searcher(e, body, map[string]any{"named_query": loggedQuery}), nil
}

// rerank adds a rescoring by the model alone, as [Engine.Put] prints it.
func (r pluginRequest) rerank(ctx context.Context, e *Engine, model string, depth int) (*Searcher, error) {
	store, err := e.storeOf(ctx, model)
	if err != nil {
		return nil, err
	}
	if r.body["rescore"] != nil {
		return nil, errors.New(`found the member "rescore" in the request, expected none: the model reranks`)
	}
	if _, err := e.parameters(ctx, store, r.has); err != nil {
		return nil, err
	}
	if depth == 0 {
		depth = r.size
	}
	body := maps.Clone(r.body)
	body["rescore"] = map[string]any{"window_size": depth, "query": map[string]any{
		"query_weight":  0,
		"rescore_query": map[string]any{"sltr": map[string]any{"model": model, "params": r.values()}},
	}}
	return r.searcher(e, body, map[string]any{"rescore_index": 0}), nil
}

// values are the parameters of features; the plugin wants an object.
func (r pluginRequest) values() map[string]any {
	if r.params == nil {
		return map[string]any{}
	}
	return r.params
}

func (r pluginRequest) searcher(e *Engine, body, logged map[string]any) *Searcher {
	logged["name"] = "features"
	body["ext"] = map[string]any{"ltr_log": map[string]any{"log_specs": logged}}
	return &Searcher{e, func(query string) (request, error) {
		_, filled := replaced(body, query)
		text, err := json.Marshal(filled)
		return request{method: http.MethodPost, path: r.path, body: text}, err
	}, ""}
}

// replaced returns a JSON value with the query in the place of its mark in texts. found reports whether there was one.
func replaced(v any, query string) (found bool, _ any) {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, QueryMark), strings.ReplaceAll(v, QueryMark, query)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			f, x := replaced(v[i], query)
			found, list[i] = found || f, x
		}
		return found, list
	case map[string]any:
		members := make(map[string]any, len(v))
		for name := range v {
			f, x := replaced(v[name], query)
			found, members[name] = found || f, x
		}
		return found, members
	}
	return false, v
}
