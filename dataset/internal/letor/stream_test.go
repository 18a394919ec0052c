package letor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// A long line costs as much memory in compressed data as anywhere: a few times its
// length, and not as many times as it is read in pieces.
func TestLongLineIsLinear(t *testing.T) {
	text := "1 qid:1 1:0.5 # " + strings.Repeat("a long line ", 2<<20) + "\n0 qid:1 1:1\n" // 25 MB
	for name, data := range map[string][]byte{"plain": []byte(text), "gzip": datatest.Gzip(text), "zstd": datatest.Zstd(text)} {
		var err error
		var d *dataset.Dataset
		n := datatest.Allocated(func() { d, err = readFrom(bytes.NewReader(data), "f", dataset.Options{Workers: 1}) })
		if err != nil || d.Docs() != 2 {
			t.Fatal(err)
		}
		if most := int64(16 * len(text)); n > most {
			t.Errorf("%s: %d bytes allocated for a line of %d, expected at most %d", name, n, len(text), most)
		}
	}
}

// The longest line that is read, and the shortest that is not, are the same for
// every kind of source.
func TestLongestLine(t *testing.T) {
	const limit, chunk = 100_000, 1000
	for length, ok := range map[int]bool{chunk + limit: true, chunk + limit + 1: true, chunk + limit + 2: false, 20 * limit: false} {
		line := "1 qid:1 1:1 #" + strings.Repeat("x", length-14) + "\n"
		for _, text := range []string{line, line + "0 qid:1 1:1\n", line[:length-1]} {
			for name, data := range map[string][]byte{"plain": []byte(text), "gzip": datatest.Gzip(text), "zstd": datatest.Zstd(text)} {
				_, err := readCut(bytes.NewReader(data), "f", dataset.Options{Workers: 2}, chunk, limit)
				want := "f:1: found a line longer than 97.66 KiB, expected text"
				if ok && err != nil || !ok && (err == nil || err.Error() != want) {
					t.Errorf("%s, a line of %d bytes in a text of %d: error is %v", name, length, len(text), err)
				}
			}
		}
	}
}

// A file of 4 GiB without a line feed is refused by its first 256 MiB.
func TestEndlessLineInFile(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 512 MiB")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("#"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 4<<30); err != nil {
		t.Skip(err)
	}
	want := path + ":1: found a line longer than 256 MiB, expected text"
	if _, err := openFile(path, dataset.Options{}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
