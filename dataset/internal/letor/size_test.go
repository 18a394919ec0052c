package letor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/memory"
)

// A short text with a huge index on each of many lines asks for a matrix far
// larger than itself, which is refused before it is allocated.
func TestMatrixTooLargeForText(t *testing.T) {
	text := strings.Repeat("1 qid:1 100000:1\n", 50_000) // 850 kB that ask for 18.6 GiB
	_, err := readFrom(strings.NewReader(text), "f", dataset.Options{MaxBytes: dataset.DefaultMaxBytes})
	want := "f: found 50000 documents × 100000 features × 4 bytes = 18.63 GiB, expected at most 16 GiB; " +
		"the matrix is as wide as the largest feature index, so number the features from 1 on without gaps, or raise the limit"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n\t%v\nwant\n\t%s", err, want)
	}
	if !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("error %v is not ErrTooLarge", err)
	}
}

// The limit holds exactly for all that is counted: the chunk, the matrix, grades and ends of
// identifiers, the query and its id, runs of documents.
func TestMaxBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("1 qid:1 1:1 3:2\n0 qid:1 2:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	need := int64(ingest.ChunkBytes + 2*(3*4+memory.DocumentBytes) + memory.QueryBytes + 1 + 2*8)
	if _, err := openFile(path, dataset.Options{MaxBytes: need}); err != nil {
		t.Errorf("%d bytes: %v", need, err)
	}
	for _, o := range []dataset.Options{{MaxBytes: need - 1}, {MaxBytes: 1}, {MaxBytes: need, MinFeatures: 4}, {MaxBytes: need, Features: 4}, {MinFeatures: 1 << 61, MaxBytes: 1 << 62}} {
		if _, err := openFile(path, o); !errors.Is(err, dataset.ErrTooLarge) {
			t.Errorf("%+v: error is %v, want ErrTooLarge", o, err)
		}
	}
}

// A mistake in a line is told before the size, which it may be the cause of.
func TestMistakeBeforeSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for text, o := range map[string]dataset.Options{
		"1 qid:1 1:1\n1 qid:1 900:x\n": {MaxFeature: 800, MaxBytes: 1000},
		"1 qid:1 1:1\n1 qid:1 800:x\n": {MaxFeature: 800, MaxBytes: 1000},
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openFile(path, o); err == nil || !strings.HasPrefix(err.Error(), path+":2: found") {
			t.Errorf("error is %v, want one of line 2", err)
		}
	}
}

// What a data set takes when it was read is no more than the least limit under
// which it can be read, whatever it is made of.
func TestLimitHoldsAllOfIt(t *testing.T) {
	texts := map[string]func(i int) string{
		"features":     func(int) string { return "1 qid:1 1:0.5 2:0.25 50:1\n" },
		"queries":      func(i int) string { return fmt.Sprintf("1 qid:query-%d 1:0.5\n", i) },
		"documents":    func(i int) string { return fmt.Sprintf("1 qid:1 1:0.5 #docid = document-%d\n", i) },
		"out of order": func(i int) string { return fmt.Sprintf("1 qid:%d 1:0.5 #docid = %d\n", i%997, i) },
	}
	for name, line := range texts {
		var text []byte
		for i := range 20_000 {
			text = append(text, line(i)...)
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		low, high := int64(1), int64(16<<20)
		for high-low > high/100 {
			limit := (low + high) / 2
			if _, err := openFile(path, dataset.Options{MaxBytes: limit, Workers: 2}); err == nil {
				high = limit
			} else if low = limit; !errors.Is(err, dataset.ErrTooLarge) {
				t.Fatal(err)
			}
		}
		before := datatest.LiveBytes()
		d, err := openFile(path, dataset.Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if live := datatest.LiveBytes() - before; live > high {
			t.Errorf("%s: %d bytes are held, and %d were enough to read it", name, live, high)
		}
		runtime.KeepAlive(d)
	}
}
