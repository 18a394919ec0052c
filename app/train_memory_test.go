package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// Claim: data that are opened again to be read query by query are the same, in any format, though they would fit; a file
// that is another one by then is an error.
func TestOpenedAgain(t *testing.T) {
	const text = "2 qid:a 1:1 2:.5\n0 qid:a 1:3 2:nan\n1 qid:b 1:2 2:7\n"
	dir := t.TempDir()
	path := filepath.Join(dir, "d.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := &environment{stdout: io.Discard, stderr: io.Discard}
	opts := dataset.Options{Missing: dataset.MissingKeep, Stream: true}
	for _, name := range []string{"d.txt", "d.lwd", "d.parquet", "d.csv", "d.jsonl.gz"} {
		out := filepath.Join(dir, name)
		if name != "d.txt" {
			if _, err := datafile.Convert(datafile.Conversion{Inputs: []string{path}, Options: dataset.Options{Missing: dataset.MissingKeep}, Out: out}); err != nil {
				t.Fatal(err)
			}
		}
		held, err := datafile.Open(out, opts)
		if err != nil {
			t.Fatal(err)
		}
		d, err := new(trainFlags).again(t.Context(), env, "train", out, held.Fingerprint(), opts)
		if err != nil || held.Streamed() || !d.Streamed() {
			t.Fatalf("%s: error %v, want one that is held and one that is streamed", name, err)
		}
		if err := errors.Join(d.Close(), held.Close()); err != nil {
			t.Error(err)
		}
	}
	held, err := datafile.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"1 qid:c 1:2 2:7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := new(trainFlags).again(t.Context(), env, "train", path, held.Fingerprint(), opts); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("%v, want that the file was changed", err)
	}
}
