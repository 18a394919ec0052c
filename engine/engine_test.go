package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/engine/enginetest"
)

const (
	solrFeatures = `[{"name":"bm25","params":{"q":"{!dismax qf=title}${text}"}},{"name":"ctr","params":{"field":"ctr"}},` +
		`{"name":"price","params":{"value":"${limit:10}"}},{"name":"age","params":{"q":"{!func}sub(${now},date)"}}]`
	solrBody     = `{"class":"org.apache.solr.ltr.model.LinearModel","name":"m","store":"shop","features":[{"name":"bm25"},{"name":"ctr"}],"params":{"weights":{"bm25":1.0,"ctr":2.0}}}`
	pluginFields = `[{"name":"bm25","params":["keywords"],"template":{}},{"name":"ctr","params":[],"template":{}}]`
	linearBody   = `{"model":{"name":"m","model":{"type":"model/linear","definition":{"bm25":1.0,"ctr":2.0}}}}`
)

func solrStandIn(t *testing.T, o Options) (*enginetest.StandIn, *Engine) {
	t.Helper()
	s := enginetest.Solr()
	t.Cleanup(s.Close)
	s.Stores["shop"] = solrFeatures
	e, err := Solr(s.URL+"/", o)
	return s, ready(t, e, err)
}

func pluginStandIn(t *testing.T) (*enginetest.StandIn, *Engine) {
	t.Helper()
	s := enginetest.Plugin()
	t.Cleanup(s.Close)
	s.Stores["shop"] = pluginFields
	e, err := Plugin("Elasticsearch", s.URL, Options{})
	return s, ready(t, e, err)
}

func ready(t *testing.T, e *Engine, err error) *Engine {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	e.pause = time.Millisecond
	return e
}

func solrUpload() Upload { return Upload{Name: "m", Store: "shop", Body: []byte(solrBody)} }

func pluginUpload() Upload { return Upload{Name: "m", Store: "shop", Body: []byte(linearBody)} }

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("found no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("found the error %q, expected %q in it", err, part)
		}
	}
}

