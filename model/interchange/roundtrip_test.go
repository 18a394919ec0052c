package interchange

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// drawing says which trees are drawn.
type drawing struct {
	categories bool
	transforms bool
	missing    dataset.Missing
}

// extremes are values that documents and thresholds have besides ordinary ones.
var extremes = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	0x1p-126, 1e-35, -1e-35, 0.1, 0.3, 1 << 24, 1<<24 + 2,
}

func drawValue(rng *rand.Rand) float32 {
	if rng.IntN(3) == 0 {
		return extremes[rng.IntN(len(extremes))]
	}
	return float32(rng.NormFloat64())
}

// drawTrees returns a model of random trees, whose values are float32, so that formats of
// either precision hold them.
func drawTrees(t *testing.T, rng *rand.Rand, d drawing) *model.Model {
	t.Helper()
	features := 1 + rng.IntN(6)
	trees, values := make([][]scorer.TreeNode, 1+rng.IntN(6)), []float64(nil)
	for k := range trees {
		for node := range rng.IntN(12) {
			growRandom(rng, &trees[k], node, features, d)
		}
		for range len(trees[k]) + 1 {
			values = append(values, float64(float32(rng.NormFloat64())))
		}
	}
	s, err := scorer.NewTrees(features, trees)
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Method: "drawn", Hyperparameters: map[string]any{}, Scorer: s, Params: values, Missing: d.missing}
	if d.transforms {
		m.Transforms = drawTransforms(t, rng, features)
	}
	if rng.IntN(2) == 0 {
		m.FeatureNames = []string{"bm25", "title_match", "age", "ctr", "länge", "x6"}[:features]
	}
	return m
}

// drawTransforms returns transforms of some features.
func drawTransforms(t *testing.T, rng *rand.Rand, features int) *transform.Pipeline {
	t.Helper()
	chains := make(map[int]transform.Chain)
	for feature := range features {
		for range rng.IntN(4) {
			low := rng.NormFloat64()
			steps := []transform.Step{
				transform.Fill{Value: rng.NormFloat64()}, transform.Clip{Low: low, High: low + rng.Float64()}, transform.Log1p{},
				transform.Standard{Mean: rng.NormFloat64(), Deviation: rng.ExpFloat64()}, transform.Standard{},
			}
			chains[feature] = append(chains[feature], steps[rng.IntN(len(steps))])
		}
	}
	p, err := transform.New(chains)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// growRandom divides a random leaf of a tree.
func growRandom(rng *rand.Rand, nodes *[]scorer.TreeNode, node, features int, d drawing) {
	n := scorer.TreeNode{Feature: rng.IntN(features), Left: -1, Right: -2}
	if d.categories && rng.IntN(3) == 0 {
		for c := range 70 { // 0 among them
			if rng.IntN(8) == 0 {
				n.Categories = append(n.Categories, float32(c))
			}
		}
	}
	if n.Categories == nil {
		n.Threshold, n.MissingLeft = drawValue(rng), d.missing == dataset.MissingKeep && rng.IntN(2) == 0
	}
	if node > 0 { // the leaf of the new node's parent becomes its left one
		leaf := -1 - rng.IntN(node+1)
		for i := range *nodes {
			p := &(*nodes)[i]
			if p.Left == leaf {
				p.Left, n.Left = node, leaf
			}
			if p.Right == leaf {
				p.Right, n.Left = node, leaf
			}
		}
		n.Right = -1 - (node + 1)
	}
	*nodes = append(*nodes, n)
}

// drawDocuments returns documents in one query: ordinary values, extremes, values at the
// thresholds and beside them, categories and, if the model keeps them, missing values.
func drawDocuments(rng *rand.Rand, m *model.Model, docs int) *dataset.Dataset {
	var at []float32
	if s, ok := m.Scorer.(*scorer.Trees); ok {
		for _, nodes := range s.Trees() {
			for _, n := range nodes {
				v := n.Threshold
				at = append(at, v, math.Nextafter32(v, float32(math.Inf(1))), math.Nextafter32(v, float32(math.Inf(-1))))
				at = append(at, n.Categories...)
				if before, ok := m.Transforms.Chain(n.Feature).Largest(float64(v)); ok {
					at = append(at, before, math.Nextafter32(before, float32(math.Inf(1))))
				}
			}
		}
	}
	at = slices.DeleteFunc(at, func(v float32) bool { return math.IsInf(float64(v), 0) })
	features := m.Scorer.NumFeatures()
	x := make([]float32, docs*features)
	for i := range x {
		switch k := rng.IntN(4); {
		case k == 0 && m.Missing != dataset.MissingError:
			x[i] = float32(math.NaN())
		case k < 3 && len(at) > 0:
			x[i] = at[rng.IntN(len(at))]
		default:
			x[i] = drawValue(rng)
		}
	}
	return datasetOf(x, features)
}

// datasetOf returns the rows of x as the documents of one query.
func datasetOf(x []float32, features int) *dataset.Dataset {
	docs, missing := len(x)/features, 0
	for _, v := range x {
		if v != v {
			missing++
		}
	}
	return dataset.FromBlocks(dataset.Blocks{
		Features: features, X: x, Grades: make([]float64, docs), IDs: []string{"1"}, Counts: []int{docs}, Missing: missing,
	})
}

// checkRoundTrip writes a model and reads it back: documents must get the same scores, up to a
// relative difference, and the same ranks.
func checkRoundTrip(t *testing.T, m *model.Model, d *dataset.Dataset, name string, tolerance float64, w WriteOptions, r ReadOptions) *model.Model {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, m, name, w); err != nil {
		t.Fatal(err)
	}
	if got := Recognise(b.Bytes()); got != name && r.Format == "" {
		t.Fatalf("the file is recognised as %q, expected %q", got, name)
	}
	back, _, err := Read(b.Bytes(), r)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	sameScores(t, m, back, d, tolerance)
	return back
}

