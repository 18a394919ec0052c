package model

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model/scorer"
)

func pipeline(t testing.TB, chains map[int]transform.Chain) *transform.Pipeline {
	t.Helper()
	p, err := transform.New(chains)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// threeChains are chains for three features; what they make of 0 is not 0.
func threeChains(t testing.TB) *transform.Pipeline {
	return pipeline(t, map[int]transform.Chain{
		0: {transform.Log1p{}},
		1: {transform.Clip{Low: -1, High: 3}, transform.Standard{Mean: 0.5, Deviation: 0.25}},
		2: {transform.Fill{Value: 4}, transform.Standard{Mean: 2, Deviation: 3}, transform.Log1p{}},
	})
}

// randomQueries makes data of queries of several lengths.
func randomQueries(features int) *dataset.Dataset {
	r := rand.New(rand.NewPCG(1, 2))
	var b dataset.Builder
	for q := range 40 {
		n := 1 + r.IntN(9)
		x := make([]float32, n*features)
		for i := range x {
			x[i] = float32(r.NormFloat64() * 5)
		}
		if err := b.Add(string(rune('A'+q)), make([]float64, n), x, nil); err != nil {
			panic(err)
		}
	}
	return b.Dataset()
}

// kinds are models of three features of every way in which documents are scored: by
// themselves, several queries together, a whole query at once.
func kinds(t *testing.T) map[string]*Model {
	trees, err := scorer.NewTrees(3, [][]scorer.TreeNode{{{Feature: 1, Threshold: 0.3, Left: -1, Right: 1}, {Feature: 2, Threshold: -0.2, Left: -2, Right: -3}}})
	if err != nil {
		t.Fatal(err)
	}
	pairs := scorer.PairNetwork{Features: 3, Hidden: 2, PairHidden: 2, Activation: scorer.Tanh}
	weights := make([]float64, pairs.NumParams())
	pairs.Init(weights, rand.New(rand.NewPCG(3, 4)))
	return map[string]*Model{
		"linear": linear(1, 0.5, -2), "trees": {Scorer: trees, Params: []float64{1, 2, 4}}, "pairs": {Scorer: pairs, Params: weights},
	}
}

// A model that transforms scores as one that does not scores data that were transformed
// before, to the bit, with data of fewer features too: these count as 0 before they are
// transformed.
func TestTransformsAreAppliedBeforeNormalization(t *testing.T) {
	for name, plain := range kinds(t) {
		for _, features := range []int{3, 2, 1} {
			for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore} {
				plain.Normalization = n
				m := *plain
				m.Transforms = threeChains(t)
				d := randomQueries(features)
				before := slices.Clone(d.X())
				whole := dataset.FromBlocks(dataset.Blocks{Features: 3, X: widened(d, 3), Grades: d.Grades(), IDs: ids(d), Counts: counts(d)})
				whole.Change(func(x []float32) { m.Transforms.Apply(x, 3) })
				want, err := plain.Score(whole)
				if err != nil {
					t.Fatal(err)
				}
				checkScoring(t, &m, d, before, want, fmt.Sprintf("%s, %d features, %s", name, features, n))
			}
		}
	}
}

// checkScoring checks the scores of a data set, and of its queries one by one, and that its features
// are as they were before.
func checkScoring(t *testing.T, m *Model, d *dataset.Dataset, before []float32, want []float64, what string) {
	t.Helper()
	got, err := m.Score(d)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, expected %v (%v)", what, got, want, err)
	}
	if !slices.Equal(d.X(), before) {
		t.Error("scoring changed the data")
	}
	checkQueries(t, m, d, want)
}

// checkQueries compares what ScoreQuery gives of queries of two or more documents.
func checkQueries(t *testing.T, m *Model, d *dataset.Dataset, want []float64) {
	t.Helper()
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.Len() == 1 {
			continue
		}
		dst := make([]float64, q.Len())
		if err := m.ScoreQuery(dst, q.X); err != nil || !slices.Equal(dst, want[q.Start:q.Start+q.Len()]) {
			t.Errorf("query %s: %v, %v, expected %v", q.ID, dst, err, want[q.Start:q.Start+q.Len()])
		}
	}
}

