package letor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/input"
)

// Claim: without features everything else is read as ever, from text and from a cache: queries, grades,
// weights, identifiers and the order of the input; the features are not looked at.
func TestGradesOnly(t *testing.T) {
	lines := []string{
		"2 qid:a 1:0.5 2:1e-3 3:7 # docid = x y", "0 qid:a 2:3#docid = z", "# a comment", "1 qid:b 1:1", "",
		"0.5 qid:c", "1 qid:a 1:2 3:4 \t# no id", "3 qid:b 3:0.25 #docid=w",
	}
	text := strings.Join(lines, "\r\n") + "\n"
	want, err := readFrom(strings.NewReader(text), "whole", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "d.lwd")
	if err := cache.Write(path, want); err != nil {
		t.Fatal(err)
	}
	broken := strings.NewReplacer("1e-3", "?", "3:7", "3:").Replace(text)
	opts := dataset.Options{GradesOnly: true}
	got, err := readCut(strings.NewReader(broken), "grades", opts, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	var cached *dataset.Dataset
	err = input.With(path, opts, nil, func(in *input.Input) (err error) {
		cached, err = cache.Read(in, opts)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cached.Close() //nolint:errcheck // only read
	if got.Features != 1 || slices.Max(got.X()) != 0 || !cached.Streamed() {
		t.Errorf("%d features of text, and a cache that is streamed: %v", got.Features, cached.Streamed())
	}
	for _, d := range []*dataset.Dataset{got, cached} {
		if !slices.Equal(d.Grades(), want.Grades()) || !slices.Equal(d.InputRows(), want.InputRows()) || len(d.Queries) != len(want.Queries) {
			t.Fatalf("grades %v in the order %v of %d queries, want %v, %v, %d", d.Grades(), d.InputRows(), len(d.Queries), want.Grades(), want.InputRows(), len(want.Queries))
		}
		for i := range d.Queries {
			a, b := &d.Queries[i], &want.Queries[i]
			if a.ID != b.ID || a.Len() != b.Len() {
				t.Errorf("query %q of %d documents, want %q of %d", a.ID, a.Len(), b.ID, b.Len())
			}
			for j := range a.Len() {
				if a.DocID(j) != b.DocID(j) {
					t.Errorf("document %q, want %q", a.DocID(j), b.DocID(j))
				}
			}
		}
	}
}
