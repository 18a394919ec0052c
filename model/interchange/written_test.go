package interchange

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// everyActivation are all that there are.
var everyActivation = []scorer.Activation{scorer.Tanh, scorer.Sigmoid, scorer.ReLU, scorer.Softplus, scorer.ELU, scorer.Identity, scorer.LeakyReLU}

// drawAny draws a model of any kind, trees with categories and missing values among them, and
// documents for it.
func drawAny(t *testing.T, seed, stream uint64) (*model.Model, *dataset.Dataset) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, stream))
	m := drawModel(t, rng, int(seed)%drawnKinds, everyActivation...)
	if seed%drawnKinds == drawnTrees && seed%2 == 0 {
		m = drawTrees(t, rng, drawing{categories: seed%4 == 0, missing: []dataset.Missing{dataset.MissingKeep, dataset.MissingError, dataset.MissingZero}[seed/4%3]})
	}
	return m, drawDocuments(rng, m, 40)
}

// checkScores compares what a language made of a model's documents with the model's scores.
func checkScores(t *testing.T, m *model.Model, d *dataset.Dataset, tolerance float64, scores func(x []float32) float64) {
	t.Helper()
	want, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		x := d.Queries[0].X[i*d.Features : (i+1)*d.Features]
		if got := scores(x); math.Abs(got-want[i]) > tolerance*(1+size(m, x)) || got != got {
			t.Fatalf("%s: document %v has the score %v, expected %v", m.Scorer.Kind(), x, got, want[i])
		}
	}
}

// size is how large what a score is summed up of may be.
func size(m *model.Model, x []float32) float64 {
	switch m.Scorer.(type) {
	case *scorer.Trees, *scorer.Stumps:
		return 1
	}
	most := 1.0
	for _, v := range x {
		if v == v {
			most = max(most, math.Abs(float64(v)))
		}
	}
	for _, p := range m.Params {
		most *= 1 + math.Abs(p)/4
	}
	return most
}

// written writes a model.
func written(t *testing.T, m *model.Model, name string, o WriteOptions) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, m, name, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Claim: a threshold for doubles divides them as the model divides the float32s that they become.
func TestDoubleThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	for range 200_000 {
		v := drawValue(rng)
		at := doubleThreshold(v)
		for _, x := range []float64{at, math.Nextafter(at, math.Inf(1)), math.Nextafter(at, math.Inf(-1)), float64(v), float64(v) * (1 + rng.NormFloat64()*1e-7)} {
			if got, want := x <= at, float32(x) <= v; got != want {
				t.Fatalf("%v is at most %v: %t; as float32 %v, at most %v: %t", x, at, got, float32(x), v, want)
			}
		}
	}
}

// Claim: shifted and logistic scores of expressions are what they say.
func TestExpressionScores(t *testing.T) {
	s, err := scorer.NewTrees(1, [][]scorer.TreeNode{{{Left: -1, Right: -2}}})
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Scorer: s, Params: []float64{-3, 2}, Missing: dataset.MissingZero}
	for _, c := range []struct {
		name   string
		scores Scores
		want   string
	}{
		{"sql", RawScores, `(CASE WHEN "feature_1" <= 7.006492321624085e-46 OR "feature_1" IS NULL THEN -3.0 ELSE 2.0 END) AS "score"`},
		{"sql", ShiftedScores, `(3.0 + CASE WHEN "feature_1" <= 7.006492321624085e-46 OR "feature_1" IS NULL THEN -3.0 ELSE 2.0 END) AS "score"`},
		{"sql", LogisticScores, `1.0 / (1.0 + EXP(-(CASE WHEN "feature_1"`},
		{"vespa", ShiftedScores, `(3.0 + if (isNan(attribute(feature_1)) || attribute(feature_1) <= 7.006492321624085e-46, -3.0, 2.0))`},
		{"vespa", LogisticScores, `sigmoid((if (isNan(`},
	} {
		if text := written(t, m, c.name, WriteOptions{Scores: c.scores}); !strings.Contains(text, c.want) {
			t.Errorf("%s, %v: found %s, expected %s", c.name, c.scores, text, c.want)
		}
	}
}

