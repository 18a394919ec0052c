package interchange

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// nativeModel is a body of PUT _ml/trained_models, as Elasticsearch's documentation describes it, read
// without the package's code.
type nativeModel struct {
	Config struct {
		LTR struct {
			Extractors []struct {
				Query struct {
					Feature string `json:"feature_name"`
				} `json:"query_extractor"`
			} `json:"feature_extractors"`
		} `json:"learning_to_rank"`
	} `json:"inference_config"`
	Compressed string `json:"compressed_definition"`

	definition struct {
		Model struct {
			Ensemble struct {
				Names []string `json:"feature_names"`
				Trees []struct {
					Tree struct {
						Names  []string     `json:"feature_names"`
						Nodes  []nativeNode `json:"tree_structure"`
						Target string       `json:"target_type"`
					} `json:"tree"`
				} `json:"trained_models"`
				Target    string         `json:"target_type"`
				Aggregate map[string]any `json:"aggregate_output"`
			} `json:"ensemble"`
		} `json:"trained_model"`
	}
}

type nativeNode struct {
	Index       int      `json:"node_index"`
	Decision    string   `json:"decision_type"`
	Left        int      `json:"left_child"`
	Right       int      `json:"right_child"`
	Feature     int      `json:"split_feature"`
	Threshold   float64  `json:"threshold"`
	DefaultLeft bool     `json:"default_left"`
	Leaf        *float64 `json:"leaf_value"`
}

// nativeOf reads a body.
func nativeOf(t *testing.T, text []byte) *nativeModel {
	t.Helper()
	var m nativeModel
	decode := func(data []byte, v any) {
		d := json.NewDecoder(bytes.NewReader(data))
		if err := d.Decode(v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
	}
	decode(text, &m)
	packed, err := base64.StdEncoding.DecodeString(m.Compressed)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	definition, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	decode(definition, &m.definition)
	e := m.definition.Model.Ensemble
	if _, sum := e.Aggregate["weighted_sum"]; !sum || len(e.Aggregate) != 1 || e.Target != "regression" {
		t.Fatalf("the ensemble is %v of %s", e.Aggregate, e.Target)
	}
	return &m
}

// score follows the nodes in double, as Elasticsearch does.
func (m *nativeModel) score(t *testing.T, features map[string]float64) (sum float64) {
	for _, tree := range m.definition.Model.Ensemble.Trees {
		if tree.Tree.Target != "regression" || !slices.Equal(tree.Tree.Names, m.definition.Model.Ensemble.Names) {
			t.Fatalf("a tree has the target %q and the features %q", tree.Tree.Target, tree.Tree.Names)
		}
		at := 0
		for tree.Tree.Nodes[at].Leaf == nil {
			n := tree.Tree.Nodes[at]
			if n.Index != at || n.Decision != "lte" {
				t.Fatalf("node %d is %+v", at, n)
			}
			v := features[tree.Tree.Names[n.Feature]]
			if left := v <= n.Threshold; left || v != v && n.DefaultLeft {
				at = n.Left
			} else {
				at = n.Right
			}
		}
		sum += *tree.Tree.Nodes[at].Leaf
	}
	return sum
}

// extractorsFor returns extractors of features.
func extractorsFor(t *testing.T, names ...string) []Extractor {
	t.Helper()
	var list []any
	for _, name := range names {
		list = append(list, map[string]any{"query_extractor": map[string]any{"feature_name": name, "query": map[string]any{"match": map[string]any{name: "{{query}}"}}}})
	}
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	extractors, err := ReadExtractors("queries.json", text)
	if err != nil {
		t.Fatal(err)
	}
	return extractors
}

// Claim: Elasticsearch's trees score as the model does to the bit but for the order of additions, at
// thresholds and with missing values; the body has an extractor of each feature that a tree tests, or
// of all. Shifted scores are not negative.
func TestElasticsearchNative(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 40))
		m := drawTrees(t, rng, drawing{missing: []dataset.Missing{dataset.MissingKeep, dataset.MissingError, dataset.MissingZero}[seed%3], transforms: seed%5 == 0})
		if seed%4 == 0 {
			m = drawModel(t, rng, drawnStumps)
		}
		d := drawDocuments(rng, m, 40)
		names, err := engineNames(m, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		shuffled := slices.Clone(names)
		rng.Shuffle(len(names), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		o := WriteOptions{Extractors: extractorsFor(t, shuffled...), AllFeatures: seed%2 == 0, Scores: Scores(seed / 2 % 2)}
		var b bytes.Buffer
		notes, err := Write(&b, m, "elasticsearch-native", o)
		if err != nil {
			t.Fatal(err)
		}
		native := nativeOf(t, b.Bytes())
		listed := native.definition.Model.Ensemble.Names
		if note := fmt.Sprintf("%d of %d features written; the others do not change a score (--all-features writes them)", len(listed), len(names)); (len(listed) < len(names)) != slices.Contains(notes, note) || len(listed) < len(names) && o.AllFeatures {
			t.Fatalf("%q of %q are listed; notes %q", listed, names, notes)
		}
		for i, x := range native.Config.LTR.Extractors {
			if x.Query.Feature != listed[i] || len(native.Config.LTR.Extractors) != len(listed) {
				t.Fatalf("the extractors are %+v, expected those of %q", native.Config.LTR.Extractors, listed)
			}
		}
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		constant := math.NaN()
		for i := range want {
			features := map[string]float64{}
			for j, name := range names {
				features[name] = float64(d.Queries[0].X[i*d.Features+j])
			}
			got := native.score(t, features)
			if o.Scores == ShiftedScores {
				if got < -1e-12 {
					t.Fatalf("the score is %v, expected none below 0", got)
				}
				if constant != constant {
					constant = got - want[i]
				}
				got -= constant
			}
			if math.Abs(got-want[i]) > 1e-9*(1+math.Abs(want[i])) {
				t.Fatalf("seed %d: document %d has the score %v, expected %v", seed, i, got, want[i])
			}
		}
	}
}

