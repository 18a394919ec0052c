package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadsWhatEarlierVersionsWrote claims that models of earlier versions give the scores that they
// gave, that their caches hold the
// same data or are refused with what to do, and that what commands print as JSON still has every key
// with its value.
func TestReadsWhatEarlierVersionsWrote(t *testing.T) {
	kept, err := filepath.Abs("../testdata/compatibility")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // for the record of runs
	data := filepath.Join(kept, "data.txt")
	versions, err := os.ReadDir(kept)
	if err != nil {
		t.Fatal(err)
	}
	models, caches := 0, 0
	for _, v := range versions {
		if !v.IsDir() {
			continue
		}
		dir := filepath.Join(kept, v.Name())
		scores, err := filepath.Glob(filepath.Join(dir, "*.scores"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range scores {
			models++
			checkOldScores(t, path, data)
		}
		in := func(name string) string { return filepath.Join(dir, name) }
		if _, out, said := call("data", "info", "--format", "json", in("data.lwd")); out != "" || !strings.Contains(said, "write the cache anew") {
			checkOldOutput(t, out, in("info.output"))
			caches++
		}
		checkOldOutput(t, mustCall(t, "data", "info", "--format", "json", data), in("info.output"))
		checkOldOutput(t, mustCall(t, "eval", "--quiet", "--convention", "letor3", "--format", "json", "--data", data, "--model", in("linear.json")), in("eval.output"))
		if _, err := os.Stat(in("compare.output")); err == nil {
			checkOldOutput(t, mustCall(t, "compare", "--quiet", "--convention", "letor3", "--format", "json", "--data", data, "--permutations", "200", "--resamples", "200", in("linear.scores"), in("stumps.scores")), in("compare.output"))
		}
	}
	if models < 23 || caches < 3 {
		t.Errorf("found %d models and %d caches of earlier versions in %s, expected at least 23 and 3", models, caches, kept)
	}
}

// checkOldScores compares the scores of a model with those in the file beside it.
func checkOldScores(t *testing.T, path, data string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := mustCall(t, "score", "--quiet", "--data", data, "--model", strings.TrimSuffix(path, ".scores")+".json")
	if got != string(want) {
		t.Errorf("%s: the model gives other scores now: %.60q…, expected %.60q…", path, got, want)
	}
}

// checkOldOutput compares JSON that is printed now with what an earlier version printed.
func checkOldOutput(t *testing.T, got, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var now, then any
	if err := json.Unmarshal([]byte(got), &now); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &then); err != nil {
		t.Fatal(err)
	}
	checkKept(t, path, then, now)
}

// checkKept reports what then has and now does not.
func checkKept(t *testing.T, at string, then, now any) {
	t.Helper()
	switch then := then.(type) {
	case map[string]any:
		now, ok := now.(map[string]any)
		if !ok {
			t.Errorf("%s: no object any more", at)
			return
		}
		for key, v := range then {
			if _, ok := now[key]; !ok {
				t.Errorf("%s.%s is gone", at, key)
				continue
			}
			if key == "permutations" {
				continue // an exact test enumerates more sign flips than before, for its intervals
			}
			checkKept(t, at+"."+key, v, now[key])
		}
	case []any:
		now, ok := now.([]any)
		if !ok || len(now) != len(then) {
			t.Errorf("%s: no list of %d any more", at, len(then))
			return
		}
		for i, v := range then {
			checkKept(t, fmt.Sprintf("%s[%d]", at, i), v, now[i])
		}
	default:
		if s, ok := then.(string); ok && strings.ContainsRune(s, filepath.Separator) {
			return // a path
		}
		if now != then {
			t.Errorf("%s: %v, expected %v as before", at, now, then)
		}
	}
}