// Claim: what a format cannot express is refused, with the reason.
func TestRefusedWrites(t *testing.T) {
	pair := scorer.PairNetwork{Features: 1, Hidden: 1, PairHidden: 1}
	linear := func() *model.Model { return &model.Model{Scorer: scorer.Linear{Features: 2}, Params: []float64{1, 2}} }
	categories, err := scorer.NewTrees(1, [][]scorer.TreeNode{{{Categories: []float32{1}, Left: -1, Right: -2}}})
	if err != nil {
		t.Fatal(err)
	}
	missing, err := scorer.NewTrees(1, [][]scorer.TreeNode{{{Threshold: 1, Left: -1, Right: -2}}})
	if err != nil {
		t.Fatal(err)
	}
	normalized, least := linear(), linear()
	normalized.Normalization, least.Missing = dataset.MinMax, dataset.MissingMin
	viewed := &model.Model{Scorer: scorer.Linear{Features: 4}, Params: []float64{1, 2, 3, 4}, Views: dataset.Views{dataset.RawView, dataset.RankView}, FeatureNames: []string{"a", "b"}}
	large := linear()
	large.Params = []float64{1e300, 0}
	named := linear()
	named.FeatureNames = []string{"a", "b c"}
	net := &model.Model{Scorer: scorer.Network{Features: 1, Hidden: 1, Activation: scorer.ELU}, Params: []float64{1, 1, 1}}
	for _, c := range []struct {
		m    *model.Model
		name string
		o    WriteOptions
		want string
	}{
		{&model.Model{Scorer: pair, Params: make([]float64, pair.NumParams())}, "onnx", WriteOptions{}, "scores a document by the others of its query"},
		{&model.Model{Scorer: pair, Params: make([]float64, pair.NumParams())}, "solr", WriteOptions{}, "depend on that document alone"},
		{&model.Model{Scorer: categories, Params: []float64{1, 2}}, "ranklib", WriteOptions{}, "found categories of feature 1 in node 1 of tree 1"},
		{&model.Model{Scorer: categories, Params: []float64{1, 2}}, "onnx", WriteOptions{}, "found categories"},
		{&model.Model{Scorer: missing, Params: []float64{1, 2}, Missing: dataset.MissingKeep}, "ranklib", WriteOptions{}, "a missing value of feature 1 goes right in node 1 of tree 1, where 0 goes left"},
		{&model.Model{Scorer: missing, Params: []float64{1, 1e300}}, "solr", WriteOptions{}, "within the range of float32"},
		{&model.Model{Scorer: missing, Params: []float64{1, 1}}, "solr", WriteOptions{Scores: LogisticScores}, "no logistic function of trees"},
		{&model.Model{Scorer: missing, Params: []float64{1, 1}}, "ranklib", WriteOptions{Scores: LogisticScores}, "no logistic function of trees"},
		{normalized, "elasticsearch", WriteOptions{}, "found the normalization minmax, which uses all documents of a query"},
		{normalized, "go", WriteOptions{}, "found the normalization minmax"},
		{least, "sql", WriteOptions{}, "--missing min"},
		{viewed, "sql", WriteOptions{}, "found the views"},
		{viewed, "lightgbm", WriteOptions{}, "found the views"},
		{large, "solr", WriteOptions{}, "within the range of float32"},
		{large, "onnx", WriteOptions{}, "within the range of float32"},
		{linear(), "solr", WriteOptions{Scores: ShiftedScores}, "no least value"},
		{linear(), "json", WriteOptions{Scores: ShiftedScores}, "no least value"},
		{linear(), "onnx", WriteOptions{Names: []string{"a"}}, "found 1 names of features, expected the model's 2"},
		{linear(), "sql", WriteOptions{Names: []string{"a", "a"}}, `found the feature name "a" twice`},
		{named, "vespa", WriteOptions{}, `found the feature name "b c", expected the name of an attribute`},
		{net, "ranklib", WriteOptions{}, "found the activation elu, expected sigmoid"},
		{net, "solr", WriteOptions{}, "found the activation elu, expected one that Solr has"},
		{&model.Model{Scorer: scorer.Random{Features: 1}}, "ranklib", WriteOptions{}, `found the scorer "random"`},
	} {
		if _, err := Write(new(bytes.Buffer), c.m, c.name, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: error is %v, expected %s", c.m.Scorer.Kind(), c.name, err, c.want)
		}
	}
}

// Claim: writing is deterministic and changes no model.
func TestWritingIsDeterministic(t *testing.T) {
	for seed := range uint64(60) {
		m, _ := drawAny(t, seed, 13)
		before := fmt.Sprint(m.Params, m.FeatureNames)
		for _, f := range Formats() {
			for _, scores := range []Scores{RawScores, ShiftedScores, LogisticScores} {
				var a, b bytes.Buffer
				_, err1 := Write(&a, m, f.Name, WriteOptions{Scores: scores})
				_, err2 := Write(&b, m, f.Name, WriteOptions{Scores: scores})
				if a.String() != b.String() || fmt.Sprint(err1) != fmt.Sprint(err2) {
					t.Fatalf("%s: written twice, %v and %v:\n%s\n%s", f.Name, err1, err2, a.String(), b.String())
				}
			}
		}
		if after := fmt.Sprint(m.Params, m.FeatureNames); after != before {
			t.Fatalf("writing changed a model from %s to %s", before, after)
		}
	}
}
