package datafile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Claim: reading or converting a sample of the queries gives what reading all of them and leaving out
// the others gives, of every format, however the documents stand.
func TestKeepIsReadingAndLeavingOut(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := datatest.DrawText(t, true)
		path, data := drawForm(t, filepath.Join(dir, "in"), text)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		policy := rapid.SampledFrom([]dataset.Missing{dataset.MissingZero, dataset.MissingMin, dataset.MissingKeep}).Draw(t, "policy")
		opts := dataset.Options{Missing: policy, Workers: rapid.IntRange(1, 3).Draw(t, "workers"), Table: dataset.TableOptions{OneHotAuto: true}}
		whole, err := Open(path, opts)
		if err != nil {
			return // a table whose queries all have the weight 0
		}
		opts.Keep = dataset.SampleQueries(0.5, rapid.Uint64().Draw(t, "sample"))
		want := whole.Filter(func(q *dataset.Query) bool { return opts.Keep(q.ID) })
		nothing := dataset.CheckKept(len(want.Queries), len(whole.Queries), want.QueryWeights())
		got, err := Open(path, opts)
		if (err != nil) != (nothing != nil) || err != nil && !strings.Contains(err.Error(), nothing.Error()) {
			t.Fatalf("error %v, want %v", err, nothing)
		}
		if err != nil {
			return
		}
		checkSame(t, got, want)
		if want.Features == 0 {
			return
		}
		out := filepath.Join(dir, "out.lwd")
		if _, err := Convert(Conversion{Inputs: []string{path}, Options: opts, Out: out}); err != nil {
			t.Fatal(err)
		}
		converted, err := Open(out, dataset.Options{Missing: dataset.MissingKeep})
		if w := want.Weights(); w != nil && slices.Max(w) == 0 {
			if err == nil || !strings.Contains(err.Error(), "weights of 0 of every document") {
				t.Fatalf("a file whose documents all have the weight 0: error %v", err)
			}
			return // as of any file
		}
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, converted, want)
		if err := converted.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func checkSame(t *rapid.T, got, want *dataset.Dataset) {
	t.Helper()
	if got.Docs() != want.Docs() || len(got.Queries) != len(want.Queries) || got.Features != want.Features || got.Missing() != want.Missing() {
		t.Fatalf("%d documents of %d queries with %d features and %d missing values, want %d of %d with %d and %d",
			got.Docs(), len(got.Queries), got.Features, got.Missing(), want.Docs(), len(want.Queries), want.Features, want.Missing())
	}
	if fmt.Sprint(got.FeatureNames, got.AttributeNames, got.QueryWeights(), got.RowWeights()) != fmt.Sprint(want.FeatureNames, want.AttributeNames, want.QueryWeights(), want.RowWeights()) {
		t.Fatalf("names or weights differ: %v, want %v", got.RowWeights(), want.RowWeights())
	}
	for i := range want.Queries {
		a, b := &got.Queries[i], &want.Queries[i]
		if a.ID != b.ID || fmt.Sprint(a.X, a.Grades) != fmt.Sprint(b.X, b.Grades) {
			t.Fatalf("query %s %v %v, want %s %v %v", a.ID, a.Grades, a.X, b.ID, b.Grades, b.X)
		}
		for j := range b.Len() {
			if a.DocID(j) != b.DocID(j) {
				t.Fatalf("query %s: document %q, want %q", b.ID, a.DocID(j), b.DocID(j))
			}
		}
		if x, y := fmt.Sprint(a.Attributes), fmt.Sprint(b.Attributes); x != y {
			t.Fatalf("query %s: attributes %s, want %s", b.ID, x, y)
		}
	}
}
