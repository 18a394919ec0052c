package dataset_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/internal/cache"
)

const withHoles = "1 qid:a 1:nan 2:4\n0 qid:b 1:1 2:NULL\n0 qid:a 1:3 2:NaN\n2 qid:a 1:5 2:2\n"

// Claim: what a reader keeps as missing becomes, by FillMissing and by Apply query by
// query, what a reader of that policy makes of it; also after the data were divided.
func TestKeptIsFilledAsReaders(t *testing.T) {
	read := func(m dataset.Missing) *dataset.Dataset {
		d, err := datafile.Read(strings.NewReader(withHoles), "f", dataset.Options{Missing: m})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, m := range []dataset.Missing{dataset.MissingZero, dataset.MissingMin} {
		want := read(m)
		kept := read(dataset.MissingKeep)
		if kept.Missing() != 3 || want.Missing() != 0 {
			t.Fatalf("%d missing values kept, %d after %s", kept.Missing(), want.Missing(), m)
		}
		if len(kept.Warnings) != len(want.Warnings)-1 {
			t.Errorf("%s: warnings are %q, of what is kept %q", m, want.Warnings, kept.Warnings)
		}
		applied := slices.Clone(kept.X())
		for _, q := range kept.Queries {
			m.Apply(applied[q.Start*2:(q.Start+q.Len())*2], 2)
		}
		part := kept.Filter(func(q *dataset.Query) bool { return q.ID == "a" })
		if part.Missing() != 2 {
			t.Errorf("%d missing values of query a, want 2", part.Missing())
		}
		part.FillMissing(m)
		kept.FillMissing(m)
		for name, got := range map[string][]float32{"FillMissing": kept.X(), "Apply": applied, "a part": part.X()} {
			if !slices.Equal(got, want.X()[:len(got)]) {
				t.Errorf("%s %s makes %v, reading %v", name, m, got, want.X())
			}
		}
		if kept.Missing() != 0 || part.Missing() != 0 {
			t.Error("values are missing after all were filled")
		}
	}
}

// Claim: the first missing value is found where it stands, also in a cache.
func TestFirstMissing(t *testing.T) {
	d, err := datafile.Read(strings.NewReader(withHoles), "f", dataset.Options{Missing: dataset.MissingKeep})
	if err != nil {
		t.Fatal(err)
	}
	if q, doc, f, ok := d.FirstMissing(); q != 0 || doc != 0 || f != 0 || !ok {
		t.Errorf("the first missing value is %d, %d, %d, %v", q, doc, f, ok)
	}
	path := filepath.Join(t.TempDir(), "c.lwd")
	if err := cache.Write(path, d); err != nil {
		t.Fatal(err)
	}
	cached, err := datafile.Open(path, dataset.Options{Missing: dataset.MissingKeep})
	if err != nil {
		t.Fatal(err)
	}
	defer cached.Close()
	if q, doc, f, ok := cached.FirstMissing(); q != 0 || doc != 0 || f != 0 || !ok || cached.Missing() != 3 {
		t.Errorf("in a cache the first of %d missing values is %d, %d, %d, %v", cached.Missing(), q, doc, f, ok)
	}
	d.FillMissing(dataset.MissingZero)
	if _, _, _, ok := d.FirstMissing(); ok {
		t.Error("a missing value was found among filled ones")
	}
	if slices.ContainsFunc(d.X(), func(v float32) bool { return math.IsNaN(float64(v)) }) {
		t.Error("a NaN is left")
	}
}

func TestMissingNames(t *testing.T) {
	for _, m := range []dataset.Missing{dataset.MissingError, dataset.MissingZero, dataset.MissingMin, dataset.MissingKeep} {
		if got, err := dataset.ParseMissing(m.String()); got != m || err != nil {
			t.Errorf("ParseMissing(%q) = %v, %v", m, got, err)
		}
	}
	if _, err := dataset.ParseMissing("mean"); err == nil || err.Error() != `found "mean", expected error, zero, min or keep` {
		t.Errorf("error is %v", err)
	}
}
