package interchange

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// drawTransformed draws a model with transforms of some features, and documents. Numbers are such
// that standardising rounds nothing. Unless every step may be drawn, they are those that engines have.
func drawTransformed(t *testing.T, rng *rand.Rand, kind int, every bool, activations ...scorer.Activation) (*model.Model, *dataset.Dataset) {
	t.Helper()
	m := drawModel(t, rng, kind, activations...)
	chains := map[int]transform.Chain{}
	for j := range m.Scorer.NumFeatures() {
		standard := transform.Standard{Mean: float64(rng.IntN(9)-4) / 4, Deviation: math.Ldexp(1, rng.IntN(4)-1)}
		switch k := rng.IntN(6); {
		case k == 0:
		case k == 1 && every:
			chains[j] = transform.Chain{transform.Clip{Low: -1, High: 1.5}, standard}
		case k == 2 && every:
			chains[j] = transform.Chain{transform.Log1p{}, standard}
		case k == 3 && every:
			chains[j] = transform.Chain{standard, transform.Clip{Low: -0.5, High: transform.Unbounded}, transform.Log1p{}}
		case k == 4 && every:
			chains[j] = transform.Chain{transform.Standard{Mean: 1}}
		default:
			chains[j] = transform.Chain{standard}
		}
	}
	if every && rng.IntN(3) == 0 {
		m.Missing = dataset.MissingKeep
		for j := range m.Scorer.NumFeatures() {
			chains[j] = append(chains[j], transform.Fill{Value: float64(rng.IntN(5)-2) / 4})
		}
	}
	var err error
	if m.Transforms, err = transform.New(chains); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 40*m.Scorer.NumFeatures())
	for i := range x {
		if x[i] = float32(rng.IntN(65)-32) / 8; m.Missing != dataset.MissingError && rng.IntN(5) == 0 {
			x[i] = float32(math.NaN())
		}
	}
	return m, datasetOf(x, m.Scorer.NumFeatures())
}

// Claim: what a model does to features is in the models of engines: in the thresholds of trees, in
// normalisers, or in weights and constants. A logarithm or a clip of a feature of a weighted sum
// is refused.
func TestTransformsInEngines(t *testing.T) {
	norms := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 20))
		kind := int(seed) % drawnKinds
		trees := kind == drawnTrees || kind == drawnStumps
		m, d := drawTransformed(t, rng, kind, trees, scorer.Sigmoid)
		if trees && m.Missing == dataset.MissingKeep {
			m.Missing = dataset.MissingZero // NaN would not go where 0 does
		}
		for _, name := range []string{"ranklib", "solr", "elasticsearch"} {
			var b bytes.Buffer
			if _, err := Write(&b, m, name, WriteOptions{}); err != nil {
				if name == "solr" && strings.Contains(err.Error(), "Solr adds") || trees && strings.Contains(err.Error(), "takes missing values as 0") {
					continue
				}
				t.Fatal(err)
			}
			if strings.Contains(b.String(), `"standard_deviation"`) || strings.Contains(b.String(), "StandardNormalizer") {
				norms++
			}
			back, _, err := Read(b.Bytes(), ReadOptions{Names: m.FeatureNames, Features: m.Scorer.NumFeatures()})
			if err != nil {
				t.Fatalf("%v in\n%s", err, b.String())
			}
			if name == "solr" || trees {
				sameScores(t, m, back, d, 1e-5)
				continue
			}
			sameOrder(t, m, back, d) // a constant may be left out, and RankNet is logistic
		}
	}
	if norms < 100 {
		t.Errorf("%d models have normalisers, expected many", norms)
	}
	m := &model.Model{Scorer: scorer.Linear{Features: 1}, Params: []float64{1}}
	var err error
	if m.Transforms, err = transform.New(map[int]transform.Chain{0: {transform.Log1p{}}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ranklib", "solr", "elasticsearch"} {
		if _, err := Write(new(bytes.Buffer), m, name, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "found the transform log1p of feature 1, expected standard at most") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// Claim: expressions, JSON and ONNX have the steps themselves. The scores agree up to the rounding
// of a transformed feature to float32.
func TestTransformsInExpressions(t *testing.T) {
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 21))
		m, d := drawTransformed(t, rng, int(seed)%drawnKinds, true, scorer.Tanh)
		var p plain
		if err := json.Unmarshal([]byte(written(t, m, "json", WriteOptions{})), &p); err != nil {
			t.Fatal(err)
		}
		checkScores(t, m, d, 1e-5, p.score)
		names := []string{"a", "b", "c", "d", "e", "f"}[:m.Scorer.NumFeatures()]
		var b bytes.Buffer
		if _, err := Write(&b, m, "vespa", WriteOptions{Names: names}); err != nil {
			continue // too many layers
		}
		checkScores(t, m, d, 1e-5, func(x []float32) float64 {
			r := ranking{t: t, text: b.String(), features: map[string]float64{}}
			for j, name := range names {
				r.features["attribute("+name+")"] = float64(x[j])
			}
			return r.or()
		})
		if _, err := Write(new(bytes.Buffer), m, "onnx", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// Claim: so has SQL.
func TestTransformsInSQL(t *testing.T) {
	db := openSQL(t)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 22))
		m, d := drawTransformed(t, rng, int(seed)%drawnNetwork, true)
		next := sqlScores(t, db, m, d)
		checkScores(t, m, d, 1e-5, func([]float32) float64 {
			v := next()
			if !v.Valid {
				return math.NaN()
			}
			return v.Float64
		})
	}
}
