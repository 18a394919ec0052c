package letor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Results do not depend on GOMAXPROCS nor on the chunks of a file as large as
// several of them.
func TestManyChunks(t *testing.T) {
	text := datatest.OHSUMEDLike(nil, datatest.Rand(), 40, 100)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	docs, features := datatest.ReadNaively(t, string(text), dataset.MissingError)
	for _, procs := range []int{1, 4} {
		was := runtime.GOMAXPROCS(procs)
		d, err := openFile(path, dataset.Options{})
		runtime.GOMAXPROCS(was)
		if err != nil {
			t.Fatal(err)
		}
		datatest.CheckAgainst(t, d, docs, features)
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
	text := string(datatest.OHSUMEDLike(nil, datatest.Rand(), 10, 100))
	go func() {
		io.WriteString(w, text)
		w.Close()
	}()
	d, err := openFile(fmt.Sprintf("/dev/fd/%d", r.Fd()), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	docs, features := datatest.ReadNaively(t, text, dataset.MissingError)
	datatest.CheckAgainst(t, d, docs, features)
}
