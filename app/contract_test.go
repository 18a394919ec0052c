package app

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/method"
)

// call runs a command line in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// mustCall is call for command lines that succeed.
func mustCall(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := call(args...)
	if code != exitDone {
		t.Fatalf("listwise %s exits with %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// The exit codes of the contract: 0 done, 1 it failed, 2 input or flags are wrong.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	mustCall(t, "data", "synth", "--queries", "3", "--docs", "8", "--relevant", "3", "--out", "d.txt")
	mustCall(t, "data", "synth", "--queries", "3", "--docs", "8", "--relevant", "3", "--features", "46", "--out", "wide.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	if err := os.WriteFile("bad.txt", []byte("1 qid:1 1:1\nx\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("alike.txt", []byte("1 qid:1 1:1\n1 qid:1 1:2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("target", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want int
		args string
	}{
		{0, ""},
		{0, "--help"},
		{0, "help train"},
		{0, "methods"},
		{0, "score --model m.json --data d.txt"},
		{2, "score --model m.json --data d.txt --out target"}, // a folder
		{2, "nonsense"},
		{2, "train"},
		{2, "train --nonsense"},
		{2, "train --method x --train d.txt --model n.json"},
		{2, "train --method mle --set C=x --train d.txt --model n.json"},
		{2, "train --method mle --train none.txt --model n.json"},
		{2, "train --method mle --train bad.txt --model n.json"},
		{2, "train --method mle --train alike.txt --model n.json"},
		{2, "train --method mle --train d.txt --model n.json --checkpoint bad.txt"},
		{2, "train --method convexloss --set form=factored --train d.txt --model n.json"},
		{2, "train --method lambdarank --set optimizer=lbfgs --train d.txt --model n.json"},
		{2, "train --method mle --train d.txt --model none/n.json"},
		{2, "train --method mle --train d.txt --model n.json --max-memory 1e-9"},
		{2, "train --method mle --train d.txt --model n.json --sample 1e-9"},
		{2, "data convert d.txt --out n.lwd --sample 1e-9"},
		{2, "score --model bad.txt --data d.txt"},
		{2, "score --model m.json --data wide.txt"},
		{2, "eval --model m.json --data wide.txt"},
		{2, "fuse m.json m.json --data wide.txt"},
		{2, "report m.json --data wide.txt --out r.html"},
		{2, "eval --scores bad.txt --data d.txt"},
		{2, "tune --method mle --data . --out runs"},
		{2, "methods x"},
		{2, "demo --format x"},
	} {
		code, _, errs := call(strings.Fields(c.args)...)
		if code != c.want {
			t.Errorf("listwise %s exits with %d, want %d: %s", c.args, code, c.want, errs)
		}
		if (errs == "") != (c.want == exitDone) || strings.Count(errs, "\n") > 1 {
			t.Errorf("listwise %s says %q, want one line if it fails", c.args, errs)
		}
	}
	if _, err := os.Stat("n.json"); err == nil {
		t.Error("a training that failed left a model")
	}
}

// The JSON of tune that scripts rely on, and how its numbers belong together.
func TestTuneJSON(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	mustCall(t, "data", "synth", "--queries", "14", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "all.txt")
	mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", "folds")
	text := mustCall(t, "tune", "--method", "mle,convexloss", "--grid", "C=0.1,10", "--grid", "samples=20", "--data", "folds",
		"--convention", "standard", "--measures", "map,ndcg@10", "--out", "runs", "--format", "json")
	var got struct {
		Convention string
		Select     string
		Queries    int
		Methods    []struct {
			Method   string
			Measures map[string]struct {
				Mean, Pooled float64
				Folds        []float64
			}
			Chosen     []map[string]any
			Validation []float64
		}
	}
	decode(t, text, &got)
	if got.Convention != "standard" || got.Select != "map" || got.Queries != 14 || len(got.Methods) != 2 || got.Methods[0].Method != "mle" || got.Methods[1].Method != "convexloss" {
		t.Fatalf("result is %s", text)
	}
	for _, m := range got.Methods {
		if len(m.Measures) != 2 || len(m.Chosen) != 3 || len(m.Validation) != 3 {
			t.Errorf("%s: %+v", m.Method, m)
		}
		var mean, pooled, queries float64
		for k, name := range []string{"Fold1", "Fold2", "Fold3"} {
			test := filepath.Join("folds", name, "test.txt")
			scores := filepath.Join("runs", m.Method, name+".scores")
			var e struct {
				Queries  float64
				Measures map[string]float64
			}
			decode(t, mustCall(t, "eval", "--data", test, "--scores", scores, "--convention", "standard", "--measures", "map", "--format", "json"), &e)
			v := e.Measures["map"]
			if f := m.Measures["map"].Folds[k]; f != v {
				t.Errorf("%s, %s: map is %v, eval of its score file says %v", m.Method, name, f, v)
			}
			mean, pooled, queries = mean+v/3, pooled+v*e.Queries, queries+e.Queries
			if c := m.Chosen[k]["C"]; c != 0.1 && c != 10.0 {
				t.Errorf("%s, %s: chose C=%v, want a number of the grid", m.Method, name, c)
			}
			if m.Chosen[k]["form"] == nil || len(m.Chosen[k]) < 10 {
				t.Errorf("%s, %s: chosen is %v, want all hyperparameters", m.Method, name, m.Chosen[k])
			}
		}
		if s := m.Measures["map"]; math.Abs(s.Mean-mean) > 1e-12 || math.Abs(s.Pooled-pooled/queries) > 1e-12 {
			t.Errorf("%s: mean %v and pooled %v, want %v and %v", m.Method, s.Mean, s.Pooled, mean, pooled/queries)
		}
	}
}

// The JSON of methods: every method with all its hyperparameters, whose defaults
// train accepts.
func TestMethodsJSON(t *testing.T) {
	var list []methodJSON
	decode(t, mustCall(t, "methods", "--format", "json"), &list)
	if len(list) != len(method.List()) {
		t.Fatalf("%d methods, want %d", len(list), len(method.List()))
	}
	for i, m := range method.List() {
		var one methodJSON
		decode(t, mustCall(t, "methods", m.Name, "--format", "json"), &one)
		if one.Name != m.Name || list[i].Name != m.Name || len(one.Hyperparameters) != len(m.Hyperparameters) {
			t.Errorf("%s: %+v", m.Name, one)
		}
		set := make(map[string]string)
		for _, h := range one.Hyperparameters {
			set[h.Name] = h.Default
			if h.Range == "" || h.Doc == "" {
				t.Errorf("%s: %+v is not described", m.Name, h)
			}
		}
		if _, err := m.Values(set); err != nil {
			t.Error(err)
		}
	}
}

// The demo shows that learning works: every trained ranker ranks unseen queries better than what
// was not trained, for several seeds.
func TestDemoLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and minutes with the race detector")
	}
	seeds := []string{"1"}
	if long.Enabled() {
		seeds = append(seeds, "2")
	}
	for _, seed := range seeds {
		var got struct {
			Convention string
			Queries    int
			Rankers    []demoRow
		}
		decode(t, mustCall(t, "demo", "--seed", seed, "--report", "", "--format", "json"), &got)
		if got.Convention != "standard" || got.Queries != 26 {
			t.Errorf("result is %+v", got)
		}
		trained := slices.IndexFunc(got.Rankers, func(r demoRow) bool { return !strings.HasPrefix(r.Ranker, "untrained: ") })
		if trained != 2 || len(got.Rankers) < 5 {
			t.Fatalf("rankers are %+v", got.Rankers)
		}
		for _, u := range got.Rankers[:trained] {
			for _, r := range got.Rankers[trained:] {
				for _, m := range []string{"map", "ndcg@10"} {
					if r.Measures[m] <= u.Measures[m] {
						t.Errorf("seed %s: %s of %q is %.4f, that of %q %.4f", seed, m, r.Ranker, r.Measures[m], u.Ranker, u.Measures[m])
					}
				}
			}
		}
	}
}
