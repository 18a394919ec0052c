package serve_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/listwise/listwise/serve"
)

// FuzzServer sends requests of any method, path, type and body. No answer is 5xx; one that is JSON
// is JSON, and a ranking has finite scores in descending order.
func FuzzServer(f *testing.F) {
	s := newServer(f, serve.Config{Limits: serve.Limits{Body: 1 << 16}, Aliases: map[string]string{"main": "web"}})
	for _, body := range []string{oneDocument, `{"queries":[{"documents":[{"features":{"bm25":1,"title":null,"ctr":-0}}]}],"contributions":2,"lenient":true,"top":1}`, "", "{", string(matrix(1, 2, 3))} {
		for _, kind := range []string{"application/json", "application/octet-stream", "text/plain; x"} {
			f.Add("POST", "/v1/models/web:rank", kind, "application/json", []byte(body))
			f.Add("POST", "/v1/models/main:rank?documents=1&top=1&lenient=true", kind, "", []byte(body))
		}
	}
	f.Add("POST", "/v1/models/web:rank?from=solr&lenient=true&top=2", "application/json", "", []byte(solrAnswer))
	f.Add("POST", "/v1/models/web:rank?from=elasticsearch&query=q&user=u", "application/json", "", []byte(elasticAnswer))
	f.Add("GET", "/v1/models/web", "", "", []byte(nil))
	f.Add("DELETE", "/v1/models/../../etc/passwd:rank", "", "*/*", []byte(nil))
	f.Fuzz(func(t *testing.T, method, target, kind, accept string, body []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+target, strings.NewReader(string(body)))
		if err != nil {
			t.Skip("net/http refuses it")
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code < 200 {
			t.Fatalf("is answered with %d %s", w.Code, w.Body)
		}
		if !strings.Contains(w.Header().Get("Content-Type"), "json") {
			return
		}
		var a struct {
			Status  int
			Ranking []struct{ Score float64 }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
		if w.Code >= 400 && a.Status != w.Code {
			t.Fatalf("status %d has the problem %s", w.Code, w.Body)
		}
		last := math.Inf(1)
		for _, doc := range a.Ranking {
			if doc.Score > last || math.IsInf(doc.Score, 0) {
				t.Fatalf("is answered with %s", w.Body)
			}
			last = doc.Score
		}
	})
}
