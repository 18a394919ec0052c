package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/method"
)

// clicked writes a log of pages and its propensities to the working folder, beside the data of the guide.
func clicked(t *testing.T) {
	t.Helper()
	prepare := copied("../docs/guide/data")
	t.Chdir(t.TempDir())
	prepare(t)
}

// withoutPages returns a model file without the pages that it was trained on, which a model of the table of "clicks weigh"
// does not have.
func withoutPages(t *testing.T, text []byte) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "sum") // of the whole file
	delete(m["training"].(map[string]any), "pages_seen")
	return fmt.Sprint(m)
}

// Claim: "train --clicks" writes the model of "clicks weigh" and "train", for squared error and for other losses, with the
// gain of the grade in NDCG. The report has the uncorrected twin on clicks of queries held out.
func TestTrainFromClicksIsWeighAndTrain(t *testing.T) {
	clicked(t)
	mustCall(t, "train", "--method", "singlefeature", "--set", "feature=1", "--missing", "zero", "--train", "train.csv", "--model", "bm25.json", "--no-record")
	mustCall(t, "clicks", "simulate", "--data", "train.csv", "--model", "bm25.json", "--order", "noise:0.3", "--pages", "3000", "--users", "300", "--out", "pages.jsonl")
	mustCall(t, "clicks", "propensities", "pages.jsonl", "--bootstrap", "0", "--out", "theta.json")
	small := []string{"--set", "trees=10", "--set", "leaves=4", "--missing", "zero", "--no-record"}
	for _, c := range []struct {
		debias, method, convention string
		weigh                      []string
	}{
		{"examinations", "mart", "", nil},
		{"robust", "lambdamart", "trec", []string{"--regression", "logistic"}},
		{"robust", "lambdamart", "trec", nil},
		{"ips", "lambdamart", "trec", []string{"--clip", "0.1", "--weigh-queries", "pages"}},
	} {
		shared := append([]string{"--propensities", "theta.json"}, c.weigh...)
		if c.debias == "ips" {
			shared = append(shared, "--debias", "ips")
		}
		// The kinds of grades are the defaults of the methods.
		out := mustCall(t, append(append([]string{"train", "--method", c.method, "--clicks", "pages.jsonl", "--train", "train.csv", "--model", "one.json", "--format", "json"}, shared...), small...)...)
		mustCall(t, append([]string{"clicks", "weigh", "pages.jsonl", "--data", "train.csv", "--missing", "zero", "--debias", c.debias, "--out", "weighed.lwd"}, shared...)...)
		two := append([]string{"train", "--method", c.method, "--train", "weighed.lwd", "--model", "two.json", "--convention", "trec"}, small...)
		mustCall(t, two...)
		first, second := read(t, "one.json"), read(t, "two.json")
		if withoutPages(t, first) != withoutPages(t, second) || bytes.Equal(first, second) {
			t.Errorf("%s %s: the models differ", c.method, c.debias)
		}
		var m struct{ Convention string }
		if err := json.Unmarshal(first, &m); err != nil || m.Convention != c.convention {
			t.Errorf("%s: convention %q, expected %q (%v)", c.method, m.Convention, c.convention, err)
		}
		var r struct {
			Twin twins `json:"twin"`
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		w := r.Twin
		if w.Queries < 5 || w.Corrected <= 0 || w.Uncorrected <= 0 || w.Corrected == w.Uncorrected || !(w.Interval[0] < w.Difference && w.Difference < w.Interval[1]) {
			t.Errorf("%s %s: found the comparison %+v, expected two models and an interval", c.method, c.debias, w)
		}
		if d := w.Corrected - w.Uncorrected - w.Difference; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s %s: the difference of the means is %v, found %v", c.method, c.debias, w.Corrected-w.Uncorrected, w.Difference)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Claim: a method without weights of documents trains from robust grades without them, and says so. Methods that take documents for
// relevant or not train with a threshold.
func TestTrainFromClicksByOtherMethods(t *testing.T) {
	clicked(t)
	mustCall(t, "train", "--method", "singlefeature", "--set", "feature=1", "--missing", "zero", "--train", "train.csv", "--model", "bm25.json", "--no-record")
	mustCall(t, "clicks", "simulate", "--data", "train.csv", "--model", "bm25.json", "--order", "noise:0.3", "--pages", "2000", "--users", "300", "--out", "pages.jsonl")
	mustCall(t, "clicks", "propensities", "pages.jsonl", "--bootstrap", "0", "--out", "theta.json")
	base := []string{"train", "--clicks", "pages.jsonl", "--train", "train.csv", "--missing", "zero", "--propensities", "theta.json", "--regression", "logistic", "--no-record", "--model", "m.json"}
	for _, args := range [][]string{
		{"--method", "listnet"},
		{"--method", "approxndcg", "--set", "optimizer=descent", "--set", "epochs=3"},
		{"--method", "convexloss", "--threshold", "0.3", "--set", "samples=20"},
		{"--method", "ranknet", "--scorer", "net", "--set", "epochs=3", "--hold-out", "1/4"},
		{"--method", "regression", "--debias", "none", "--twin-share", "0.3"},
		{"--method", "mart", "--set", "trees=5", "--hold-out", "1/4"},
		{"--method", "lambdamart", "--set", "trees=5", "--debias", "pairs"},
		{"--debias", "position", "--set", "trees=5"},
	} {
		code, out, errs := call(append(base, args...)...)
		if code != exitDone {
			t.Errorf("%v: %s", args, errs)
			continue
		}
		note := strings.Contains(errs, "takes no weights of documents, so --debias robust has none")
		if want := args[1] == "approxndcg" || args[1] == "convexloss"; note != want {
			t.Errorf("%v: a note about weights: %v, expected %v", args, note, want)
		}
		if compared := strings.Contains(out, "uncorrected twin"); compared == (args[1] == "regression") {
			t.Errorf("%v: a comparison: %v, expected one unless grades are click rates", args, compared)
		}
	}
}

// Claim: --debias pairs finds the examination of slots: t⁺ is near the root of the propensities 1/k, and the model says so. Without
// propensities the comparison is by click rates.
func TestTrainFromClicksByPairs(t *testing.T) {
	clicked(t)
	mustCall(t, "train", "--method", "singlefeature", "--set", "feature=1", "--missing", "zero", "--train", "train.csv", "--model", "bm25.json", "--no-record")
	mustCall(t, "clicks", "simulate", "--data", "train.csv", "--model", "bm25.json", "--order", "shuffle:10", "--pages", "4000", "--out", "pages.jsonl")
	out := mustCall(t, "train", "--clicks", "pages.jsonl", "--train", "train.csv", "--missing", "zero", "--debias", "pairs", "--set", "trees=10", "--set", "leaves=4", "--no-record", "--model", "m.json")
	if !strings.Contains(out, "by dcg@10 of click rates, which favor the order shown") {
		t.Errorf("found %s, expected a comparison by click rates", out)
	}
	var m struct {
		Training struct {
			Queries int
			Slots   struct{ Clicked []float64 }
		}
	}
	decode(t, string(read(t, "m.json")), &m)
	clicked := m.Training.Slots.Clicked
	if m.Training.Queries < 1000 || len(clicked) != 10 {
		t.Fatalf("found %d pages and %d slots, expected thousands of pages and 10 slots", m.Training.Queries, len(clicked))
	}
	for k, v := range clicked {
		if want := 1 / math.Sqrt(float64(k+1)); math.Abs(v-want) > 0.06 {
			t.Errorf("slot %d: ratio %.3f, expected about %.3f", k+1, v, want)
		}
	}
}

// Claim: every method learns from clicks at its defaults, or the error says what to use.
func TestEveryMethodLearnsFromClicksOrSaysWhatToUse(t *testing.T) {
	if !long.Enabled() {
		t.Skip("trains all methods")
	}
	clicked(t)
	mustCall(t, "train", "--method", "singlefeature", "--set", "feature=1", "--missing", "zero", "--train", "train.csv", "--model", "bm25.json", "--no-record")
	mustCall(t, "clicks", "simulate", "--data", "train.csv", "--model", "bm25.json", "--order", "noise:0.3", "--pages", "2000", "--out", "pages.jsonl")
	mustCall(t, "clicks", "propensities", "pages.jsonl", "--bootstrap", "0", "--out", "theta.json")
	refused := []string{"mle", "expgain", "l2", "l3", "convexloss", "exploss", "combined", "svmmap", "mcrank", "prank"}
	for _, m := range method.List() {
		code, _, errs := call("train", "--method", m.Name, "--clicks", "pages.jsonl", "--train", "train.csv", "--missing", "zero", "--propensities", "theta.json",
			"--regression", "logistic", "--twin-share", "0", "--no-record", "--model", "m.json")
		if slices.Contains(refused, m.Name) {
			if code != exitUsage || !strings.Contains(errs, "found grades of clicks, which are fractions; expected --method ") {
				t.Errorf("%s: exit code %d: %s", m.Name, code, errs)
			}
		} else if code != exitDone {
			t.Errorf("%s: exit code %d: %s", m.Name, code, errs)
		}
	}
}
