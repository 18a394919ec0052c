package interchange

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
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

// Claim: the same of Solr's models, whose thresholds become the model's when 10⁻⁶ is added; a
// threshold that none becomes is refused. Scores differ by the rounding to float32 of a sum of constants.
func TestSolrRoundTrip(t *testing.T) {
	refused := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := drawModel(t, rng, int(seed)%drawnKinds, scorer.Tanh, scorer.Sigmoid, scorer.ReLU, scorer.LeakyReLU)
		if seed%12 == 0 {
			m = drawTrees(t, rng, drawing{missing: dataset.MissingKeep})
		}
		d := drawDocuments(rng, m, 50)
		var b bytes.Buffer
		if _, err := Write(&b, m, "solr", WriteOptions{FeatureSet: "store"}); err != nil {
			if !strings.Contains(err.Error(), "Solr adds 10⁻⁶ to thresholds") {
				t.Fatal(err)
			}
			refused++
			continue
		}
		back, _, err := Read(b.Bytes(), ReadOptions{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		sameScores(t, m, back, d, 1e-6) // the sum of constants becomes a float32
		names, _ := engineNames(m, WriteOptions{})
		if !slices.Equal(back.FeatureNames, names) {
			t.Fatalf("the names are %q, expected %q", back.FeatureNames, names)
		}
	}
	if refused < 20 || refused > 300 {
		t.Errorf("%d models were refused, expected those with thresholds near 0 alone", refused)
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
