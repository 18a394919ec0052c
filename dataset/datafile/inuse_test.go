package datafile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// A text that is written to while it is read is an error, even if its shape stays.
func TestTextWrittenWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.txt")
	text := bytes.Repeat([]byte("1 qid:1 1:0.5\n"), 200_000)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	calls := 0
	_, err := Open(path, dataset.Options{Workers: 1, Observe: func(_, _ int64) {
		if calls++; calls == 3 {
			if err := writeAt(path, 0); err != nil {
				t.Error(err)
			}
		}
	}})
	if want := path + ": the file was changed while it was read"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// writeAt changes a byte of a file.
func writeAt(path string, at int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte{1}, at); err != nil {
		return err
	}
	return f.Close()
}
