// Package enginetest has a stand-in for search engines, for tests of errors. It speaks the learning-to-rank APIs as
// the sources of Solr 8.11 and of the plugin of Elasticsearch define them, and ranks nothing.
// tools/engines/check.sh has the checks against a real Solr.
package enginetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// StandIn is the server. Its fields are set before the first request, or under Lock.
type StandIn struct {
	*httptest.Server
	sync.Mutex

	Stores   map[string]string          // features of a store, as a JSON list
	Models   map[string]json.RawMessage // as they were sent
	Requests []string                   // method and path of each
	Headers  []string                   // Authorization of each
	Answer   string                     // of a search
	Searches []string                   // bodies of these

	// Fail, if not nil, is asked before and after each request. It writes an answer in place of the usual one and
	// returns true, or panics with http.ErrAbortHandler to drop the connection.
	Fail func(w http.ResponseWriter, request string, done bool) bool
}

// Solr returns a stand-in for a Solr core.
func Solr() *StandIn { return start((*StandIn).solr) }

// Plugin returns a stand-in for Elasticsearch with its plugin.
func Plugin() *StandIn { return start((*StandIn).plugin) }

func start(handle func(*StandIn, *http.Request) (int, string)) *StandIn {
	s := &StandIn{Stores: make(map[string]string), Models: make(map[string]json.RawMessage)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Lock()
		defer s.Unlock()
		request := r.Method + " " + r.URL.Path
		s.Requests = append(s.Requests, request)
		s.Headers = append(s.Headers, r.Header.Get("Authorization"))
		if s.Fail != nil && s.Fail(w, request, false) {
			return
		}
		status, body := handle(s, r)
		if s.Fail != nil && s.Fail(w, request, true) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return s
}

// Count returns the number of requests of a method and path.
func (s *StandIn) Count(request string) int {
	s.Lock()
	defer s.Unlock()
	n := 0
	for _, r := range s.Requests {
		if r == request {
			n++
		}
	}
	return n
}

func (s *StandIn) storeNames() []string {
	names := make([]string, 0, len(s.Stores))
	for name := range s.Stores {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *StandIn) solr(r *http.Request) (int, string) {
	const features, models = "/schema/feature-store", "/schema/model-store"
	path := r.URL.Path
	switch {
	case r.Method == http.MethodGet && path == features:
		names, _ := json.Marshal(s.storeNames())
		return http.StatusOK, fmt.Sprintf(`{"featureStores":%s}`, names)
	case r.Method == http.MethodGet && strings.HasPrefix(path, features+"/"):
		name := strings.TrimPrefix(path, features+"/")
		if s.Stores[name] == "" {
			s.Stores[name] = "[]" // Solr makes it
		}
		return http.StatusOK, fmt.Sprintf(`{"features":%s}`, s.Stores[name])
	case r.Method == http.MethodGet && strings.HasPrefix(path, models+"/"):
		list := []json.RawMessage{} // of all models, whatever the name
		for _, m := range s.Models {
			list = append(list, m)
		}
		text, _ := json.Marshal(map[string]any{"models": list})
		return http.StatusOK, string(text)
	case r.Method == http.MethodDelete && strings.HasPrefix(path, models+"/"):
		delete(s.Models, strings.TrimPrefix(path, models+"/"))
		return http.StatusOK, `{}`
	case r.Method == http.MethodPut && path == models:
		return s.putSolr(r)
	case r.Method == http.MethodGet && path == "/schema/uniquekey":
		return http.StatusOK, `{"uniqueKey":"id"}`
	case r.Method == http.MethodPost && path == "/select":
		return s.search(r)
	}
	return http.StatusNotFound, "<html><head><title>Error 404 Not Found</title></head></html>"
}

func (s *StandIn) search(r *http.Request) (int, string) {
	body, _ := io.ReadAll(r.Body)
	s.Searches = append(s.Searches, string(body))
	return http.StatusOK, s.Answer
}

func (s *StandIn) putSolr(r *http.Request) (int, string) {
	body, _ := io.ReadAll(r.Body)
	var m struct{ Name string }
	if err := json.Unmarshal(body, &m); err != nil {
		return http.StatusInternalServerError, fmt.Sprintf(`{"error":{"msg":%q}}`, err)
	}
	if s.Models[m.Name] != nil {
		return http.StatusBadRequest, fmt.Sprintf(`{"error":{"msg":"model '%s' already exists. Please use a different name"}}`, m.Name)
	}
	s.Models[m.Name] = body
	return http.StatusOK, `{}`
}

func (s *StandIn) plugin(r *http.Request) (int, string) {
	const sets, models = "/_ltr/_featureset", "/_ltr/_model/"
	path := r.URL.Path
	name := strings.TrimPrefix(path, models)
	switch {
	case r.Method == http.MethodGet && path == sets:
		var hits []string
		for _, name := range s.storeNames() {
			hits = append(hits, fmt.Sprintf(`{"_source":{"name":%q}}`, name))
		}
		return http.StatusOK, fmt.Sprintf(`{"hits":{"hits":[%s]}}`, strings.Join(hits, ","))
	case r.Method == http.MethodGet && strings.HasPrefix(path, sets+"/"):
		features := s.Stores[strings.TrimPrefix(path, sets+"/")]
		return http.StatusOK, fmt.Sprintf(`{"found":true,"_source":{"featureset":{"features":%s}}}`, features)
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/_search"):
		return s.search(r)
	case strings.HasPrefix(path, models) && s.Models[name] == nil:
		return http.StatusNotFound, `{"found":false}`
	case r.Method == http.MethodGet && strings.HasPrefix(path, models):
		return http.StatusOK, fmt.Sprintf(`{"found":true,"_source":{"name":%q,"model":%s}}`, name, s.Models[name])
	case r.Method == http.MethodDelete && strings.HasPrefix(path, models):
		delete(s.Models, name)
		return http.StatusOK, `{"result":"deleted"}`
	case r.Method == http.MethodPost && strings.HasPrefix(path, sets+"/") && strings.HasSuffix(path, "/_createmodel"):
		return s.createModel(r, strings.TrimSuffix(strings.TrimPrefix(path, sets+"/"), "/_createmodel"))
	}
	return http.StatusBadRequest, `{"error":"no handler found for uri"}`
}

func (s *StandIn) createModel(r *http.Request, set string) (int, string) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		Model struct {
			Name  string
			Model json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return http.StatusBadRequest, fmt.Sprintf(`{"error":{"root_cause":[{"reason":%q}],"reason":"parsing failed"}}`, err)
	}
	if s.Models[m.Model.Name] != nil {
		return http.StatusMethodNotAllowed,
			`{"error":{"root_cause":[{"reason":"Element of type [model] are not updatable, please create a new one instead."}]}}`
	}
	s.Models[m.Model.Name] = fmt.Appendf(nil, `{"name":%q,"feature_set":{"name":%q},"model":%s}`, m.Model.Name, set, m.Model.Model)
	return http.StatusOK, `{"result":"created"}`
}
