package model

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/model/scorer"
)

// full is a model with something in every field.
func full() *Model {
	m := linear(0.25, -1e-9)
	gap := 1.5e-7
	m.Method, m.Measure, m.Convention = "convexloss", "ndcg@10", "letor3"
	m.Hyperparameters = map[string]any{"C": 0.1, "form": "sampled", "unique": false}
	m.Seed = 1<<64 - 1
	m.FeatureNames = []string{"tf", "<idf> & more"}
	m.Threshold, m.Missing, m.Normalization = 0.5, dataset.MissingMin, dataset.MinMax
	m.Training = Training{Fingerprint: "ab12", Queries: 3, Documents: 9, Used: 2, Objective: 1.25, GradNorm: 1e-8, Gap: &gap, Iterations: 7, Evaluations: 8, Status: "certified gap reached"}
	return m
}

func save(t *testing.T, m *Model) (path, text string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

// The whole file as scripts see it, but for the sum, which a file made by hand does
// not have.
const fullText = `{
  "format": "listwise-model",
  "version": 1,
  "method": "convexloss",
  "measure": "ndcg@10",
  "convention": "letor3",
  "threshold": 0.5,
  "hyperparameters": {
    "C": 0.1,
    "form": "sampled",
    "unique": false
  },
  "seed": 18446744073709551615,
  "features": {
    "count": 2,
    "names": [
      "tf",
      "<idf> & more"
    ]
  },
  "missing": "min",
  "normalization": "minmax",
  "training": {
    "fingerprint": "ab12",
    "queries": 3,
    "documents": 9,
    "queries_used": 2,
    "objective": 1.25,
    "gradient_norm": 1e-8,
    "gap": 1.5e-7,
    "iterations": 7,
    "evaluations": 8,
    "status": "certified gap reached"
  },
  "scorer": {
    "type": "linear",
    "weights": [
      0.25,
      -1e-9
    ]
  }
}
`

func TestSave(t *testing.T) {
	_, text := save(t, full())
	want := strings.TrimSuffix(fullText, "\n}\n") + ",\n  \"sum\": \"crc32c:88bebf71\"\n}\n"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("file (-expected +got):\n%s", diff)
	}
}

// What Save writes, Load reads: all of it.
func TestLoad(t *testing.T) {
	for _, m := range []*Model{full(), linear(1, 2, 3)} {
		path, _ := save(t, m)
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("model (-saved +loaded):\n%s", diff)
		}
	}
}

