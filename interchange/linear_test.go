package interchange

import (
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// Claim: a weighted sum becomes a model that scores by it and back, a constant is left out with
// a note, and what uses the other documents of a query is no weighted sum.
func TestLinear(t *testing.T) {
	m, notes, err := (&linear{weights: []float64{1, -2, 0.5}, constant: 3, names: []string{"a", "b", "c"}}).model("test", nil)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "the constant 3,") {
		t.Fatalf("the notes are %q, the error %v", notes, err)
	}
	scores, err := m.Score(datasetOf([]float32{1, 1, 1, 0, -1, float32(nan64)}, 3))
	if err != nil || !slices.Equal(scores, []float64{-0.5, 2}) {
		t.Errorf("the scores are %v, %v, expected -0.5 and 2", scores, err)
	}
	if l, err := linearOf(m); err != nil || !slices.Equal(l.weights, []float64{1, -2, 0.5}) || !slices.Equal(l.names, []string{"a", "b", "c"}) {
		t.Errorf("the sum is %v, %v", l, err)
	}
	m.Transforms, err = transform.New(map[int]transform.Chain{1: {transform.Fill{Value: 4}, transform.Standard{Mean: 3, Deviation: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	if l, err := linearOf(m); err != nil || !slices.Equal(l.weights, []float64{1, -1, 0.5}) || l.constant != 3 || len(l.notes) != 1 {
		t.Errorf("the sum of a standardised feature is %v, %v", l, err)
	}
	if m.Transforms, err = transform.New(map[int]transform.Chain{1: {transform.Log1p{}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := linearOf(m); err == nil || !strings.Contains(err.Error(), "its logarithm taken") {
		t.Errorf("the error about a logarithm is %v", err)
	}
	m.Transforms, m.Normalization = nil, dataset.ZScore
	if _, err := linearOf(m); err == nil || !strings.Contains(err.Error(), "per-query normalization cannot go into an engine that sees one document") {
		t.Errorf("the error about a normalization is %v", err)
	}
	m.Normalization, m.Missing = dataset.NoNormalization, dataset.MissingMin
	if _, err := linearOf(m); err == nil || !strings.Contains(err.Error(), "--missing min") {
		t.Errorf("the error about missing values is %v", err)
	}
	if _, err := treesOf(m); err == nil {
		t.Error("a weighted sum is a sum of trees")
	}
}
