package datatest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
)

// Random draws a small data set with few different values, so that copies, constants and repeated ids occur.
func Random(t *rapid.T) *dataset.Dataset {
	var b dataset.Builder
	features := rapid.IntRange(1, 4).Draw(t, "features")
	withIDs := rapid.Bool().Draw(t, "withIDs")
	for i := range rapid.IntRange(1, 8).Draw(t, "queries") {
		n := rapid.IntRange(1, 9).Draw(t, "docs")
		grades := make([]float64, n)
		x := make([]float32, n*features)
		var docs []string
		for j := range grades {
			grades[j] = float64(rapid.IntRange(0, 2).Draw(t, "grade"))
			if withIDs {
				docs = append(docs, fmt.Sprintf("d%d", rapid.IntRange(0, 5).Draw(t, "doc")))
			}
		}
		for j := range x {
			x[j] = float32(rapid.IntRange(-1, 1).Draw(t, "x"))
		}
		if err := b.Add(fmt.Sprintf("q%d", i), grades, x, docs); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// Document is a document with its query, identifier and grade. X is the text of its features.
type Document struct {
	Query, ID string
	Grade     float64
	X         string
}

// Documents returns all documents in order.
func Documents(d *dataset.Dataset) []Document {
	var all []Document
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			all = append(all, Document{q.ID, q.DocID(j), q.Grades[j], fmt.Sprint(q.Row(j))})
		}
	}
	return all
}

// Split returns a data set with names of features, and with a query whose documents were in two places of the
// input.
func Split() *dataset.Dataset {
	return dataset.FromBlocks(dataset.Blocks{
		Features:     2,
		FeatureNames: []string{"bm25", "länge"},
		X:            []float32{0.5, 1, 4, 0, 0, -3, 1e-9, 0},
		Grades:       []float64{1, 2, 0, 0.5},
		Docs:         dataset.DocIDs{Text: "xyz", End: []uint32{1, 3, 3, 3}},
		IDs:          []string{"a", "käse", "b"},
		Counts:       []int{2, 1, 1},
		InputRow:     []int{0, 2, 1, 3},
	})
}

// RealData returns the path of LETOR data outside of the project. It skips the test if there are none.
func RealData(t testing.TB, name string) string {
	t.Helper()
	root, err := filepath.Abs(".")
	for ; err == nil; root = filepath.Dir(root) {
		if _, e := os.Stat(filepath.Join(root, "go.mod")); e == nil || root == filepath.Dir(root) {
			break
		}
	}
	path := filepath.Join(filepath.Dir(root), "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s beside the project", filepath.Join("shared", "data", name))
	}
	return path
}

// OfficialParts returns the five part files of a real data set.
func OfficialParts(t *testing.T, set string) []string {
	t.Helper()
	dir := RealData(t, set)
	var parts []string
	for p := range 5 {
		parts = append(parts, filepath.Join(dir, fmt.Sprintf("S%d.txt.gz", p+1)))
	}
	return parts
}

// CheckFinite checks each feature value.
func CheckFinite(t rapid.TB, d *dataset.Dataset) {
	t.Helper()
	for i, v := range d.X() {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("value %d is %v", i, v)
		}
	}
}
