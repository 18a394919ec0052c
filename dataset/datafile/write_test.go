package datafile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/letor"
)

// What is written under any name is read back, and the name decides the format.
func TestWriteFileFollowsTheName(t *testing.T) {
	dir := t.TempDir()
	begins := map[string]string{
		"a.txt": "", "a.txt.gz": "\x1f\x8b", "a.zst": "\x28\xb5\x2f\xfd", "a.lwd": cache.Magic,
	}
	for seed := range 5 {
		d := rapid.Custom(datatest.Random).Example(seed)
		for name, magic := range begins {
			path := filepath.Join(dir, name)
			if err := Write(path, d, letor.WriteOptions{Sparse: true}); err != nil {
				t.Fatal(err)
			}
			if text := read(t, path); !strings.HasPrefix(text, magic) || magic == "" && !strings.Contains(text, " qid:q0") {
				t.Fatalf("%s begins with %q", name, text[:min(len(text), 10)])
			}
			back, err := Open(path, dataset.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(datatest.Documents(back), datatest.Documents(d)) {
				t.Fatalf("%s: %v\nexpected %v", name, datatest.Documents(back), datatest.Documents(d))
			}
			if err := back.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
