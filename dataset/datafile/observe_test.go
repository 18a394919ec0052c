package datafile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/letor"
)

// Reading text tells how many bytes of how many were read, up to all of them, for a
// file and for a compressed one.
func TestReadingIsObserved(t *testing.T) {
	text := strings.Repeat("1 qid:1 1:0.5 2:0.25\n0 qid:2 1:1 2:2\n", 20_000)
	d, err := Read(strings.NewReader(text), "text", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "a.txt.gz", "a.txt.zst"} {
		path := filepath.Join(t.TempDir(), name)
		written := 0
		err := Write(path, d, letor.WriteOptions{Observe: func(done, total int) {
			if done != written+1 || total != len(d.Queries) {
				t.Fatalf("%s: %d of %d queries written after %d", name, done, total, written)
			}
			written = done
		}})
		if err != nil {
			t.Fatal(err)
		}
		if written != len(d.Queries) {
			t.Errorf("%s: told of %d queries written, expected %d", name, written, len(d.Queries))
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var most, calls int64
		_, err = Open(path, dataset.Options{Observe: func(done, total int64) {
			mu.Lock()
			defer mu.Unlock()
			if total != 2*info.Size() || done > total {
				t.Errorf("%s: %d of %d bytes, the file has %d", name, done, total, info.Size())
			}
			most, calls = max(most, done), calls+1
		}})
		if err != nil {
			t.Fatal(err)
		}
		if most != 2*info.Size() || calls < 2 {
			t.Errorf("%s: read up to %d in %d steps, expected %d", name, most, calls, 2*info.Size())
		}
	}
}
