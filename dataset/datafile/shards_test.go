package datafile_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/shards"
)

// TestShardsAreTheData: random data are written as shards of every format and read back as they
// are: ids, grades, values, identifiers and weights, whole or in a sample.
func TestShardsAreTheData(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		var b dataset.Builder
		n := rapid.IntRange(1, 12).Draw(t, "queries")
		weights := make([]float64, n)
		var documents []float64 // of whole shards they may all be 1
		for q := range n {
			grades := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2, 0.25}), 1, 5).Draw(t, "grades")
			x := rapid.SliceOfN(rapid.Float32Range(-9, 9), 3*len(grades), 3*len(grades)).Draw(t, "x")
			var docs []string
			for i := range grades {
				docs = append(docs, fmt.Sprintf("d%d-%d", q, i))
			}
			if err := b.Add(fmt.Sprintf("q%d", q), grades, x, docs); err != nil {
				t.Fatal(err)
			}
			weights[q] = rapid.SampledFrom([]float64{0.5, 1, 2}).Draw(t, "weight")
			of := rapid.SampledFrom([]float64{1, 1, 1, 3}).Draw(t, "weight of documents")
			documents = append(documents, slices.Repeat([]float64{of}, len(grades))...)
		}
		want := b.Dataset()
		ending := rapid.SampledFrom([]string{".lwd", ".txt", ".csv.gz", ".jsonl", ".parquet"}).Draw(t, "ending")
		if ending == ".txt" { // which has no place for weights
			weights, documents = nil, nil
		}
		if ending == ".csv.gz" || ending == ".jsonl" || rapid.Bool().Draw(t, "documents alone") {
			weights = nil
		}
		if err := want.Weigh(weights, documents); err != nil {
			t.Fatal(err)
		}
		whole := filepath.Join(dir, fmt.Sprintf("%d.lwd", run))
		if err := datafile.Write(whole, want, letor.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, strconv.Itoa(run))
		count := rapid.IntRange(1, n).Draw(t, "shards")
		m, err := datafile.Shard(datafile.Conversion{Inputs: []string{whole}}, out, ending, count)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Shards) != count || m.Queries != n || m.Grades != shards.GradesOf(want) {
			t.Fatalf("found %+v, expected %d shards of %d queries", m, count, n)
		}
		got, err := datafile.Open(out, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		keep := func(id string) bool { return id == "q0" || id > "q5" }
		got, err = datafile.Open(out, dataset.Options{Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want.Filter(func(q *dataset.Query) bool { return keep(q.ID) }))
	})
}

// same compares data sets.
func same(t *rapid.T, got, want *dataset.Dataset) {
	if got.Fingerprint() != want.Fingerprint() {
		t.Fatalf("the data differ")
	}
	if diff := cmp.Diff(want.QueryWeights(), got.QueryWeights()); diff != "" {
		t.Fatal(diff)
	}
	for i := range want.Queries {
		for j := range want.Queries[i].Len() {
			if a, b := got.Queries[i].DocID(j), want.Queries[i].DocID(j); a != b {
				t.Fatalf("found document %q, expected %q", a, b)
			}
		}
	}
}
