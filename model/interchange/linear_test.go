package interchange

import (
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// Claim: a weighted sum becomes a model that scores by it and back, also
// with a constant, and what uses the other documents of a query is no weighted sum.
func TestLinear(t *testing.T) {
	m, err := (&linear{weights: []float64{1, -2, 0.5}, constant: 3, names: []string{"a", "b", "c"}}).model("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Score(datasetOf([]float32{1, 1, 1, 0, -1, float32(nan64)}, 3))
	if err != nil || !slices.Equal(scores, []float64{2.5, 5}) {
		t.Errorf("the scores are %v, %v, expected 2.5 and 5", scores, err)
	}
	if l, err := linearOf(m); err != nil || !slices.Equal(l.weights, []float64{1, -2, 0.5}) || l.constant != 3 || !slices.Equal(l.names, []string{"a", "b", "c"}) {
		t.Errorf("the sum is %v, %v", l, err)
	}
	m.Transforms, err = transform.New(map[int]transform.Chain{1: {transform.Fill{Value: 4}, transform.Standard{Mean: 3, Deviation: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	if l, err := linearOf(m); err != nil || !slices.Equal(l.weights, []float64{1, -1, 0.5}) || l.constant != 6 || len(l.notes) != 1 {
		t.Errorf("the sum of a standardised feature is %v, %v", l, err)
	}
	if m.Transforms, err = transform.New(map[int]transform.Chain{1: {transform.Log1p{}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := linearOf(m); err == nil || !strings.Contains(err.Error(), "found the transform log1p of feature 2 (b)") {
		t.Errorf("the error about a logarithm is %v", err)
	}
	m.Transforms, m.Normalization = nil, dataset.ZScore
	if _, err := linearOf(m); err == nil || !strings.Contains(err.Error(), "per-query normalization cannot go into an engine that sees one document") {
		t.Errorf("the error about a normalization is %v", err)
	}
	m.Normalization = dataset.NoNormalization
	for _, views := range []dataset.Views{{dataset.RankView}, {dataset.ZScoreView}} {
		m.Views = views
		for _, name := range names(writable) {
			if _, err := Write(&strings.Builder{}, m, name, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "ranks and z-scores within a query cannot go into an engine that sees one document") {
				t.Errorf("%s: the error about views is %v", name, err)
			}
		}
	}
	m.Views = nil
	m.Missing = dataset.MissingMin
	if _, err := linearOf(m); err == nil || !strings.Contains(err.Error(), "--missing min") {
		t.Errorf("the error about missing values is %v", err)
	}
	if _, err := treesOf(m); err == nil {
		t.Error("a weighted sum is a sum of trees")
	}
}

// Claim: a model that was read is given further features, which have no influence, and names.
func TestFeaturesToBeGiven(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"## Coordinate Ascent\n1:2 2:-1", 2*3 - 5},
		{"## Linear Regression\n0:10 1:2 2:-1", 10 + 2*3 - 5},
		{"## RankBoost\n1:2:7 2:9:4", 7},
		{lambdaMART, float64(float32(0.1)) * 2},
	} {
		m, _, err := Read([]byte(c.text), ReadOptions{Names: []string{"a", "b", "c", "d"}})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Score(datasetOf([]float32{3, 5, 1e30, -1e30}, 4))
		if err != nil || scores[0] != c.want || m.FeatureNames[3] != "d" {
			t.Errorf("%s: the score is %v, %v, the names %q", c.text, scores, err, m.FeatureNames)
		}
		if m, _, err := Read([]byte(c.text), ReadOptions{Features: 4}); err != nil || m.Scorer.NumFeatures() != 4 || m.FeatureNames != nil {
			t.Errorf("%s: given 4 features: %v", c.text, err)
		}
		if _, _, err := Read([]byte(c.text), ReadOptions{Names: []string{"a"}}); err == nil || !strings.Contains(err.Error(), "found 1 features to be given, expected the model's 2") {
			t.Errorf("%s: given 1 feature: %v", c.text, err)
		}
	}
}