// Claim: what Elasticsearch's own learning to rank cannot have is refused with the way out: other
// models, categories, logistic scores, and extractors that are not those of the model's features.
func TestElasticsearchNativeRefusals(t *testing.T) {
	tree := func(n scorer.TreeNode) *model.Model {
		n.Left, n.Right = -1, -2
		s, err := scorer.NewTrees(3, [][]scorer.TreeNode{{n}})
		if err != nil {
			t.Fatal(err)
		}
		return &model.Model{Scorer: s, Params: []float64{1, 2}, FeatureNames: []string{"bm25", "ctr", "age"}}
	}
	bm25 := tree(scorer.TreeNode{Threshold: 1})
	linear := &model.Model{Scorer: scorer.Linear{Features: 1}, Params: []float64{1}, FeatureNames: []string{"bm25"}}
	for _, c := range []struct {
		m    *model.Model
		o    WriteOptions
		want string // "" if it is written
	}{
		{bm25, WriteOptions{Extractors: extractorsFor(t, "bm25")}, ""},
		{bm25, WriteOptions{Extractors: extractorsFor(t, "age", "bm25")}, ""},
		{bm25, WriteOptions{Extractors: extractorsFor(t, "bm25"), AllFeatures: true}, `found no extractor of the feature "ctr", expected one of each feature`},
		{bm25, WriteOptions{}, "found no extractors, expected those of the features (--extractors FILE"},
		{bm25, WriteOptions{Extractors: extractorsFor(t, "bm52")}, `found no extractor of the feature "bm25": did you mean "bm52"?`},
		{bm25, WriteOptions{Extractors: extractorsFor(t, "bm25", "ctrs")}, `found an extractor of "ctrs", which is no feature of the model: did you mean "ctr"?`},
		{bm25, WriteOptions{Extractors: extractorsFor(t, "b"), Names: []string{"b", "c", "d"}}, ""},
		{bm25, WriteOptions{Extractors: extractorsFor(t, "bm25"), Scores: LogisticScores}, "returns a class and no score"},
		{tree(scorer.TreeNode{Categories: []float32{1}}), WriteOptions{Extractors: extractorsFor(t, "bm25")}, "found categories of feature 1"},
		{linear, WriteOptions{Extractors: extractorsFor(t, "bm25")}, "train trees, such as lambdamart, or use the plugin: --to elasticsearch"},
	} {
		var b bytes.Buffer
		_, err := Write(&b, c.m, "elasticsearch-native", c.o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("error is %v, expected %q", err, c.want)
		}
		if err != nil {
			continue
		}
		if _, _, err := Read(b.Bytes(), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "found a trained model of Elasticsearch's own learning to rank") {
			t.Errorf("reading it gives %v", err)
		}
	}
}