// A model that cannot be stored leaves the old file as it was.
func TestSaveLeavesOldFile(t *testing.T) {
	path, text := save(t, full())
	bad := full()
	bad.Params[1] /= 0 * bad.Params[0]
	if err := bad.Save(path); err == nil || !strings.Contains(err.Error(), "parameter 2 is -Inf") {
		t.Errorf("error is %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != text {
		t.Errorf("the file changed, %v", err)
	}
}

// Claim: a rule for features that Load would refuse is not written.
func TestSaveErrors(t *testing.T) {
	for want, change := range map[string]func(*Model){
		`found "missing": "keep" with the scorer linear, expected one that takes missing values, as trees do`: func(m *Model) { m.Missing = dataset.MissingKeep },
		`found "missing": "keep" with the normalization minmax, expected none`: func(m *Model) {
			m.Missing, m.Normalization, m.Scorer, m.Params = dataset.MissingKeep, dataset.MinMax, stump(), []float64{1, 2}
		},
		`missing: found "Missing(7)"`: func(m *Model) { m.Missing = 7 },
		`normalization: found "Normalization(3)", expected none, minmax or zscore`: func(m *Model) { m.Normalization = 3 },
	} {
		m := full()
		change(m)
		if err := m.Write(io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s in it", err, want)
		}
	}
}

// stump is a tree of one division by the first of two features, missing values going left.
func stump() *scorer.Trees {
	s, err := scorer.NewTrees(2, [][]scorer.TreeNode{{{Feature: 0, Threshold: 1, MissingLeft: true, Left: -1, Right: -2}}})
	if err != nil {
		panic(err)
	}
	return s
}

// Claim: a model that keeps missing values says so in its file, and scores them as its trees do.
func TestMissingValuesAreKept(t *testing.T) {
	m := &Model{Scorer: stump(), Params: []float64{5, 7}, Missing: dataset.MissingKeep}
	path, text := save(t, m)
	if !strings.Contains(text, `"missing": "keep"`) {
		t.Errorf("the file does not tell of missing values: %s", text)
	}
	read, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datafile.Read(strings.NewReader("0 qid:a 1:nan 2:1\n1 qid:a 1:2 2:nan\n0 qid:a 1:0 2:1\n"), "f", dataset.Options{Missing: dataset.MissingKeep})
	if err != nil {
		t.Fatal(err)
	}
	if scores, err := read.Score(d); err != nil || !slices.Equal(scores, []float64{5, 7, 5}) {
		t.Errorf("scores are %v, %v", scores, err)
	}
}

// Every mistake in a file is reported with the file, the line where there is one, what was
// found and what was expected.
func TestLoadErrors(t *testing.T) {
	replace := func(old, by string) string {
		if !strings.Contains(fullText, old) {
			t.Fatalf("no %q in the file", old)
		}
		return strings.Replace(fullText, old, by, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "m:1: found what is not JSON (unexpected end of JSON input), expected a model file"},
		{"data", "1 qid:1 1:0\n", "m:1: found what is not JSON (invalid character 'q' after top-level value), expected a model file"},
		{"list", "[]", "m:1: found array, expected an object"},
		{"null", "null", `m: found no "format", expected "listwise-model"`},
		{"other JSON", `{"a": 1}`, `m: found no "format", expected "listwise-model"`},
		{"other format", replace(FormatName, "xgboost"), `m: found "format": "xgboost", expected "listwise-model"`},
		{"format of another type", replace(`"listwise-model"`, "1"), `m:2: found number as "format", expected text in quotes`},
		{"newer version", replace(`"version": 1`, `"version": 4`), "m: found format version 4, expected 3 or lower: the model was written by a newer version of listwise"},
		{"version 0", replace(`"version": 1`, `"version": 0`), "m: found format version 0, expected 1 to 3"},
		{"no version", replace(`  "version": 1,`, ""), "m: found format version 0, expected 1 to 3"},
		{"fractional version", replace(`"version": 1`, `"version": 1.5`), `m:3: found number 1.5 as "version", expected a whole number within range`},
		{"truncated", fullText[:len(fullText)-20], "m:39: found what is not JSON (unexpected end of JSON input), expected a model file"},
		{"trailing garbage", fullText + "{}", "m:43: found what is not JSON (invalid character '{' after top-level value), expected a model file"},
		{"negative seed", replace("18446744073709551615", "-1"), `m:13: found number -1 as "seed", expected a whole number within range`},
		{"seed too large", replace("18446744073709551615", "18446744073709551616"), `m:13: found number 18446744073709551616 as "seed", expected a whole number within range`},
		{"NaN", replace("0.25", "NaN"), "m:38: found what is not JSON (invalid character 'N' looking for beginning of value), expected a model file"},
		{"huge weight", replace("-1e-9", "-1e999"), `m:39: found number -1e999 as "weights", expected a number within the range of float64`},
		{"weight of another type", replace("-1e-9", `"x"`), `m:39: found string as "weights", expected a number within the range of float64`},
		{"null weight", replace("0.25", "null"), "m:38: linear scorer: found null as weight 1, expected a number"},
		{"weights no list", replace(`"weights": [
      0.25,
      -1e-9
    ]`, `"weights": 3`), `m:37: found number as "weights", expected a list`},
		{"huge objective", replace("1.25", "1e400"), `m:28: found number 1e400 as "training.objective", expected a number within the range of float64`},
		{"huge hyperparameter", replace("0.1,", "1e400,"), `m:9: found number 1e400 as "hyperparameters", expected a number within the range of float64`},
		{"long scorer", replace(`"linear"`, `"`+strings.Repeat("x", 1e5)+`"`), `m:35: found the type "` + strings.Repeat("x", 184) + " … " + strings.Repeat("x", 37) + `", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees; a program that reads scorers of another package must import that package`},
		{"unknown scorer", replace(`"linear"`, `"forest"`), `m:35: found the type "forest", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees; a program that reads scorers of another package must import that package`},
		{"no scorer", replace(`"scorer"`, `"scores"`), `m: found no "scorer", expected an object with a "type"`},
		{"null scorer", `{"format":"listwise-model","version":1,"scorer":null}`, `m:1: found the type "", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees`},
		{"features no object", replace(`"count": 2`, `"count": "2"`), `m:15: found string as "features.count", expected a whole number within range`},
		{"other number of features", replace(`"count": 2`, `"count": 3`), `m: found "features": {"count": 3}, expected the scorer's 2`},
		{"feature names", replace(`"tf",`, ""), "m: found 1 feature names, expected 2"},
		{"feature names that are not UTF-8", replace(`"tf"`, "\"t\xff\""), `m:17: found the byte "\xff", which is not UTF-8, expected text in UTF-8`},
		{"half a surrogate pair", replace(`"tf"`, `"t\udc80"`), `m:17: found "\\udc80", half of a surrogate pair, expected both halves`},
		{"two scorers", replace(`"scorer"`, `"scorer": {"type": "linear", "weights": [1, 2]},
  "scorer"`), `m:36: found the key "scorer" a second time in its object, expected it once`},
		{"two weights", replace(`"type": "linear",`, `"weights": [1, 2], "type": "linear",`), `m:37: found the key "weights" a second time in its object, expected it once`},
		{"two hyperparameters", replace(`"form"`, `"\u0043"`), `m:10: found the key "C" a second time in its object, expected it once`},
		{"names of another case", replace(`"version": 1`, `"Version": 1`), "m: found format version 0, expected 1 to 3"},
		{"leading zero", replace("0.25", "00.25"), "m:38: found what is not JSON (invalid character '0' after array element), expected a model file"},
		{"deep", replace("0.1,", strings.Repeat("[", 100)+strings.Repeat("]", 100)+","), "m:9: found more than 100 levels of objects and lists, expected fewer"},
		{"sum of another type", replace(`"seed"`, `"sum": 3, "seed"`), `m:13: found number as "sum", expected text in quotes`},
		{"sum", replace(`"seed"`, `"sum": "crc32c:88bebf70", "seed"`), `m: found "sum": "crc32c:88bebf70", expected "crc32c:88bebf71": the file was damaged, or edited after it was written; a model edited on purpose must lose its "sum"`},
		{"sum of another model", replace(`0.25`, `0.26, "sum": "crc32c:88bebf71"`), `m:38: found what is not JSON (invalid character ':' after array element), expected a model file`},
		{"negative threshold", replace(`"threshold": 0.5`, `"threshold": -1`), `m: found "threshold": -1, expected a positive number`},
		{"missing", replace(`"missing": "min"`, `"missing": "keep"`), `m: found "missing": "keep" with the scorer linear, expected one that takes missing values, as trees do`},
		{"unknown missing", replace(`"missing": "min"`, `"missing": "drop"`), `m: missing: found "drop", expected error, zero, min or keep`},
		{"normalization", replace(`"minmax"`, `"rank"`), `m: normalization: found "rank", expected none, minmax or zscore`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.WriteFile("m", []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := Load("m")
			if err == nil || err.Error() != c.want {
				t.Errorf("error is\n\t%v\nwant\n\t%s", err, c.want)
			}
			var file *FileError
			if !errors.As(err, &file) {
				t.Errorf("error is a %T, want a *FileError", err)
			}
		})
	}
	_, err := Load(t.TempDir())
	if err == nil || !strings.HasSuffix(err.Error(), ": found a directory, expected a model file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