func sameScores(t *testing.T, m, back *model.Model, d *dataset.Dataset, tolerance float64) {
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
		if math.Abs(got[i]-want[i]) > tolerance*(1+math.Abs(want[i])) {
			t.Fatalf("document %d, %v, has the score %v, expected %v", i, d.Queries[0].X[i*d.Features:(i+1)*d.Features], got[i], want[i])
		}
		for j := range i {
			if want[i] > want[j] && !(got[i] > got[j]) || want[i] < want[j] && !(got[i] < got[j]) {
				t.Fatalf("documents %d and %d have the scores %v and %v, expected the order of %v and %v", i, j, got[i], got[j], want[i], want[j])
			}
		}
	}
}

var nan64 = math.NaN()

// fuzzReader reads any bytes in a format. What is read must score, and be written and read
// again with the same scores where the format is written.
func fuzzReader(f *testing.F, name string) {
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _, err := Read(data, ReadOptions{Format: name})
		if err != nil {
			if e := (*model.FileError)(nil); !errors.As(err, &e) {
				t.Fatalf("the error is %v, expected one with the name of the file", err)
			}
			return
		}
		if m.Scorer.NumFeatures() > 1000 || len(m.Params) > 10_000 || m.Categories != nil && name != "lightgbm" { // others take codes
			return
		}
		d := drawDocuments(rand.New(rand.NewPCG(1, 1)), m, 5)
		scores, err := m.Score(d)
		if err != nil { // sums may overflow
			return
		}
		var b bytes.Buffer
		if _, err := Write(&b, m, name, WriteOptions{}); err != nil {
			return
		}
		back, _, err := Read(b.Bytes(), ReadOptions{Format: name, FirstFeature: ColumnsFromZero})
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, b.String())
		}
		again, err := back.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range scores {
			if math.Abs(scores[i]-again[i]) > 1e-5*(1+math.Abs(scores[i])) {
				t.Fatalf("document %d has the score %v, and %v when the model was written and read", i, scores[i], again[i])
			}
		}
	})
}
