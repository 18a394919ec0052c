package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/listwise/listwise/serve"
	"github.com/listwise/listwise/serve/experiment"
)

// By hand, the scores 1·bm25 + 2·title − 1·ctr are 0.5 and 4, and in the other order.
const (
	solrAnswer = `{"responseHeader":{"status":0},"response":{"numFound":2,"maxScore":1.5,"docs":[
  {"id":"a","score":1.5,"[features]":"bm25=1.5,title=0.0,ctr=1.0,year=1999.0"},
  {"id":"b","[features]":"bm25=2.0,title=1.0,ctr=0.0"}]}}
`
	solrReranked = `{"responseHeader":{"status":0},"response":{"numFound":2,"maxScore":4,"docs":[
  {"score":4,"id":"b","[features]":"bm25=2.0,title=1.0,ctr=0.0"},
  {"id":"a","score":0.5,"[features]":"bm25=1.5,title=0.0,ctr=1.0,year=1999.0"}]}}
`
	elasticAnswer = `{"hits":{"max_score":9,"hits":[{"_id":"a","_score":9,"fields":{"_ltrlog":[{"l":[{"name":"bm25","value":1.5},{"name":"title"},{"name":"ctr","value":1}]}]}},{"_id":"b","_score":8,"fields":{"_ltrlog":[{"l":[{"name":"bm25","value":2},{"name":"title","value":1},{"name":"ctr"}]}]}}]}}`
)

// Claim: the answer to a search engine's answer is the same with its documents in the order of the model and with the
// model's scores.
func TestEngineAnswers(t *testing.T) {
	s := newServer(t, serve.Config{})
	if code, got := post(t, s, "/v1/models/web:rank?from=solr&query=q", solrAnswer); code != http.StatusOK || got != solrReranked {
		t.Errorf("is answered with %d\n%s\nwant\n%s", code, got, solrReranked)
	}
	for _, engine := range []string{"elasticsearch", "opensearch"} {
		code, got := post(t, s, "/v1/models/web:rank?top=1&from="+engine, elasticAnswer)
		want := `{"hits":{"max_score":4,"hits":[{"_id":"b","_score":4,"fields":{"_ltrlog":[{"l":[{"name":"bm25","value":2},{"name":"title","value":1},{"name":"ctr"}]}]}}]}}`
		if code != http.StatusOK || got != want {
			t.Errorf("is answered with %d\n%s\nwant\n%s", code, got, want)
		}
	}
	none := `{"response":{"numFound":0,"docs":[]}}`
	if code, got := post(t, s, "/v1/models/web:rank?from=solr", none); code != http.StatusOK || got != none {
		t.Errorf("an answer without documents is answered with %d %s", code, got)
	}
	// A worker that has read an engine's answer reads the others as before.
	if code, got := post(t, s, "/v1/models/web:rank", `{"documents":[{"features":"bm25=2,title=1,ctr=0"},{"features":{"bm25":2,"title":1,"ctr":0}}]}`); code != http.StatusOK || !strings.Contains(got, `{"id":"1","rank":1,"score":4},{"id":"2","rank":2,"score":4}`) {
		t.Errorf("is answered with %d %s", code, got)
	}
}