func TestPut(t *testing.T) {
	s, e := solrStandIn(t, Options{})
	done, err := e.Put(t.Context(), solrUpload())
	if err != nil {
		t.Fatal(err)
	}
	want := "rq={!ltr model=m reRankDocs=100 efi.text=$text}"
	if done.Query != want || done.Used != 2 || done.Stored != 4 || done.Replaced {
		t.Errorf("found %+v, expected 2 of 4 features and the query %s", done, want)
	}
	if found := fmt.Sprint(done.External, done.Logging); found != "[{text [bm25]}] [{now [age]}]" {
		t.Errorf("found the parameters %s", found)
	}
	if string(s.Models["m"]) != solrBody {
		t.Errorf("the engine has %s", s.Models["m"])
	}

	s, e = pluginStandIn(t)
	if done, err = e.Put(t.Context(), pluginUpload()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(done.Query, `"sltr":{"model":"m","params":{"keywords":"…"}}`) || s.Models["m"] == nil {
		t.Errorf("found %+v", done)
	}
}

func TestPutNamesLackingFeatures(t *testing.T) {
	u := solrUpload()
	u.Body = []byte(strings.ReplaceAll(solrBody, "bm25", "bm52"))
	s, e := solrStandIn(t, Options{})
	_, err := e.Put(t.Context(), u)
	wantError(t, err, `feature store "shop" lacks 1 of the model's 2 features: "bm52": did you mean "bm25"; it has bm25, ctr`)
	u.Store = "shp"
	_, err = e.Put(t.Context(), u)
	wantError(t, err, `Solr has no feature store "shp": did you mean "shop"?`)
	if len(s.Models) > 0 || s.Count("GET /schema/feature-store/shp") > 0 {
		t.Errorf("the requests changed Solr: %q", s.Requests)
	}

	_, e = pluginStandIn(t)
	u = pluginUpload()
	u.Body = []byte(`{"model":{"name":"m","model":{"type":"model/xgboost+json","definition":"[{\"split\": \"c\\\"x\", \"children\": [{\"split\":\"bm25\"}]}]"}}}`)
	_, err = e.Put(t.Context(), u)
	wantError(t, err, `feature set "shop" lacks 1 of the model's 2 features: "c\"x"`)
	u.Body = []byte(`{"model":{"name":"m","model":{"type":"model/ranklib","definition":"## x"}}}`)
	u.Names = []string{"ctr", "bm25"}
	_, err = e.Put(t.Context(), u)
	wantError(t, err, `found the features bm25, ctr, expected ctr, bm25 in this order`)
	u.Names = []string{"bm25", "ctr"}
	if _, err = e.Put(t.Context(), u); err != nil {
		t.Error(err)
	}
}

func TestPutRefusesTakenName(t *testing.T) {
	s, e := solrStandIn(t, Options{})
	for _, name := range []string{"m", "m@2"} {
		s.Models[name] = fmt.Appendf(nil, `{"name":%q}`, name)
	}
	_, err := e.Put(t.Context(), solrUpload())
	wantError(t, err, `Solr has a model "m" already, expected a new name such as "m@3"`)
	if _, taken := errors.AsType[*TakenError](err); !taken {
		t.Errorf("found %T, expected *TakenError", err)
	}
	u := solrUpload()
	u.Replace = true
	done, err := e.Put(t.Context(), u)
	if err != nil || !done.Replaced || string(s.Models["m"]) != solrBody {
		t.Errorf("found %+v, %v, and the model %s", done, err, s.Models["m"])
	}
}

// A model that the engine refuses leaves the model that it would replace.
func TestPutRestores(t *testing.T) {
	for _, kind := range []string{"solr", "plugin"} {
		s, e := solrStandIn(t, Options{})
		u, create := solrUpload(), "PUT /schema/model-store"
		if kind == "plugin" {
			s, e = pluginStandIn(t)
			u, create = pluginUpload(), "POST /_ltr/_featureset/shop/_createmodel"
		}
		if _, err := e.Put(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		before, sent := string(s.Models["m"]), 0
		s.Fail = func(w http.ResponseWriter, request string, done bool) bool {
			if request != create || done {
				return false
			}
			if sent++; sent > 1 {
				return false
			}
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"msg":"odd model"}}`)
			return true
		}
		u.Replace = true
		_, err := e.Put(t.Context(), u)
		wantError(t, err, "400 Bad Request: odd model", `the model "m" is as before`)
		if string(s.Models["m"]) != before || sent != 2 {
			t.Errorf("%s: found %s, expected %s", kind, s.Models["m"], before)
		}
	}
}

func TestStatusErrors(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   []string
	}{
		{401, ``, []string{"401 Unauthorized, expected credentials that the engine accepts"}},
		{403, `{"error":{"reason":"no permission"}}`, []string{"403 Forbidden: no permission, expected credentials"}},
		{404, `<html><head><title>Error 404 Can not find</title></head></html>`, []string{"404 Not Found: Error 404 Can not find, expected the address of learning to rank in Solr, such as"}},
		{409, `{"error":{"root_cause":[{"reason":"version conflict"}],"reason":"x"}}`, []string{"409 Conflict: version conflict"}},
		{500, `{"error":{"msg":"out of\nmemory","trace":"at x"}}`, []string{"500 Internal Server Error: out of memory"}},
		{302, ``, []string{"302 Found"}},
	} {
		s, e := solrStandIn(t, Options{})
		s.Fail = func(w http.ResponseWriter, _ string, _ bool) bool {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
			return true
		}
		_, err := e.Put(t.Context(), solrUpload())
		wantError(t, err, append(c.want, "GET "+s.URL+"/schema/feature-store")...)
		if len(s.Requests) != 1 {
			t.Errorf("%d: found %d requests, expected 1", c.status, len(s.Requests))
		}
	}
}

// Requests without an answer are repeated once. One that was carried out is not repeated.
func TestDroppedConnections(t *testing.T) {
	const put, del, get = "PUT /schema/model-store", "DELETE /schema/model-store/m", "GET /schema/feature-store"
	for _, c := range []struct {
		drop  string
		done  bool // after the request was carried out
		times int
		want  int // number of requests
		fails bool
	}{
		{get, false, 1, 2, false},
		{get, false, 2, 2, true},
		{del, false, 1, 2, false},
		{del, true, 1, 2, false},
		{put, false, 1, 2, false},
		{put, true, 1, 1, false},
		{put, false, 9, 3, true}, // twice the new model, then the old one
	} {
		s, e := solrStandIn(t, Options{})
		s.Models["m"] = []byte(`{"name":"m","store":"shop"}`)
		dropped := 0
		s.Fail = func(_ http.ResponseWriter, request string, done bool) bool {
			if request == c.drop && done == c.done && dropped < c.times {
				dropped++
				panic(http.ErrAbortHandler)
			}
			return false
		}
		u := solrUpload()
		u.Replace = true
		_, err := e.Put(t.Context(), u)
		if (err != nil) != c.fails {
			t.Errorf("%+v: found the error %v", c, err)
		}
		if c.fails {
			wantError(t, err, "the connection was closed before the answer ended")
		} else if string(s.Models["m"]) != solrBody {
			t.Errorf("%+v: the engine has %s", c, s.Models["m"])
		}
		if found := s.Count(c.drop); found != c.want && c.times != 9 {
			t.Errorf("%+v: found %d requests, expected %d", c, found, c.want)
		}
	}
}

func TestTimeout(t *testing.T) {
	release := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	e, err := Solr(server.URL, Options{Timeout: 20 * time.Millisecond})
	_, err = ready(t, e, err).Put(t.Context(), solrUpload())
	wantError(t, err, "found no answer within the timeout")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = e.Put(ctx, solrUpload()); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected context.Canceled", err)
	}
}

func TestCredentials(t *testing.T) {
	for credentials, header := range map[string]string{
		"me:se:cret":    "Basic bWU6c2U6Y3JldA==",
		"Bearer se:cr":  "Bearer se:cr",
		"ApiKey c2Vj==": "ApiKey c2Vj==",
	} {
		s, e := solrStandIn(t, Options{Credentials: credentials})
		if _, err := e.Put(t.Context(), solrUpload()); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(s.Headers, func(h string) bool { return h != header }) {
			t.Errorf("found the headers %q, expected %q", s.Headers, header)
		}
		s.Fail = func(w http.ResponseWriter, _ string, _ bool) bool { // an engine that repeats them
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"bad header %s of %s"}`, header, credentials)
			return true
		}
		_, err := e.Put(t.Context(), solrUpload())
		wantError(t, err, "401 Unauthorized: bad header")
		_, secret, _ := strings.Cut(strings.ReplaceAll(credentials, "me:", " "), " ")
		_, encoded, _ := strings.Cut(header, " ")
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), encoded) {
			t.Errorf("found the credentials in %q", err)
		}
	}
	for _, bad := range []string{"secret", "a:b\nc"} {
		_, err := Solr("http://localhost/solr/x", Options{Credentials: bad})
		wantError(t, err, "found credentials")
		if strings.Contains(err.Error(), bad) {
			t.Errorf("found the credentials in %q", err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"":                        "expected an address such as http",
		"localhost:8983":          "expected an address such as http",
		"ftp://localhost/solr":    "expected an address such as http",
		"http://me:pw@h/solr/x":   "found credentials in the address",
		"http://h/solr/x?a=b":     "found more than a path",
		"http://h:bad-port/solr/": "expected an address such as http",
	} {
		_, err := Solr(address, Options{})
		wantError(t, err, want)
		if strings.Contains(err.Error(), "pw") {
			t.Errorf("found the password in %q", err)
		}
	}
	_, e := solrStandIn(t, Options{})
	u := solrUpload()
	u.Name = "a b}"
	_, err := e.Put(t.Context(), u)
	wantError(t, err, `found the model name "a b}"`)
}

func TestCurl(t *testing.T) {
	e, err := Solr("http://h/solr/it's", Options{Credentials: "me:secret"})
	if err != nil {
		t.Fatal(err)
	}
	u := solrUpload()
	u.Replace = true
	text, err := e.Curl(u, "$(cat 'file')", e.SendsHeader())
	if err != nil {
		t.Fatal(err)
	}
	want := `curl --fail-with-body -u "$(cat 'file')" -X DELETE 'http://h/solr/it'\''s/schema/model-store/m'` + "\n"
	if !strings.Contains(text, want) || !strings.Contains(text, "<<'EOF'\n"+solrBody+"\nEOF\n") || strings.Contains(text, "secret") {
		t.Errorf("found %s, expected %s", text, want)
	}
}
