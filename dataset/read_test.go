package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"
)

func testRand() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

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
			for _, part := range officialParts(t, test.set) {
				d, err := Open(part, Options{})
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
func checkRealPart(t *testing.T, path string, d *Dataset) {
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
	docs, features := readNaively(t, string(text), MissingError)
	checkAgainst(t, d, docs, features)
	if d.Queries[0].DocID(0) == "" {
		t.Errorf("%s: no document ids", path)
	}
	roundTrips(t, d)
}

// roundTrips checks that writing d in each format and reading it gives d.
func roundTrips(t rapid.TB, d *Dataset) {
	t.Helper()
	inMemory(t, d)
	dir, err := os.MkdirTemp("", "listwise")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "cache")
	if err := WriteCache(path, d); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := *d
	want.Warnings = nil
	if diff := same(&want, again); diff != "" {
		t.Fatalf("through a mapped cache: %s", diff)
	}
	if got, want := again.Fingerprint(), d.computeFingerprint(); got != want {
		t.Fatalf("through a mapped cache the fingerprint is %s, want %s", got, want)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// inMemory is roundTrips without files.
func inMemory(t rapid.TB, d *Dataset) {
	t.Helper()
	want := *d
	want.Warnings = nil
	again, err := Read(bytes.NewReader(cacheBytes(t, d)), "again", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := same(&want, again); diff != "" {
		t.Fatalf("through the cache: %s", diff)
	}
	want.inputRow, want.FeatureNames = nil, nil // text has no place for these
	for _, sparse := range []bool{false, true} {
		var text bytes.Buffer
		if err := WriteText(&text, d, TextOptions{Sparse: sparse}); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&text, "again", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := same(&want, again); diff != "" {
			t.Fatalf("through text (sparse %v): %s", sparse, diff)
		}
	}
}

// Results do not depend on GOMAXPROCS nor on the chunks of a file as large as
// several of them.
func TestManyChunks(t *testing.T) {
	text := ohsumedLike(nil, testRand(), 40, 100)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	docs, features := readNaively(t, string(text), MissingError)
	for _, procs := range []int{1, 4} {
		was := runtime.GOMAXPROCS(procs)
		d, err := Open(path, Options{})
		runtime.GOMAXPROCS(was)
		if err != nil {
			t.Fatal(err)
		}
		checkAgainst(t, d, docs, features)
	}
}

// A pipe, which cannot be read twice, gives what a file gives.
func TestOpenPipe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/fd")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text := string(ohsumedLike(nil, testRand(), 10, 100))
	go func() {
		io.WriteString(w, text)
		w.Close()
	}()
	d, err := Open(fmt.Sprintf("/dev/fd/%d", r.Fd()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	docs, features := readNaively(t, text, MissingError)
	checkAgainst(t, d, docs, features)
}

// What a data set remembers of its fingerprint never outlives a change, and a
// cache's is the one of its data, however the data came about.
func TestFingerprintIsRemembered(t *testing.T) {
	d := splitData(t)
	path := filepath.Join(t.TempDir(), "cache")
	if err := WriteCache(path, d); err != nil {
		t.Fatal(err)
	}
	cached, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer cached.Close()
	wide, err := Open(path, Options{Features: 5})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, d *Dataset) {
		t.Helper()
		for range 2 {
			if got, want := d.Fingerprint(), d.computeFingerprint(); got != want {
				t.Errorf("%s: fingerprint %s, want %s", what, got, want)
			}
		}
	}
	for name, d := range map[string]*Dataset{"text": d, "cache": cached, "wide": wide} {
		check(name, d)
		check(name+" cloned", d.Clone())
		NormalizeInPlace(d, MinMax)
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
	text := string(ohsumedLike(nil, testRand(), 40, 150)) // more than one block
	fingerprint := func(text string) string {
		d, err := Read(strings.NewReader(text), "f", Options{})
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