// Claim: what is wrong with such a request is refused with the parameter or the place.
func TestEngineAnswersRefused(t *testing.T) {
	s := newServer(t, serve.Config{})
	sparse := `{"response":{"docs":[{"id":"a","[features]":"bm25=1.5"}]}}`
	for _, c := range []struct {
		query, body, detail, pointer string
		status                       int
	}{
		{"from=lucene", solrAnswer, "from=lucene: expected elasticsearch, opensearch or solr", "", 400},
		{"from=", solrAnswer, "from=: expected", "", 400},
		{"from=solr&from=solr", solrAnswer, "found the parameter from twice", "", 400},
		{"from=solr&documents=2", solrAnswer, "found the parameter documents beside from, expected lenient, query, top or user", "", 400},
		{"from=solr&features=3", solrAnswer, "found the parameter features beside from", "", 400},
		{"from=solr&top=0", solrAnswer, "top=0: expected a whole number", "", 400},
		{"from=solr&lenient=x", solrAnswer, "lenient=x: expected true or false", "", 400},
		{"from=solr&x=1", solrAnswer, `found the parameter "x", expected documents, features, from,`, "", 400},
		{"top=1", oneDocument, "found parameters in the URL, expected none beside a body of application/json", "", 400},
		{"from=solr", oneDocument, "found no documents, expected an answer of Solr", "", 400},
		{"from=elasticsearch", solrAnswer, "expected an answer of Elasticsearch", "", 400},
		{"from=solr", sparse, `found no feature "title", expected all 3 of the model (lenient=true makes 0 of the others)`, "/response/docs/0/[features]", 422},
		{"from=solr&lenient=false", sparse, `found no feature "title"`, "/response/docs/0/[features]", 422},
		{"from=solr", strings.Replace(solrAnswer, "ctr=0.0", "ctr=Infinity", 1), `found "Infinity" as feature "ctr", expected a number`, "/response/docs/1/[features]", 400},
	} {
		code, got := post(t, s, "/v1/models/web:rank?"+c.query, c.body)
		var p struct{ Detail, Pointer string }
		if err := json.Unmarshal([]byte(got), &p); err != nil || code != c.status || !strings.Contains(p.Detail, c.detail) || p.Pointer != c.pointer {
			t.Errorf("?%s is answered with %d %s, want %d …%s… at %s", c.query, code, got, c.status, c.detail, c.pointer)
		}
	}
	if code, got := post(t, s, "/v1/models/web:rank?from=solr&lenient=true", sparse); code != http.StatusOK || !strings.Contains(got, `"score":1.5`) {
		t.Errorf("a sparse log is answered with %d %s", code, got)
	}
	if code, got := postBinary(t, s, "/v1/models/web:rank?from=solr", "", matrix(1, 2, 3)); code != http.StatusBadRequest {
		t.Errorf("a matrix of an engine is answered with %d %s", code, got)
	}
}

// Claim: experiments take engines' answers, by the user and the query of the URL.
func TestEngineAnswersInExperiments(t *testing.T) {
	a, b := save(t, linear(1, 2, -1)), save(t, linear(-1, 0, 0))
	s := newServer(t, serve.Config{
		Models: []serve.Source{{Name: "a", Path: a}, {Name: "b", Path: b}},
		Experiments: []serve.Experiment{
			{Name: "split", Kind: experiment.Split, Salt: "s", Arms: []serve.Arm{{Model: "a", Share: 1}, {Model: "b", Share: 1}}},
			{Name: "mix", Kind: experiment.Interleave, Salt: "s", Arms: []serve.Arm{{Model: "a", Share: 1}, {Model: "b", Share: 1}}},
		},
	})
	seen := make(map[string]bool)
	for _, user := range strings.Split("abcdefghijklmnop", "") {
		code, got := post(t, s, "/v1/models/split:rank?from=solr&user="+user, solrAnswer)
		if seen[got] = true; code != http.StatusOK {
			t.Fatalf("is answered with %d %s", code, got)
		}
	}
	if len(seen) != 2 || !seen[solrReranked] {
		t.Errorf("found the answers %v, expected one of each model", seen)
	}
	if code, got := post(t, s, "/v1/models/split:rank?from=solr", solrAnswer); code != http.StatusBadRequest || !strings.Contains(got, "expected an id") {
		t.Errorf("without a user, is answered with %d %s", code, got)
	}
	if code, got := post(t, s, "/v1/models/mix:rank?from=solr&user=u&query=q", solrAnswer); code != http.StatusOK || strings.Count(got, `"[features]"`) != 2 {
		t.Errorf("an interleaving is answered with %d %s", code, got)
	}
}