func widened(d *dataset.Dataset, width int) []float32 {
	x := make([]float32, d.Docs()*width)
	for r := range d.Docs() {
		copy(x[r*width:(r+1)*width], d.X()[r*d.Features:(r+1)*d.Features])
	}
	return x
}

func ids(d *dataset.Dataset) (list []string) {
	for i := range d.Queries {
		list = append(list, d.Queries[i].ID)
	}
	return list
}

func counts(d *dataset.Dataset) (list []int) {
	for i := range d.Queries {
		list = append(list, d.Queries[i].Len())
	}
	return list
}

// Every member of a fusion transforms by itself.
func TestFusionTransformsByMembers(t *testing.T) {
	d := randomQueries(3)
	for name, plain := range kinds(t) {
		m := *plain
		m.Transforms = threeChains(t)
		weights := []float64{1, 2}
		for _, r := range fusionRules() {
			fused, err := NewFused(r, []*Model{plain, &m}, weights)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := plain.Score(d)
			b, _ := m.Score(d)
			got, err := fused.Score(d)
			if want := r.Scores(d, [][]float64{a, b}, weights); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s, %s: %v, %v, expected %v", name, r.Kind, got, err, want)
			}
		}
	}
}

// What a model keeps for its transforms to fill in is no longer missing for its scorer; if
// one feature is not filled in, a scorer without use for missing values refuses them.
func TestTransformsFillWhatIsMissing(t *testing.T) {
	nan := float32(math.NaN())
	m := linear(1, 10)
	m.Missing = dataset.MissingKeep
	m.Transforms = pipeline(t, map[int]transform.Chain{0: {transform.Fill{Value: 3}}, 1: {transform.Fill{Value: -1}}})
	dst := make([]float64, 2)
	if err := m.ScoreQuery(dst, []float32{nan, 1, 2, nan}); err != nil || dst[0] != 13 || dst[1] != -8 {
		t.Errorf("scores %v, %v, expected 13 and -8", dst, err)
	}
	for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.ZScore} {
		m.Normalization = n
		if err := m.Save(t.TempDir() + "/m"); err != nil {
			t.Error(err)
		}
	}
	m.Transforms = pipeline(t, map[int]transform.Chain{0: {transform.Fill{Value: 3}}, 1: {transform.Log1p{}}})
	if err := m.Save(t.TempDir() + "/m"); err == nil || !strings.Contains(err.Error(), `found "missing": "keep" with the scorer linear`) {
		t.Errorf("a model that fills one of two features: %v", err)
	}
	if err := m.ScoreQuery(dst, []float32{1, 1, 2, nan}); err == nil {
		t.Error("a missing value without a rule was scored")
	}
}

// A model file gives back every step to the bit; models without steps keep the first
// version of the format.
func TestTransformsAreSaved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-math.MaxFloat32, math.MaxFloat32)
		step := rapid.Custom(func(t *rapid.T) transform.Step {
			a, b := number.Draw(t, "a"), number.Draw(t, "b")
			return rapid.SampledFrom([]transform.Step{
				transform.Clip{Low: min(a, b), High: max(a, b)}, transform.Log1p{}, transform.Standard{Mean: a, Deviation: math.Abs(b)}, transform.Standard{Mean: a}, transform.Fill{Value: a},
			}).Draw(t, "step")
		})
		chain := rapid.Custom(func(t *rapid.T) transform.Chain { return rapid.SliceOfN(step, 0, 5).Draw(t, "chain") })
		m := linear(1, 2, 3, 4)
		var err error
		if m.Transforms, err = transform.New(rapid.MapOfN(rapid.IntRange(0, 3), chain, 0, 4).Draw(t, "chains")); err != nil {
			if strings.Contains(err.Error(), "deviation") { // too small to divide by
				t.Skip()
			}
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := m.Write(&text); err != nil {
			t.Fatal(err)
		}
		if got, want := bytes.Contains(text.Bytes(), []byte(`"version": 1`)), m.Transforms == nil; got != want {
			t.Fatalf("version 1 is %v, expected %v:\n%s", got, want, &text)
		}
		back, err := Read(&text)
		if err != nil {
			t.Fatal(err)
		}
		if !back.Transforms.Equal(m.Transforms) {
			t.Fatalf("read back as %v, expected %v", back.Transforms, m.Transforms)
		}
	})
}

