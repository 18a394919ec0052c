package dataset_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/cache"
)

// What a data set remembers of its fingerprint never outlives a change, and a
// cache's is the one of its data, however the data came about.
func TestFingerprintIsRemembered(t *testing.T) {
	d := datatest.Split()
	path := filepath.Join(t.TempDir(), "cache")
	if err := cache.Write(path, d); err != nil {
		t.Fatal(err)
	}
	cached, err := datafile.Open(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer cached.Close()
	wide, err := datafile.Open(path, dataset.Options{Features: 5})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, d *dataset.Dataset) {
		t.Helper()
		for range 2 {
			if got, want := d.Fingerprint(), d.ComputeFingerprint(); got != want {
				t.Errorf("%s: fingerprint %s, want %s", what, got, want)
			}
		}
	}
	for name, d := range map[string]*dataset.Dataset{"text": d, "cache": cached, "wide": wide} {
		check(name, d)
		check(name+" cloned", d.Clone())
		dataset.NormalizeInPlace(d, dataset.MinMax)
		check(name+" normalised", d)
		d.X()[1], d.Grades()[0] = 17, 4
		d.Modified()
		check(name+" changed", d)
		part := *d
		part.Queries = part.Queries[:1]
		check(name+" in part", &part)
		d.Queries = d.Queries[1:]
		check(name+" without its first query", d)
	}
}

func TestFingerprint(t *testing.T) {
	text := string(datatest.OHSUMEDLike(nil, datatest.Rand(), 40, 150)) // more than one block
	fingerprint := func(text string) string {
		d, err := datafile.Read(strings.NewReader(text), "f", dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d.Fingerprint()
	}
	first := fingerprint(text)
	if len(first) != 32 {
		t.Errorf("fingerprint %q, want 32 digits", first)
	}
	if got := fingerprint(strings.ReplaceAll(text, "#docid = ", "# id ")); got != first {
		t.Errorf("document ids change the fingerprint")
	}
	last := strings.LastIndex(text, " 45:")
	for what, other := range map[string]string{
		"a feature":              text[:last] + " 45:0.0625",
		"a grade":                "7" + text[1:],
		"a query id":             strings.ReplaceAll(text, "qid:40 ", "qid:41 "),
		"the number of features": strings.Replace(text, " #docid", " 46:0 #docid", 1),
		"the last document":      text[:strings.LastIndex(text[:len(text)-1], "\n")],
	} {
		if fingerprint(other) == first {
			t.Errorf("the fingerprint does not depend on %s", what)
		}
	}
	// A value kept in model files: it must never change.
	if got, want := fingerprint("2 qid:a 1:0.5 2:-1\n0 qid:b 2:3e-9\n"), "6fd1a5636ae67eca77ca591600899c3c"; got != want {
		t.Errorf("fingerprint is %s, want %s as in earlier versions", got, want)
	}
}
