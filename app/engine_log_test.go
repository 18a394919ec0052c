package app

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/listwise/listwise/engine/enginetest"
)

// Claim: engine log writes what data log and eval read, in the engine's order although the scores are in another.
func TestEngineLog(t *testing.T) {
	s := enginetest.Solr()
	t.Cleanup(s.Close)
	s.Stores["shop"] = `[{"name":"bm25","params":{"q":"{!dismax qf=t}${q}"}},{"name":"ctr","params":{}}]`
	s.Answer = `{
  "responseHeader": {"status": 0},
  "response": {"docs": [{"id": "a b", "score": -1.5, "[features]": "bm25=1.5,ctr=1.0"}, {"id": "c", "score": 3.5, "[features]": "bm25=0.0,ctr=2.0"}]}}`
	t.Chdir(t.TempDir())
	mustWrite(t, "judged.csv", "query,docid,rating\nred shoes,a b,2\nhat,c,1\n")
	mustWrite(t, "request.json", `{"q": "{query}"}`)
	log := []string{"engine", "log", "--solr", s.URL, "--data", "judged.csv", "--request", "request.json"}
	out := mustCall(t, append(log, "--store", "shop", "--out", "answers.jsonl", "--run", "solr.run", "--format", "json")...)
	var done loggedJSON
	if err := json.Unmarshal([]byte(out), &done); err != nil || done != (loggedJSON{2, 4, 0, 0, "answers.jsonl", "solr.run"}) {
		t.Errorf("found %s", out)
	}
	run, err := os.ReadFile("solr.run")
	if err != nil {
		t.Fatal(err)
	}
	if want := "red shoes\tQ0\ta b\t1\t1\tengine\nred shoes\tQ0\tc\t2\t0\tengine\nhat\tQ0\ta b\t1\t1\tengine\nhat\tQ0\tc\t2\t0\tengine\n"; string(run) != want {
		t.Errorf("found the run\n%sexpected\n%s", run, want)
	}
	mustCall(t, "data", "log", "answers.jsonl", "--judgements", "judged.csv", "--unjudged", "zero", "--out", "train.csv")
	table, err := os.ReadFile("train.csv")
	if err != nil {
		t.Fatal(err)
	}
	if want := "query,grade,doc,bm25,ctr\nred shoes,2,a b,1.5,1\nred shoes,0,c,0,2\nhat,0,a b,1.5,1\nhat,1,c,0,2\n"; string(table) != want {
		t.Errorf("found the table\n%sexpected\n%s", table, want)
	}
	if out := mustCall(t, "eval", "--data", "train.csv", "--scores", "solr.run", "--measures", "mrr", "--format", "json"); !strings.Contains(out, `"mrr": 0.75`) {
		t.Errorf("found %s", out)
	}

	// engine check reads the answers of a reranking.
	s.Lock()
	s.Models["m"] = []byte(`{"class":"org.apache.solr.ltr.model.LinearModel","name":"m","store":"shop","features":[{"name":"bm25"},{"name":"ctr"}],"params":{"weights":{"bm25":-2.1666667,"ctr":1.75}}}`)
	mustWrite(t, "solr.json", string(s.Models["m"]))
	s.Unlock()
	mustCall(t, "import", "solr.json", "--model", "m.json")
	mustCall(t, append(log, "--name", "m", "--depth", "1", "--out", "reranked.jsonl")...)
	_, out, errs := call("engine", "check", "--answers", "reranked.jsonl", "--model", "m.json", "--data", "train.csv", "--format", "json")
	if !strings.Contains(out, `"documents": 4,`) || !strings.Contains(errs, "0 of 4 documents beyond the tolerance 1e-05, 2 of 2 queries in another order") {
		t.Errorf("found %s%s", out, errs)
	}

	for want, args := range map[string][]string{
		"--store and --name: found both or neither":                      {"--out", "x"},
		"needs --out or --run":                                           {"--store", "shop"},
		"--depth 5: found no --name":                                     {"--store", "shop", "--depth", "5", "--out", "x"},
		`Solr has no feature store "none"`:                               {"--store", "none", "--out", "x"},
		"--out x and --run x are one file":                               {"--store", "shop", "--out", "x", "--run", "x"},
		"--run request.json is a file that --request request.json reads": {"--store", "shop", "--run", "request.json"},
	} {
		code, _, errs := call(append(log, args...)...)
		if code == exitDone || !strings.Contains(errs, want) {
			t.Errorf("%v: found %d, %s, expected %q", args, code, errs, want)
		}
	}
	s.Lock()
	s.Answer = `{"response":{"docs":[{"id":"tab\tin it","score":1,"[features]":"bm25=1.0"}]}}`
	s.Unlock()
	code, _, errs := call(append(log, "--store", "shop", "--run", "bad.run")...)
	if code == exitDone || !strings.Contains(errs, `--run: found the document "tab\tin it", expected one without tabs`) {
		t.Errorf("found %d, %s", code, errs)
	}
	if _, err := os.Stat("bad.run"); err == nil {
		t.Error("found bad.run, expected none")
	}
}

