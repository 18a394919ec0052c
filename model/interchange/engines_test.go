package interchange

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// kinds of models that drawModel draws.
const (
	drawnTrees = iota
	drawnStumps
	drawnLinear
	drawnBias
	drawnNetwork
	drawnLayers
	drawnKinds
)

// drawModel returns a random model of a kind whose numbers are float32, so that formats of either
// precision hold them. Trees have thresholds alone and send missing values where they send 0.
func drawModel(t *testing.T, rng *rand.Rand, kind int, activations ...scorer.Activation) *model.Model {
	t.Helper()
	if kind == drawnTrees {
		m := drawTrees(t, rng, drawing{missing: []dataset.Missing{dataset.MissingZero, dataset.MissingError}[rng.IntN(2)]})
		return m
	}
	features := 1 + rng.IntN(6)
	var s scorer.Scorer
	var err error
	switch kind {
	case drawnStumps:
		var stumps []scorer.Stump
		for range 1 + rng.IntN(12) {
			stumps = append(stumps, scorer.Stump{Feature: rng.IntN(features), Threshold: drawValue(rng)})
		}
		stumps, _ = scorer.MergeStumps(stumps, make([]float64, len(stumps)))
		s, err = scorer.NewStumps(features, stumps)
	case drawnLinear:
		s = scorer.Linear{Features: features}
	case drawnBias:
		s, err = scorer.NewLayers(features, []scorer.Layer{{Units: 1, Activation: scorer.Identity}})
	case drawnNetwork:
		s = scorer.Network{Features: features, Hidden: 1 + rng.IntN(5), Activation: activations[rng.IntN(len(activations))]}
	case drawnLayers:
		var layers []scorer.Layer
		for range 1 + rng.IntN(3) {
			layers = append(layers, scorer.Layer{Units: 1 + rng.IntN(4), Activation: activations[rng.IntN(len(activations))]})
		}
		layers = append(layers, scorer.Layer{Units: 1, Activation: scorer.Identity})
		s, err = scorer.NewLayers(features, layers)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Method: "drawn", Hyperparameters: map[string]any{}, Scorer: s, Params: make([]float64, s.NumParams())}
	for i := range m.Params {
		m.Params[i] = float64(float32(rng.NormFloat64()))
	}
	m.Missing = []dataset.Missing{dataset.MissingZero, dataset.MissingError}[rng.IntN(2)]
	if rng.IntN(2) == 0 {
		m.FeatureNames = []string{"bm25", "title match", `a"ge\`, "ctr", "länge", "x6"}[:features]
	}
	return m
}

// sameOrder checks that two models rank documents alike, or give both the same score where one
// does, up to what a logistic function between them rounds.
func sameOrder(t *testing.T, m, back *model.Model, d *dataset.Dataset) {
	t.Helper()
	want, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for j := range i {
			if near := 1e-9 * (1 + math.Abs(want[i]) + math.Abs(want[j])); want[i] > want[j]+near && !(got[i] > got[j]) || want[i] < want[j]-near && !(got[i] < got[j]) {
				t.Fatalf("documents %d and %d have the scores %v and %v, expected the order of %v and %v", i, j, got[i], got[j], want[i], want[j])
			}
		}
	}
}

// Claim: RankLib's text of any model that it can express gives the same ranks and scores when it
// is read back, to the bit but for the order of additions and a sum of constants, which becomes a
// float32; of a network the logistic function.
func TestRankLibRoundTrip(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		kind := int(seed) % drawnKinds
		m := drawModel(t, rng, kind, scorer.Sigmoid)
		d := drawDocuments(rng, m, 50)
		if kind < drawnNetwork {
			back := checkRoundTrip(t, m, d, "ranklib", 1e-6, WriteOptions{}, ReadOptions{})
			if !slices.Equal(back.FeatureNames, m.FeatureNames) && back.Scorer.NumFeatures() == m.Scorer.NumFeatures() {
				t.Fatalf("the names are %q, expected %q", back.FeatureNames, m.FeatureNames)
			}
			continue
		}
		var b bytes.Buffer
		if _, err := Write(&b, m, "ranklib", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		back, _, err := Read(b.Bytes(), ReadOptions{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		sameOrder(t, m, back, d)
	}
}

// Claim: the same of Elasticsearch's models.
func TestElasticsearchRoundTrip(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		m := drawModel(t, rng, []int{drawnLinear, drawnTrees, drawnStumps}[seed%3])
		name := []string{"elasticsearch", "elasticsearch-ranklib", "elasticsearch-xgboost-raw"}[seed/3%3]
		if name == "elasticsearch-xgboost-raw" && m.Scorer.Kind() == "linear" {
			continue
		}
		var b bytes.Buffer
		if _, err := Write(&b, m, name, WriteOptions{Name: "n"}); err != nil {
			t.Fatal(err)
		}
		if got := Recognise(b.Bytes()); got != "elasticsearch" {
			t.Fatalf("the file is recognised as %q", got)
		}
		back, _, err := Read(b.Bytes(), ReadOptions{Names: m.FeatureNames, Features: m.Scorer.NumFeatures()})
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		sameScores(t, m, back, drawDocuments(rng, m, 50), 1e-6)
	}
}

// Claim: the same of Solr's models, whose thresholds become the model's when 10⁻⁶ is added. Features
// with thresholds that no number becomes are divided by a power of two; a model is refused only if
// another threshold of the feature is too large for that. Scores differ by the rounding to float32 of
// a sum of constants. Features without influence are left out unless AllFeatures is set.
func TestSolrRoundTrip(t *testing.T) {
	refused, rescaled, fewer := 0, 0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := drawModel(t, rng, int(seed)%drawnKinds, scorer.Tanh, scorer.Sigmoid, scorer.ReLU, scorer.LeakyReLU)
		if seed%12 == 0 {
			m = drawTrees(t, rng, drawing{missing: dataset.MissingKeep})
		}
		d := drawDocuments(rng, m, 50)
		var b bytes.Buffer
		notes, err := Write(&b, m, "solr", WriteOptions{FeatureSet: "store", AllFeatures: seed%2 == 0})
		if err != nil {
			if !strings.Contains(err.Error(), "no scale of the feature keeps all of them apart") {
				t.Fatal(err)
			}
			refused++
			continue
		}
		names, _ := engineNames(m, WriteOptions{})
		if strings.Contains(strings.Join(notes, ""), "features written") {
			fewer++
			if seed%2 == 0 || strings.Count(b.String(), `"name"`) > len(names) {
				t.Fatalf("%q of %s", notes, b.String())
			}
		}
		if strings.Contains(strings.Join(notes, ""), "by a power of two") {
			rescaled++
		}
		back, _, err := Read(b.Bytes(), ReadOptions{Names: names})
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		sameScores(t, m, back, d, 1e-6) // the sum of constants becomes a float32
		if !slices.Equal(back.FeatureNames, names) {
			t.Fatalf("the names are %q, expected %q", back.FeatureNames, names)
		}
	}
	if refused < 40 || refused > 100 || rescaled < 100 || fewer < 30 {
		t.Errorf("%d models were refused, %d have a normalizer and %d fewer features", refused, rescaled, fewer)
	}
}

// Claim: the threshold that Solr gets becomes the model's for every float32 that any does become,
// and is refused for the others.
func TestSolrThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 200_000 {
		v := float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-40))
		at, ok := solrThreshold(v)
		if ok && at+solrSlack != v {
			t.Fatalf("the threshold %v becomes %v, expected %v", at, at+solrSlack, v)
		}
		if !ok { // none of the neighbours does either
			c := v - solrSlack
			for k := range 100 {
				c = math.Nextafter32(c, float32(math.Inf(1)))
				if k == 0 {
					for range 50 {
						c = math.Nextafter32(c, float32(math.Inf(-1)))
					}
				}
				if c+solrSlack == v {
					t.Fatalf("%v was refused, but %v becomes it", v, c)
				}
			}
		}
		_, exponent := math.Frexp(float64(v))
		if below := math.Ldexp(1, exponent) + float64(v); !ok && v > 4e-6 || !ok && v < -4e-6 && below > 1.1e-6 {
			t.Fatalf("%v was refused, though it is neither near 0 nor just above a power of two below 0", v)
		}
	}
}

// Claim: shifted scores are none below 0, also in float32, and keep their order.
func TestShiftedScores(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 6))
		m := drawModel(t, rng, int(seed)%2)
		d := drawDocuments(rng, m, 50)
		for _, name := range []string{"ranklib", "solr", "elasticsearch", "elasticsearch-ranklib", "xgboost"} {
			var b bytes.Buffer
			if _, err := Write(&b, m, name, WriteOptions{Scores: ShiftedScores}); err != nil {
				continue
			}
			back, _, err := Read(b.Bytes(), ReadOptions{Names: m.FeatureNames, Features: m.Scorer.NumFeatures()})
			if err != nil {
				t.Fatal(err)
			}
			sameOrder(t, m, back, d)
			scores, err := back.Score(d)
			if err != nil {
				t.Fatal(err)
			}
			if least := slices.Min(scores); least < 0 {
				t.Fatalf("%s: the least shifted score is %v", name, least)
			}
		}
	}
}

// Claim: logistic scores are 1/(1+exp(−s)), where a format can express them.
func TestLogisticScores(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		m := drawModel(t, rng, drawnLinear+int(seed)%4, scorer.Sigmoid)
		d := drawDocuments(rng, m, 20)
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ranklib", "solr", "elasticsearch"} {
			var b bytes.Buffer
			if _, err := Write(&b, m, name, WriteOptions{Scores: LogisticScores}); err != nil {
				t.Fatal(err)
			}
			back, _, err := Read(b.Bytes(), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := back.Score(d)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range want {
				if p := 1 / (1 + math.Exp(-s)); math.Abs(got[i]-p) > 1e-9 {
					t.Fatalf("%s: the score is %v, expected %v of %v", name, got[i], p, s)
				}
			}
		}
	}
}

// Claim: files for engines list only features that change a score, also in normalizers, and at least
// one; --all-features lists all. Read back with the names of the data, they score the same.
func TestUsedFeaturesAlone(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	tree, err := scorer.NewTrees(4, [][]scorer.TreeNode{{{Feature: 2, Threshold: 1, Left: -1, Right: -2}}})
	if err != nil {
		t.Fatal(err)
	}
	stumps, err := scorer.NewStumps(4, []scorer.Stump{{Feature: 1, Threshold: 2}})
	if err != nil {
		t.Fatal(err)
	}
	standards, err := transform.New(map[int]transform.Chain{0: {transform.Standard{Mean: 1, Deviation: 2}}, 1: {transform.Standard{Mean: 3, Deviation: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	net := scorer.Network{Features: 4, Hidden: 2, Activation: scorer.Tanh}
	for _, c := range []struct {
		name   string
		m      *model.Model
		format string
		want   string // the features in the file
	}{
		{"linear", &model.Model{Scorer: scorer.Linear{Features: 4}, Params: []float64{0, 2, 0, -1}, Transforms: standards}, "solr", "b d"},
		{"linear", &model.Model{Scorer: scorer.Linear{Features: 4}, Params: []float64{0, 2, 0, -1}, Transforms: standards}, "elasticsearch", "b d"},
		{"zero", &model.Model{Scorer: scorer.Linear{Features: 4}, Params: []float64{0, 0, 0, 0}}, "solr", "a"},
		{"zero", &model.Model{Scorer: scorer.Linear{Features: 4}, Params: []float64{0, 0, 0, 0}}, "elasticsearch", "a"},
		{"net", &model.Model{Scorer: net, Params: []float64{0, 0, 1, 0, 2, 0, 0, 0, 1, 1, 1, 1}}, "solr", "a c"},
		{"trees", &model.Model{Scorer: tree, Params: []float64{1, 2}}, "solr", "c"},
		{"trees", &model.Model{Scorer: tree, Params: []float64{1, 2}}, "elasticsearch-xgboost-raw", "c"},
		{"stumps", &model.Model{Scorer: stumps, Params: []float64{1}}, "solr", "b"},
		{"stumps", &model.Model{Scorer: stumps, Params: []float64{1}}, "elasticsearch-xgboost-raw", "b"},
	} {
		c.m.FeatureNames, c.m.Missing, c.m.Hyperparameters = names, dataset.MissingZero, map[string]any{}
		d := datasetOf([]float32{1, 2, 3, 4, 8, 7, 6, 5, -1, 0, 0.5, 2}, 4)
		for _, all := range []bool{false, true} {
			var b bytes.Buffer
			notes, err := Write(&b, c.m, c.format, WriteOptions{AllFeatures: all})
			if err != nil {
				t.Fatal(err)
			}
			want, note := strings.Fields(c.want), fmt.Sprintf("%d of 4 features written; the others do not change a score (--all-features writes them)", len(strings.Fields(c.want)))
			if all {
				want = names
			}
			if slices.Contains(notes, note) == all {
				t.Errorf("%s, %s: the notes are %q", c.name, c.format, notes)
			}
			narrow, _, err := Read(b.Bytes(), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(narrow.FeatureNames, want) {
				t.Errorf("%s, %s: the file lists %q, expected %q", c.name, c.format, narrow.FeatureNames, want)
			}
			back, _, err := Read(b.Bytes(), ReadOptions{Names: names})
			if err != nil {
				t.Fatal(err)
			}
			sameScores(t, c.m, back, d, 1e-6)
		}
	}
}

// Claim: the names of data place the features of a file that lists some of them; names without any of
// them rename the features; names with some of them are an error if their order is unknown. Names
// feature_1, feature_2, … are columns.
func TestNamesPlaceFeatures(t *testing.T) {
	file := func(a, b string) []byte {
		return fmt.Appendf(nil, `{"model": {"name": "m", "model": {"type": "model/linear", "definition": {%q: 1, %q: 2}}}}`, a, b)
	}
	for _, c := range []struct {
		file    []byte
		o       ReadOptions
		names   string
		weights []float64
		err     string
	}{
		{file("b", "a"), ReadOptions{Names: []string{"a", "x", "b"}}, "a x b", []float64{2, 0, 1}, ""},
		{file("b", "a"), ReadOptions{Names: []string{"a", "b"}}, "a b", []float64{2, 1}, ""},
		{file("b", "a"), ReadOptions{Names: []string{"p", "q", "r"}}, "p q r", []float64{1, 2, 0}, ""},
		{file("b", "a"), ReadOptions{Names: []string{"b", "q"}}, "b q", []float64{1, 2}, ""},
		{file("price", "age"), ReadOptions{Names: []string{"age", "prize", "x"}}, "", nil, `found no name "price" among those given, expected all features of the model: did you mean "prize"?`},
		{file("feature_4", "feature_2"), ReadOptions{}, "feature_1 feature_2 feature_3 feature_4", []float64{0, 2, 0, 1}, ""},
		{file("feature_4", "feature_2"), ReadOptions{Features: 5}, "", []float64{0, 2, 0, 1, 0}, ""},
		{file("feature_4", "feature_2"), ReadOptions{Names: []string{"a", "b", "c", "d"}}, "a b c d", []float64{0, 2, 0, 1}, ""},
		{file("b", "a"), ReadOptions{Features: 2}, "b a", []float64{1, 2}, ""},
		{file("b", "a"), ReadOptions{Features: 3}, "", nil, "found 2 features by name, expected the names of all 3 to be given"},
		{file("feature_4", "feature_02"), ReadOptions{}, "feature_4 feature_02", []float64{1, 2}, ""},
		{file("feature_4", "feature_0"), ReadOptions{}, "feature_4 feature_0", []float64{1, 2}, ""},
		{file("feature_1", "feature_9999999"), ReadOptions{}, "feature_1 feature_9999999", []float64{1, 2}, ""},
	} {
		m, _, err := Read(c.file, c.o)
		if err != nil {
			if c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.file, err)
			}
			continue
		}
		if c.err != "" || strings.Join(m.FeatureNames, " ") != c.names || !slices.Equal(m.Params, c.weights) {
			t.Errorf("%s with %+v has the names %q and the weights %v, expected %q and %v", c.file, c.o, m.FeatureNames, m.Params, c.names, c.weights)
		}
	}
}
