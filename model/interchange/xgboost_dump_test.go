package interchange

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
)

// Claim: a dump of any model of trees without categories gives the same scores when it is read back,
// though it does not tell the order of features.
func TestXGBoostDumpRoundTrip(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := drawTrees(t, rng, drawing{false, seed%2 == 1, []dataset.Missing{dataset.MissingKeep, dataset.MissingError, dataset.MissingZero}[seed/2%3]})
		d := drawDocuments(rng, m, 60)
		var b strings.Builder
		if _, err := Write(&b, m, "xgboost-dump", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := Recognise([]byte(b.String())); got != "xgboost-dump" {
			t.Fatalf("the file is recognised as %q in\n%s", got, b.String())
		}
		back, _, err := Read([]byte(b.String()), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := back.Score(inOrderOf(back, m.FeatureNames, d))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if diff := got[i] - want[i]; diff > 1e-6*(1+want[i]*want[i]) || -diff > 1e-6*(1+want[i]*want[i]) {
				t.Fatalf("document %d has the score %v, expected %v", i, got[i], want[i])
			}
		}
	}
}

// inOrderOf returns documents with the features that a model names, in its order, or with as many
// as it has.
func inOrderOf(m *model.Model, names []string, d *dataset.Dataset) *dataset.Dataset {
	var x []float32
	for row := range slices.Chunk(d.Queries[0].X, d.Features) {
		for j := range m.Scorer.NumFeatures() {
			if m.FeatureNames != nil {
				j = max(0, slices.Index(names, m.FeatureNames[j]))
			}
			x = append(x, row[j])
		}
	}
	return datasetOf(x, m.Scorer.NumFeatures())
}

const dumpText = `[{"nodeid": 0, "depth": 0, "split": "title", "split_condition": 43.5, "yes": 1, "no": 2, "missing": 2, "children": [
{"nodeid": 1, "leaf": 0.5},
{"nodeid": 2, "depth": 1, "split": "kind", "split_condition": [1, 7], "yes": 4, "no": 3, "missing": 3, "children": [
{"nodeid": 3, "leaf": -1}, {"nodeid": 4, "leaf": 2}]}]},
{"nodeid": 0, "leaf": 0.25}]
`

// Claim: a dump by hand: below the condition yes, missing values where it says, a category of the
// list yes; and the plugins' form with an objective.
func TestXGBoostDumpRules(t *testing.T) {
	for _, text := range []string{dumpText, `{"objective": "rank:ndcg", "splits": ` + dumpText + `}`} {
		m, _, err := Read([]byte(text), ReadOptions{})
		if err != nil || !slices.Equal(m.FeatureNames, []string{"title", "kind"}) {
			t.Fatalf("the model has the names %q, %v", m.FeatureNames, err)
		}
		nan := float32(nan64)
		got, err := m.Score(datasetOf([]float32{43.5, 7, 43.499996, 7, nan, 1, nan, 2, 50, nan}, 2))
		if want := []float64{2.25, 0.75, 2.25, -0.75, -0.75}; err != nil || !slices.Equal(got, want) {
			t.Errorf("the scores are %v, %v, expected %v", got, err, want)
		}
	}
}

// Claim: every malformed dump is an error with its line.
func TestXGBoostDumpErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"yes": 1`, `"yes": 3`, `model:2: found the child 1, expected 3 and 2, as "yes" and "no" say`},
		{`"no": 2, "missing": 2`, `"no": 1, "missing": 1`, `model:3: found the child 2, expected 1 and 1, as "yes" and "no" say`},
		{`"missing": 2`, `"missing": 5`, `model:1: found 5 as "missing", expected 1 or 2, as "yes" and "no" say`},
		{`"split_condition": 43.5, `, ``, `model:1: found no "split_condition", expected a number: indicator features are not read`},
		{`43.5`, `"x"`, `model:1: found "x" as "split_condition", expected a number within the range of float32`},
		{`43.5`, `1e99`, `model:1: found 1e99 as "split_condition", expected a number within the range of float32`},
		{`[1, 7]`, `[1, -7]`, `model:3: found the category -7, expected one from 0 to 16777215`},
		{`{"nodeid": 1, "leaf": 0.5}`, `{"leaf": 0.5}`, `model:2: found a node without "nodeid", expected its number`},
		{`{"nodeid": 1, "leaf": 0.5}`, `{"nodeid": 1}`, `model:2: found a node without "leaf" that lacks "split", "yes", "no" or "children", expected all of them`},
		{`{"nodeid": 1, "leaf": 0.5},`, ``, `model:1: found 1 children, expected 2`},
		{`"leaf": 2`, `"leaf": "2"`, `model:4: found string as "leaf", expected a number within the range of float32`},
	} {
		if !strings.Contains(dumpText, c.from) {
			t.Fatalf("the file has no %q", c.from)
		}
		_, _, err := Read([]byte(strings.Replace(dumpText, c.from, c.to, 1)), ReadOptions{})
		if file := (*model.FileError)(nil); !errors.As(err, &file) || err.Error() != c.want {
			t.Errorf("%s: the error is\n%v, expected\n%s", c.to, err, c.want)
		}
	}
}

// Claim: any bytes are read or refused, and what is read can be scored.
func FuzzXGBoostDump(f *testing.F) {
	f.Add([]byte(dumpText))
	f.Add([]byte(strings.ReplaceAll(dumpText, "kind", "title")))
	f.Add([]byte(strings.NewReplacer("kind", "f3", "title", "f0").Replace(dumpText)))
	f.Add([]byte(`{"objective": "rank:ndcg", "splits": ` + dumpText + `}`))
	fuzzReader(f, "xgboost-dump")
}