const extractorText = `[
{"query_extractor": {"feature_name": "bm25", "query": {"match": {"title": "{{query}}"}}, "default_score": 0.5}},
{"query_extractor": {"feature_name": "ctr", "query": {"exists": {"field": "ctr"}}}}
]`

// Claim: extractors are read from a list, or from what eland's LTRModelConfig gives; others are an
// error that names the line.
func TestReadExtractors(t *testing.T) {
	for _, text := range []string{extractorText, `{"learning_to_rank": {"feature_extractors": ` + extractorText + `}}`, `{"feature_extractors": ` + extractorText + `}`} {
		list, err := ReadExtractors("q.json", []byte(text))
		if err != nil || len(list) != 2 || list[0].Name != "bm25" || list[1].Name != "ctr" {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
	for _, c := range []struct{ old, by, want string }{
		{`"feature_name": "ctr"`, `"feature_name": "bm25"`, `q.json:3: found a second extractor of the feature "bm25"`},
		{`"feature_name": "ctr"`, `"featurename": "ctr"`, `q.json:3: found "featurename" in extractor 2: did you mean "feature_name"?`},
		{`"feature_name": "ctr"`, `"feature_name": 3`, `q.json:3: found 3 as the feature_name of extractor 2, expected a string`},
		{`"feature_name": "ctr", `, ``, `q.json:3: found nothing as the feature_name of extractor 2`},
		{`"query": {"exists": {"field": "ctr"}}`, `"query": "ctr"`, `q.json:3: found "ctr" as the query of extractor 2, expected an object`},
		{`"query": {"exists": {"field": "ctr"}}`, `"default_score": 1`, `q.json:3: found nothing as the query of extractor 2`},
		{`0.5`, `-1`, `q.json:2: found -1 as the default_score of extractor 1, expected at least 0`},
		{`0.5`, `"a"`, `q.json:2: found "a" as the default_score of extractor 1`},
		{`0.5`, `0.5, "query": {}`, `q.json:2: found the key "query" a second time`},
		{"[\n{\"query_extractor\"", "[\n{\"field_extractor\"", `q.json:2: found {"field_extractor"`},
		{`"default_score": 0.5}}`, `"default_score": 0.5}, "b": 1}`, `q.json:2: found {"query_extractor"`},
		{"\n]", ", 7]", `q.json:3: found 7 as extractor 3, expected an object`},
		{"\n]", "", `q.json:3: found what is not JSON (unexpected end of JSON input), expected a JSON list of extractors`},
		{extractorText, "", `q.json`},
		{extractorText, "7", `q.json:1: found 7 as the extractors, expected a list`},
		{extractorText, `{"a": []}`, `q.json:1: found {"a": []} as the extractors, expected a list`},
	} {
		list, err := ReadExtractors("q.json", []byte(strings.Replace(extractorText, c.old, c.by, 1)))
		if e, ok := errors.AsType[*model.FileError](err); !ok || !strings.Contains(e.Error(), c.want) || !strings.Contains(extractorText, c.old) {
			t.Errorf("%s: %v, %v, expected %s", c.by, list, err, c.want)
		}
	}
}

// Claim: any bytes are extractors or an error about the file.
func FuzzExtractors(f *testing.F) {
	f.Add([]byte(extractorText))
	f.Add([]byte(`{"learning_to_rank": {"feature_extractors": []}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := ReadExtractors("q.json", text); err != nil {
			if _, ok := errors.AsType[*model.FileError](err); !ok {
				t.Fatalf("error %#v", err)
			}
		}
	})
}
