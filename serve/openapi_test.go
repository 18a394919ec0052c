package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/listwise/listwise/serve"
)

func description(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// Claim: /openapi.json is a valid description, and requests and answers of all kinds are as it
// says: what it refuses is answered with 4xx, and every answer has a status and a body that it
// names.
func TestOpenAPI(t *testing.T) {
	openapi3filter.RegisterBodyDecoder("application/problem+json", openapi3filter.JSONBodyDecoder)
	_, router := description(t)
	s := newServer(t, serve.Config{Aliases: map[string]string{"main": "web"}})
	binary := "application/octet-stream"
	for _, c := range []struct {
		method, path, kind, accept, body string
		status                           int
	}{
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[{"id":"a","features":[1,2,3]},{"id":"b","features":[1,2,4]}],"query":"q","top":1,"user":"u"}`, 200},
		{"POST", "/v1/models/main:rank", "application/json", "", `{"documents":[{"features":{"bm25":1,"title":2,"ctr":3}}],"contributions":2}`, 200},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"queries":[{"query":"a","documents":[{"features":[1,2,3]}]}],"contributions":true,"lenient":true}`, 200},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[{"features":[1,2]}]}`, 422},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[{"features":[1,2,3]}],"queries":[]}`, 400},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[]}`, 400},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[{"features":[1,2,"3"]}]}`, 400},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[{"features":[1,2,3]}],"top":0}`, 400},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[{"features":[1,2,3],"more":1}]}`, 400},
		{"POST", "/v1/models/none:rank", "application/json", "", `{"documents":[{"features":[1,2,3]}]}`, 404},
		{"POST", "/v1/models/web:rank", "application/json", "", `{"documents":[{"features":"bm25=1,title=2,ctr=3"}]}`, 200},
		{"POST", "/v1/models/web:rank?from=solr&top=1", "application/json", "", solrAnswer, 200},
		{"POST", "/v1/models/web:rank?from=elasticsearch&query=q&user=u", "application/json", "", elasticAnswer, 200},
		{"POST", "/v1/models/web:rank?from=opensearch&lenient=true", "application/json", "", `{"hits":{"hits":[]}}`, 200},
		{"POST", "/v1/models/web:rank?from=lucene", "application/json", "", solrAnswer, 400},
		{"POST", "/v1/models/web:rank?from=solr", "application/json", "", `{"response":{"docs":[{"id":"a"}]}}`, 400},
		{"POST", "/v1/models/web:rank", binary, "", string(matrix(1, 2, 3)), 200},
		{"POST", "/v1/models/web:rank?top=1&documents=1,1", binary, "application/json", string(matrix(1, 2, 3, 4, 5, 6)), 200},
		{"POST", "/v1/models/web:rank", binary, "", "x", 400},
		{"GET", "/v1/models", "", "", "", 200}, {"GET", "/v1/models/web", "", "", "", 200}, {"GET", "/v1/models/none", "", "", "", 404},
		{"GET", "/healthz", "", "", "", 200}, {"GET", "/readyz", "", "", "", 200}, {"GET", "/metrics", "", "", "", 200}, {"GET", "/openapi.json", "", "", "", 200},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		for name, value := range map[string]string{"Content-Type": c.kind, "Accept": c.accept} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		checkAgainst(t, router, s, r, c.body, c.status)
	}
}

// checkAgainst sends a request and compares it, and its answer, with the description.
func checkAgainst(t *testing.T, router routers.Router, s http.Handler, r *http.Request, body string, status int) {
	t.Helper()
	route, params, err := router.FindRoute(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	refused := openapi3filter.ValidateRequest(context.Background(), in)
	r.Body = io.NopCloser(strings.NewReader(body))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != status {
		t.Errorf("%s %s %.100q is answered with %d %s, want %d", r.Method, r.URL, body, w.Code, w.Body, status)
	}
	if refused != nil && w.Code < 400 {
		t.Errorf("%s %s %.100q is answered with %d, and the description refuses it: %v", r.Method, r.URL, body, w.Code, refused)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: w.Code, Header: w.Header(), Options: in.Options}
	out.SetBodyBytes(bytes.Clone(w.Body.Bytes()))
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		t.Errorf("the answer to %s %s %.100q is not as described: %v", r.Method, r.URL, body, err)
	}
}

// Claim: the description has every path that the server has, and no other.
func TestOpenAPIPaths(t *testing.T) {
	doc, _ := description(t)
	s := newServer(t, serve.Config{})
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			target := strings.ReplaceAll(path, "{name}", "web")
			r := httptest.NewRequest(method, target, strings.NewReader(oneDocument))
			r.Header.Set("Content-Type", "application/json")
			if code, got := do(t, s, r); code != http.StatusOK {
				t.Errorf("%s %s is answered with %d %s", method, target, code, got)
			}
		}
	}
	var served map[string]any
	if _, got := get(t, s, "/openapi.json"); json.Unmarshal([]byte(got), &served) != nil || served["openapi"] != "3.1.0" {
		t.Errorf("/openapi.json is %.100s", got)
	}
	for _, path := range s.Paths() {
		if doc.Paths.Value(path) == nil {
			t.Errorf("the description has no %s", path)
		}
	}
}
