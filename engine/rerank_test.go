package engine

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset/featurelog"
	"github.com/listwise/listwise/engine/enginetest"
)

const solrAnswer = `{"response":{"docs":[{"id":"a","score":3.5,"[features]":"bm25=1.5,ctr=1.0"},{"id":7,"score":-1,"[features]":""}]}}`

// formOf returns the parameters of a searcher's request to Solr.
func formOf(t *testing.T, s *Searcher) url.Values {
	t.Helper()
	r, err := s.fill("red ${text} shoes")
	if err != nil {
		t.Fatal(err)
	}
	form, err := url.ParseQuery(string(r.body))
	if err != nil {
		t.Fatal(err)
	}
	return form
}

func TestRerank(t *testing.T) {
	s, e := solrStandIn(t, Options{})
	s.Models["m"] = []byte(solrBody)
	s.Answer = solrAnswer
	parsed, err := e.ParseRequest([]byte(`{"q":"{!dismax v=$text}","text":"{query}","now":7,"fq":["a","b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	request := parsed.(solrRequest)
	r, err := e.Rerank(t.Context(), "m", 0, request)
	if err != nil {
		t.Fatal(err)
	}
	if rq := formOf(t, r)["rq"][0]; rq != "{!ltr model=m reRankDocs=100 efi.text=$text efi.now=$now}" {
		t.Errorf("found rq=%s", rq)
	}
	docs, err := r.Query(t.Context(), "shoes")
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 || docs[0].Features["bm25"] != 1.5 || docs[1].ID != "7" || docs[1].Score != -1 {
		t.Errorf("found %+v", docs)
	}

	delete(request, "now")
	_, err = e.Rerank(t.Context(), "m", 0, request)
	wantError(t, err, `the request has no parameter "now", which features of the feature store "shop" need: age`)
	request["rq"] = []string{"{!ltr model=m2 reRankDocs=10}"}
	_, err = e.Rerank(t.Context(), "m", 0, request)
	wantError(t, err, "expected model=m in it")
	request["rq"] = []string{"{!ltr reRankDocs=10 model=m}"}
	if _, err = e.Rerank(t.Context(), "m", 0, request); err != nil {
		t.Error(err)
	}
	_, err = e.Rerank(t.Context(), "other", 0, request)
	wantError(t, err, `Solr has no model "other"`)
}

// Claim: the depth is in rq, and the logging of a store asks for all its features with the request's parameters.
func TestSearcher(t *testing.T) {
	s, e := solrStandIn(t, Options{})
	s.Models["m"] = []byte(solrBody)
	s.Answer = solrAnswer
	request := solrRequest{"q": {"{query}"}, "text": {"{query}"}, "now": {"7"}, "rows": {"50"}, "fl": {"*"}}
	reranked, err := e.Rerank(t.Context(), "m", 20, request)
	if err != nil {
		t.Fatal(err)
	}
	if rq := formOf(t, reranked)["rq"][0]; rq != "{!ltr model=m reRankDocs=20 efi.text=$text efi.now=$now}" {
		t.Errorf("found rq=%s", rq)
	}
	logged, err := e.Log(t.Context(), "shop", request)
	if err != nil {
		t.Fatal(err)
	}
	if fl, rows := formOf(t, logged)["fl"][0], formOf(t, logged)["rows"][0]; fl != "id,score,[features store=shop efi.text=$text efi.now=$now]" || rows != "50" {
		t.Errorf("found fl=%s, rows=%s", fl, rows)
	}
	if request["fl"][0] != "*" || request["rq"] != nil {
		t.Errorf("the request was changed: %v", request)
	}
	answer, err := logged.Answer(t.Context(), "shoes")
	if err != nil || string(answer) != solrAnswer {
		t.Errorf("found %s, %v", answer, err)
	}
	_, err = e.Log(t.Context(), "shop", solrRequest{"q": {"{query}"}, "text": {"{query}"}})
	wantError(t, err, `the request has no parameter "now", which features of the feature store "shop" need: age`)
	_, err = e.Log(t.Context(), "films", request)
	wantError(t, err, `Solr has no feature store "films"`)
	_, err = e.Log(t.Context(), "a b", request)
	wantError(t, err, "feature store")
}

func TestParseRequestErrors(t *testing.T) {
	_, e := solrStandIn(t, Options{})
	for text, want := range map[string]string{
		`null`:                        "found null, expected a JSON object",
		``:                            "expected a JSON object",
		`["q"]`:                       "expected a JSON object",
		`{"q":"{query}"} {}`:          "more than one JSON value",
		`{"q":{"lucene":"x"}}`:        `parameter "q": found map`,
		`{"text":"{query}"}`:          `found no parameter "q"`,
		`{"q":"*:*"}`:                 "found no {query}",
		`{"q":"{query}","fq":[null]}`: `parameter "fq": found <nil>`,
	} {
		_, err := e.ParseRequest([]byte(text))
		wantError(t, err, want)
	}
}

// Claim: Solr replaces no ${name} in a query, unless the request has some of its own.
func TestMacros(t *testing.T) {
	_, e := solrStandIn(t, Options{})
	for _, c := range []struct {
		value string
		want  []string
	}{{"{query}", []string{"false"}}, {"{query} ${more}", nil}} {
		r, err := e.Log(t.Context(), "shop", solrRequest{"q": {c.value}, "text": {"{query}"}, "now": {"7"}})
		if err != nil {
			t.Fatal(err)
		}
		form := formOf(t, r)
		if !slices.Equal(form["expandMacros"], c.want) || form["text"][0] != "red ${text} shoes" {
			t.Errorf("%s: found %v", c.value, form)
		}
	}
}

// Claim: what is no answer is an error that names the request and says what was found.
func TestWrongAnswers(t *testing.T) {
	s, e := solrStandIn(t, Options{Credentials: "user:hushed"})
	searcher, err := e.Log(t.Context(), "shop", solrRequest{"q": {"{query}"}, "text": {"{query}"}, "now": {"7"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status     int
		body, want string
		requests   int
	}{
		{200, `<html><title>Log in</title></html>`, "select: the answer is not as expected: found Log in, expected JSON", 1},
		{200, `id,score,[features]` + "\n" + `a,1,"bm25=1"`, "select: the answer is not as expected: found invalid character", 1},
		{200, solrAnswer[:60], "found unexpected end of JSON input, expected JSON", 1},
		{200, solrAnswer + solrAnswer, "select: the answer is not as expected: found invalid character", 1},
		{200, ``, "found unexpected end of JSON input, expected JSON", 1},
		{204, ``, "found unexpected end of JSON input, expected JSON", 1},
		{200, `null`, `found the line "null", expected an answer of a search engine`, 1},
		{200, `{"error":{"msg":"undefined field x"}}`, "found an error of the search engine", 1},
		{200, strings.Replace(solrAnswer, "3.5", `"NaN"`, 1), `found the score NaN of document "a"`, 1},
		{200, `{"responseHeader":{"partialResults":true},` + solrAnswer[1:], "found an answer of an incomplete search", 1},
		{302, `https://login.example/?to=hushed`, "302 Found to https://login.example/?to=…, expected the address of the engine itself", 1},
		{400, `{"error":{"msg":"no field of hushed"}}`, "400 Bad Request: no field of …", 1},
		{500, `{"error":{"trace":"java.lang.NullPointerException\n\tat x.y","code":500}}`, "500 Internal Server Error: java.lang.NullPointerException", 1},
		{503, `down`, "503 Service Unavailable", 2},
	} {
		sent := 0
		s.Fail = func(w http.ResponseWriter, _ string, _ bool) bool {
			sent++
			if c.status == http.StatusFound {
				w.Header().Set("Location", c.body)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
			return true
		}
		_, err := searcher.Query(t.Context(), "shoes")
		wantError(t, err, c.want)
		if sent != c.requests || strings.Contains(err.Error(), "hushed") {
			t.Errorf("found %d requests and %v", sent, err)
		}
	}
}

const pluginAnswer = `{"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"hits":[` +
	`{"_id":"a","_score":3.5,"fields":{"_ltrlog":[{"features":[{"name":"bm25","value":1.5},{"name":"ctr"}]}]}},` +
	`{"_id":"7","_score":-1,"fields":{"_ltrlog":[{"features":[{"name":"bm25"},{"name":"ctr","value":2}]}]}}]}}`

// Claim: the body of a search has the query as the request does, and the plugin logs the features of a set or reranks by
// a model alone. The form of the additions is that of the plugin's documentation.
func TestPluginSearch(t *testing.T) {
	s := enginetest.Plugin()
	t.Cleanup(s.Close)
	s.Stores["shop"], s.Answer = pluginFields, pluginAnswer
	plain, err := Plugin("Elasticsearch", s.URL, Options{Index: "products,more"})
	e := ready(t, plain, err)
	const request = `{"query":{"match":{"title":"{query}"}},"size":50,"params":{"keywords":"{query}"},"fields":["x"]}`
	const params = `"params":{"keywords":"red \"q\" ${x} é"}`
	const query = `{"match":{"title":"red \"q\" ${x} é"}}`
	const extension = `"_source":false,"fields":["x"],"size":50,"ext":{"ltr_log":{"log_specs":{"name":"features",`
	parsed, err := e.ParseRequest([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	search := func(r *Searcher, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		docs, err := r.Query(t.Context(), `red "q" ${x} é`)
		if err != nil {
			t.Fatal(err)
		}
		want := []featurelog.Document{{ID: "a", Score: 3.5, Features: map[string]float64{"bm25": 1.5, "ctr": 0}}, {ID: "7", Score: -1, Features: map[string]float64{"bm25": 0, "ctr": 2}}}
		if diff := cmp.Diff(want, docs); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := e.Put(t.Context(), pluginUpload()); err != nil {
		t.Fatal(err)
	}
	search(e.Log(t.Context(), "shop", parsed))
	search(e.Rerank(t.Context(), "m", 0, parsed))
	search(e.Rerank(t.Context(), "m", 20, parsed))
	if n := s.Count("POST /products,more/_search"); n != 3 {
		t.Errorf("found %d searches in %v", n, s.Requests)
	}
	rescore := func(window string) string {
		return `{` + extension + `"rescore_index":0}}},"query":` + query + `,"rescore":{"window_size":` + window +
			`,"query":{"query_weight":0,"rescore_query":{"sltr":{"model":"m",` + params + `}}}}}`
	}
	for i, want := range []string{
		`{` + extension + `"named_query":"listwise"}}},"query":{"bool":{"must":` + query + `,"filter":{"sltr":{"_name":"listwise","featureset":"shop",` + params + `}}}}}`,
		rescore("50"), rescore("20"),
	} {
		var a, b any
		if err := json.Unmarshal([]byte(want), &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(s.Searches[i]), &b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("search %d: %s", i, diff)
		}
	}

	_, err = e.Rerank(t.Context(), "other", 0, parsed)
	wantError(t, err, `Elasticsearch has no model "other"`)
	lacking, err := e.ParseRequest([]byte(`{"query":{"match":{"title":"{query}"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Log(t.Context(), "shop", lacking)
	wantError(t, err, `the request has no parameter "keywords", which features of the feature set "shop" need: bm25`)
	_, err = e.Log(t.Context(), "shoes", parsed)
	wantError(t, err, `Elasticsearch has no feature set "shoes"`)
	two, err := e.ParseRequest([]byte(`{"query":{"match":{"title":"{query}"}},"params":{"keywords":"x"},"rescore":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Rerank(t.Context(), "m", 0, two)
	wantError(t, err, `found the member "rescore"`)
	for text, want := range map[string]string{
		`[]`:                                         "expected a JSON object, such as",
		`{"q":"{query}"}`:                            `found no object "query"`,
		`{"query":"{query}"}`:                        `found no object "query"`,
		`{"query":{"match_all":{}}}`:                 "found no {query}",
		`{"query":{"x":"{query}"},"ext":{}}`:         `found the member "ext"`,
		`{"query":{"x":"{query}"},"size":0}`:         `"size": found 0`,
		`{"query":{"x":["{query}"]},"params":["x"]}`: `"params": found [x]`,
	} {
		_, err := e.ParseRequest([]byte(text))
		wantError(t, err, want)
	}
	for _, index := range []string{"", "a b", "a/b", "_all", "a?b"} {
		plain, err := Plugin("Elasticsearch", s.URL, Options{Index: index})
		_, err = ready(t, plain, err).ParseRequest([]byte(request))
		wantError(t, err, "index")
	}

	// A stored answer, which was not made by this project.
	sample, err := os.ReadFile("../../shared/engines/samples/elasticsearch-ltrlog.made.json")
	if err != nil {
		t.Skip(err)
	}
	s.Answer = string(sample)
	r, err := e.Log(t.Context(), "shop", parsed)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := r.Query(t.Context(), "star wars")
	if err != nil || len(docs) != 3 || docs[0].ID != "mv-2905" || docs[0].Score != 14.148183 || docs[0].Features["votes"] != 17513 || len(docs[0].Features) != 9 {
		t.Errorf("found %v, %v", docs, err)
	}
}

func ownDocs(scores ...float64) []Own {
	list := make([]Own, len(scores))
	for i, s := range scores {
		list[i] = Own{ID: string(rune('a' + i)), Score: s, Features: map[string]float64{"x": s, "y": math.NaN()}}
	}
	return list
}

// docs are an engine's documents in its order: ids and scores.
func docs(ids string, scores ...float64) []featurelog.Document {
	list := make([]featurelog.Document, len(scores))
	for i, s := range scores {
		list[i] = featurelog.Document{ID: ids[i : i+1], Score: s, Features: map[string]float64{"x": s}}
	}
	return list
}

// Claim: a value differs by its own size, and a missing one is 0.
func TestDiffers(t *testing.T) {
	for _, c := range []struct {
		logged, live float64
		want         bool
	}{
		{8.59e-8, 0, true}, {8.59e-8, 8.590001e-8, false}, {1e6, 1e6 + 0.25, false}, {1e6, 1e6 + 2, true},
		{0, 0, false}, {math.NaN(), 0, false}, {math.NaN(), 1e-9, true}, {-2, 2, true},
	} {
		if (Change{"x", c.logged, c.live}).Differs() != c.want {
			t.Errorf("%v and %v: expected %v", c.logged, c.live, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	const tolerance = 1e-5
	own := [][]Own{ownDocs(3, 2, 1)}
	one := func(live []featurelog.Document) *Parity {
		return Compare([]string{"q"}, own, [][]featurelog.Document{live}, tolerance)
	}

	p := one(docs("abcz", 3, 2, 1.000001, 0))
	if p.Different != 0 || p.Reordered != nil || p.Documents != 3 || p.Further != 1 || p.Absent != 0 || math.Abs(p.Largest-1e-6) > 1e-9 || p.Changed != 0 {
		t.Errorf("equal scores: found %+v", p)
	}
	p = one(docs("abc", 13, 12, 11))
	if p.Constant != 10 || p.Different != 0 || p.Reordered != nil || p.Changed != 3 {
		t.Errorf("a constant: found %+v", p)
	}
	p = one(docs("acb", 3, 2.5, 2))
	if p.Different != 1 || len(p.Reordered) != 1 || p.First.Document != "c" || p.First.Own != 1 || p.First.Live != 2.5 || p.Changed != 1 {
		t.Errorf("another order: found %+v", p)
	}
	if c := p.First.Features[0]; c.Name != "x" || !c.Differs() || p.First.Features[1].Differs() {
		t.Errorf("found the features %+v", p.First.Features)
	}
	p = one(docs("abc", 3.5, 2, 1))
	if p.Constant != 0 || p.Different != 1 || p.First.Document != "a" {
		t.Errorf("one other score: found %+v", p)
	}
	p = one(docs("abc", 3, 2, math.NaN()))
	if p.Different != 1 || p.First.Document != "c" {
		t.Errorf("no number: found %+v", p)
	}
	own = [][]Own{ownDocs(4, 3, 2, 1)}
	if p = one(docs("abcd", 4.5, 3.5, 2, 1)); p.Constant != 0 || p.Different != 2 {
		t.Errorf("half of the scores differ: found %+v", p)
	}
	if p = one(docs("abcd", 5, 4, 3, 1)); p.Constant != 1 || p.Different != 1 || p.First.Live != 0 {
		t.Errorf("a constant, and one other score: found %+v", p)
	}
	own = [][]Own{ownDocs(3, 2, 1)}
	if p = one(docs("b", 2)); p.Absent != 2 || p.Documents != 1 || p.Queries != 1 {
		t.Errorf("absent documents: found %+v", p)
	}
	if p = one(nil); p.Absent != 3 || p.Unmatched != 1 || p.Documents != 0 {
		t.Errorf("no documents: found %+v", p)
	}

	own = [][]Own{ownDocs(2, 2, 1.999999, 1)}
	if p = one(docs("cbad", 2, 2, 2, 1)); p.Reordered != nil || p.Ties != 1 || p.Different != 0 {
		t.Errorf("near ties: found %+v", p)
	}
	if p = one(docs("bacd", 2, 2, 2, 1)); p.Reordered != nil || p.Ties != 0 {
		t.Errorf("equal scores in another order: found %+v", p)
	}
	own = [][]Own{ownDocs(1e6, 2e6)} // float32 has 0.125 there
	if p = one(docs("ba", 2e6+1, 1e6)); p.Different != 0 || p.Largest > 1e-6 {
		t.Errorf("large scores: found %+v", p)
	}
}

// Claim: a template that is accepted makes a request for any query: a form, or JSON with the text of the query in it.
func FuzzParseRequest(f *testing.F) {
	for _, text := range []string{`{"q":"{query}","fq":["a",7,true]}`, `{"query":{"match":{"t":"{query}"}},"size":5,"params":{"k":"{query}"}}`, `{"query":{"x":["{query}"]},"params":null}`} {
		f.Add(text, `red "shoes" ${x}`)
	}
	s, err := Solr("http://localhost", Options{})
	if err != nil {
		f.Fatal(err)
	}
	p, err := Plugin("Elasticsearch", "http://localhost", Options{Index: "i"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		if r, err := s.ParseRequest([]byte(text)); err == nil {
			form, err := r.(solrRequest).fill(query)
			if err != nil || !form.form {
				t.Errorf("found %v, %v", form, err)
			}
		}
		if r, err := p.ParseRequest([]byte(text)); err == nil {
			r := r.(pluginRequest)
			body, err := r.searcher(p, r.body, map[string]any{}).fill(query)
			if err != nil || !json.Valid(body.body) {
				t.Errorf("found %s, %v", body.body, err)
			}
		}
	})
}