// Claim: a query that the engine refuses ends the log, or is left out and counted with --skip-failed. Other failures
// end it in any case.
func TestEngineLogSkipsFailed(t *testing.T) {
	s := enginetest.Solr()
	t.Cleanup(s.Close)
	s.Stores["shop"] = `[{"name":"x","params":{}}]`
	s.Answer = `{"response":{"docs":[{"id":"a","score":1,"[features]":"x=1"}]}}`
	status, failing := http.StatusBadRequest, 2
	searches := 0
	s.Fail = func(w http.ResponseWriter, request string, done bool) bool {
		if request != "POST /select" || done {
			return false
		}
		if searches++; failing != 0 && searches != failing {
			return false
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"msg":"cannot parse"}}`)
		return true
	}
	t.Chdir(t.TempDir())
	mustWrite(t, "judged.csv", "query,docid,rating\nhat,a,2\n(hat,a,1\nred,a,0\n")
	mustWrite(t, "request.json", `{"q": "title:{query}"}`)
	log := []string{"engine", "log", "--solr", s.URL, "--store", "shop", "--data", "judged.csv", "--request", "request.json", "--out", "a.jsonl", "--run", "a.run", "--format", "json"}
	run := func(want string, args ...string) (int, string) {
		t.Helper()
		s.Lock()
		searches = 0
		s.Unlock()
		code, out, errs := call(append(log, args...)...)
		if !strings.Contains(errs, want) {
			t.Errorf("%v: found %s, expected %s", args, errs, want)
		}
		return code, out
	}
	if code, _ := run("query (hat: POST " + s.URL + "/select: found 400 Bad Request: cannot parse (--skip-failed leaves such queries out)"); code != exitFailed {
		t.Errorf("found exit code %d", code)
	}
	if _, err := os.Stat("a.jsonl"); err == nil {
		t.Error("found a.jsonl, expected none")
	}
	code, out := run("warning: the engine refused 1 of 3 queries, which are left out; query (hat: POST "+s.URL+"/select: found 400 Bad Request: cannot parse", "--skip-failed")
	if code != exitDone || !strings.Contains(out, `"queries": 3`) || !strings.Contains(out, `"documents": 2`) || !strings.Contains(out, `"queries_refused": 1`) {
		t.Errorf("found %d, %s", code, out)
	}
	for _, name := range []string{"a.jsonl", "a.run"} {
		text, err := os.ReadFile(name)
		if err != nil || strings.Count(string(text), "\n") != 2 || strings.Contains(string(text), "(hat") {
			t.Errorf("found %s, %v", text, err)
		}
	}
	failing = 0
	if code, _ := run("the engine refused all 3 queries; query hat: POST", "--skip-failed"); code != exitFailed {
		t.Errorf("found exit code %d", code)
	}
	status = http.StatusUnauthorized
	if code, _ := run("query hat: POST "+s.URL+"/select: found 401 Unauthorized", "--skip-failed"); code != exitFailed {
		t.Errorf("found exit code %d", code)
	}
}

// Claim: Elasticsearch logs what data log reads, and engine check compares its ranking with the model's.
func TestEngineLogElasticsearch(t *testing.T) {
	s := enginetest.Plugin()
	t.Cleanup(s.Close)
	s.Stores["shop"] = `[{"name":"bm25","params":["keywords"]},{"name":"ctr","params":[]}]`
	s.Answer = `{"timed_out":false,"hits":{"hits":[{"_id":"a","_score":4,"fields":{"_ltrlog":[{"features":[{"name":"bm25","value":2},{"name":"ctr","value":2}]}]}},` +
		`{"_id":"b","_score":1,"fields":{"_ltrlog":[{"features":[{"name":"bm25"},{"name":"ctr","value":1}]}]}}]}}`
	t.Chdir(t.TempDir())
	mustWrite(t, "judged.csv", "query,docid,rating\nred shoes,a,2\nred shoes,b,1\n")
	mustWrite(t, "body.json", `{"query": {"match": {"title": "{query}"}}, "params": {"keywords": "{query}"}}`)
	mustWrite(t, "linear.json", `{"model":{"name":"m","model":{"type":"model/linear","definition":{"bm25":1,"ctr":1}}}}`)
	mustCall(t, "import", "linear.json", "--model", "m.json")
	mustCall(t, "engine", "put", "--elasticsearch", s.URL, "--model", "m.json", "--name", "m", "--store", "shop")
	log := []string{"engine", "log", "--elasticsearch", s.URL, "--data", "judged.csv", "--request", "body.json", "--out", "answers.jsonl"}
	mustCall(t, append(log, "--index", "products", "--store", "shop")...)
	mustCall(t, "data", "log", "answers.jsonl", "--judgements", "judged.csv", "--out", "train.csv")
	table, err := os.ReadFile("train.csv")
	if want := "query,grade,doc,bm25,ctr\nred shoes,2,a,2,2\nred shoes,1,b,0,1\n"; err != nil || string(table) != want {
		t.Errorf("found %s, %v, expected %s", table, err, want)
	}
	check := []string{"engine", "check", "--elasticsearch", s.URL, "--index", "products", "--name", "m", "--model", "m.json", "--data", "train.csv", "--request", "body.json", "--format", "json"}
	if out := mustCall(t, check...); !strings.Contains(out, `"documents": 2,`) || !strings.Contains(out, `"largest_difference": 0,`) {
		t.Errorf("found %s", out)
	}
	for want, args := range map[string][]string{
		"needs --index":                        {"--store", "shop"},
		`found the index "a b"`:                {"--store", "shop", "--index", "a b"},
		"found --solr and --elasticsearch":     {"--store", "shop", "--index", "products", "--solr", s.URL},
		`Elasticsearch has no feature set "x"`: {"--store", "x", "--index", "products"},
	} {
		if code, _, errs := call(append(log, args...)...); code == exitDone || !strings.Contains(errs, want) {
			t.Errorf("%v: found %d, %s, expected %q", args, code, errs, want)
		}
	}
	if code, _, errs := call("engine", "log", "--solr", s.URL, "--index", "x", "--store", "shop", "--data", "judged.csv", "--request", "body.json", "--out", "x"); code != exitUsage || !strings.Contains(errs, "--index x: found --solr") {
		t.Errorf("found %d, %s", code, errs)
	}
}
