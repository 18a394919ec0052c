package app

import (
	"encoding/json"
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
	if err := json.Unmarshal([]byte(out), &done); err != nil || done != (loggedJSON{2, 4, 0, "answers.jsonl", "solr.run"}) {
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