// Transforms that no training writes are refused with their place.
func TestHostileTransforms(t *testing.T) {
	for _, c := range []struct{ transforms, want string }{
		{`{}`, `found object as "features.transforms", expected a list`},
		{`[3]`, `found number as "features.transforms", expected an object`},
		{`[{"feature":0,"steps":[{"step":"log1p"}]}]`, "found feature 0, expected one from 1 to 2"},
		{`[{"feature":3,"steps":[{"step":"log1p"}]}]`, "found feature 3, expected one from 1 to 2"},
		{`[{"feature":1e9,"steps":[{"step":"log1p"}]}]`, "found number 1e9"},
		{`[{"feature":9223372036854775807,"steps":[{"step":"log1p"}]}]`, "expected one from 1 to 2"},
		{`[{"feature":1,"steps":[{"step":"log1p"}]},{"feature":1,"steps":[{"step":"log1p"}]}]`, "found feature 1 after feature 1, expected ascending ones"},
		{`[{"feature":2,"steps":[{"step":"log1p"}]},{"feature":1,"steps":[{"step":"log1p"}]}]`, "found feature 1 after feature 2"},
		{`[{"feature":1}]`, "found no steps"},
		{`[{"feature":1,"steps":[]}]`, "found no steps"},
		{`[{"feature":1,"steps":[{}]}]`, `found the step ""`},
		{`[{"feature":1,"steps":[{"step":"sqrt"}]}]`, `found the step "sqrt", expected clip, log1p, standard or fill`},
		{`[{"feature":1,"steps":[{"step":"clip","low":1}]}]`, `without "low" or "high"`},
		{`[{"feature":1,"steps":[{"step":"clip","low":2,"high":1}]}]`, "expected the lower one first"},
		{`[{"feature":1,"steps":[{"step":"clip","low":-1e300,"high":1}]}]`, "within the range of float32"},
		{`[{"feature":1,"steps":[{"step":"standard","mean":1}]}]`, `without "mean" or "deviation"`},
		{`[{"feature":1,"steps":[{"step":"standard","mean":1,"deviation":-1}]}]`, "found the deviation -1"},
		{`[{"feature":1,"steps":[{"step":"standard","mean":1,"deviation":1e-320}]}]`, "found the deviation 1e-320"},
		{`[{"feature":1,"steps":[{"step":"standard","mean":1,"deviation":null}]}]`, `without "mean" or "deviation"`},
		{`[{"feature":1,"steps":[{"step":"standard","mean":1e999,"deviation":1}]}]`, "found number 1e999"},
		{`[{"feature":1,"steps":[{"step":"fill"}]}]`, `without "value"`},
		{`[{"feature":1,"steps":[{"step":"fill","value":"mean"}]}]`, "found string"},
		{`[{"feature":1,"steps":[` + strings.Repeat(`{"step":"log1p"},`, transform.MaxSteps) + `{"step":"log1p"}]}]`, "found 65 steps, expected at most 64"},
	} {
		text := `{"format":"listwise-model","version":2,"scorer":{"type":"linear","weights":[1,2]},"features":{"count":2,"transforms":` + c.transforms + `},"normalization":"none"}`
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100s: %v, expected %s", c.transforms, err, c.want)
		}
	}
	m := linear(1, 2)
	m.Transforms = threeChains(t)
	if err := m.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "found feature 3, expected one from 1 to 2") {
		t.Errorf("more transforms than features: %v", err)
	}
}
