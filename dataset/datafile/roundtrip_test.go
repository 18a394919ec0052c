package datafile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/letor"
)

// The real collections have the numbers of queries, documents, features and
// grades that are published for them.
func TestRealData(t *testing.T) {
	for _, test := range []struct {
		set                     string
		queries, docs, features int
		grades                  [3]int
	}{
		{"ohsumed", 106, 16140, 45, [3]int{11303, 2585, 2252}},
		{"mq2008", 784, 15211, 46, [3]int{12279, 2001, 931}},
	} {
		t.Run(test.set, func(t *testing.T) {
			var queries, docs int
			var grades [3]int
			for _, part := range datatest.OfficialParts(t, test.set) {
				d, err := Open(part, dataset.Options{})
				if err != nil {
					t.Fatal(err)
				}
				queries += len(d.Queries)
				docs += d.Docs()
				for _, g := range d.Grades() {
					grades[int(g)]++
				}
				if d.Features != test.features {
					t.Errorf("%s: %d features, want %d", part, d.Features, test.features)
				}
				if len(d.Warnings) != 0 {
					t.Errorf("%s: warnings %q", part, d.Warnings)
				}
				checkRealPart(t, part, d)
			}
			if queries != test.queries || docs != test.docs || grades != test.grades {
				t.Errorf("%d queries, %d documents, grades %v; want %+v", queries, docs, grades, test)
			}
		})
	}
}

// checkRealPart compares a part with the naive reader, and with itself through
// all formats.
func checkRealPart(t *testing.T, path string, d *dataset.Dataset) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	docs, features := datatest.ReadNaively(t, string(text), dataset.MissingError)
	datatest.CheckAgainst(t, d, docs, features)
	if d.Queries[0].DocID(0) == "" {
		t.Errorf("%s: no document ids", path)
	}
	roundTrips(t, d)
}

// roundTrips checks that writing d in each format and reading it gives d.
func roundTrips(t rapid.TB, d *dataset.Dataset) {
	t.Helper()
	inMemory(t, d)
	dir, err := os.MkdirTemp("", "listwise")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "cache")
	if err := cache.Write(path, d); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := *d
	want.Warnings = nil
	if diff := datatest.Same(&want, again); diff != "" {
		t.Fatalf("through a mapped cache: %s", diff)
	}
	if got, want := again.Fingerprint(), d.Clone().Fingerprint(); got != want {
		t.Fatalf("through a mapped cache the fingerprint is %s, want %s", got, want)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// inMemory is roundTrips without files.
func inMemory(t rapid.TB, d *dataset.Dataset) {
	t.Helper()
	want := *d
	want.Warnings = nil
	var cached bytes.Buffer
	if err := cache.Encode(&cached, d); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&cached, "again", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := datatest.Same(&want, again); diff != "" {
		t.Fatalf("through the cache: %s", diff)
	}
	for _, sparse := range []bool{false, true} {
		var text bytes.Buffer
		if err := letor.Write(&text, d, letor.WriteOptions{Sparse: sparse}); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&text, "again", dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if again.InputRows() != nil || again.Warnings != nil { // text has no place for these
			t.Fatalf("through text (sparse %v) there are %v, %q", sparse, again.InputRows(), again.Warnings)
		}
		if !slices.Equal(again.FeatureNames, want.FeatureNames) {
			t.Fatalf("through text (sparse %v) names are %q, want %q", sparse, again.FeatureNames, want.FeatureNames)
		}
		if diff := datatest.SameDocuments(&want, again); diff != "" {
			t.Fatalf("through text (sparse %v): %s", sparse, diff)
		}
	}
}

// A sparse file whose last feature is always 0 keeps its number of features.
func TestSparseTextKeepsTheWidth(t *testing.T) {
	var b dataset.Builder
	if err := b.Add("q", []float64{0, 1}, make([]float32, 6), nil); err != nil {
		t.Fatal(err)
	}
	roundTrips(t, b.Dataset())
}

func TestCacheRoundTrip(t *testing.T) {
	roundTrips(t, datatest.Split())
	rapid.Check(t, func(t *rapid.T) {
		missing := rapid.SampledFrom([]dataset.Missing{dataset.MissingError, dataset.MissingMin}).Draw(t, "policy")
		d, err := Read(strings.NewReader(datatest.DrawText(t, missing != dataset.MissingError)), "f", dataset.Options{Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		inMemory(t, d)
	})
	rapid.Check(t, func(t *rapid.T) { inMemory(t, datatest.Random(t)) })
}
