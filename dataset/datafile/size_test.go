package datafile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/memory"
)

// A cache that is mapped takes the memory of its identifiers, and that of the matrix
// if it is to get further columns.
func TestMaxBytesOfCache(t *testing.T) {
	d, err := Read(strings.NewReader("1 qid:1 1:1\n0 qid:1 1:2\n"), "f", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f.lwd")
	if err := cache.Write(path, d); err != nil {
		t.Fatal(err)
	}
	need := int64(2*4 + 2*1 + memory.QueryBytes + 16)
	if d, err = Open(path, dataset.Options{MaxBytes: need}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, o := range []dataset.Options{{MaxBytes: need - 1}, {MaxBytes: need + 16, MinFeatures: 2}} {
		if _, err = Open(path, o); !errors.Is(err, dataset.ErrTooLarge) {
			t.Errorf("%+v: error is %v, want ErrTooLarge", o, err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(data), "f", dataset.Options{MaxBytes: 2*int64(len(data)) + need - 1}); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("a cache that is read: error is %v, want ErrTooLarge", err)
	}
}

// Inputs without an end, or that unpack to far more than they are, fail with little
// memory and soon.
func TestBombs(t *testing.T) {
	tiny := bytes.Repeat([]byte("0 qid:1 1:1\n"), 1<<21) // 25 MB
	var queries []byte
	for i := range 200_000 {
		queries = fmt.Appendf(queries, "0 qid:%d 1:1\n", i)
	}
	tinyZstd, tinyGzip, queriesZstd := datatest.Zstd(string(tiny)), datatest.Gzip(string(tiny)), datatest.Zstd(string(queries))
	lineZstd, scoresZstd := datatest.Zstd(strings.Repeat("#", 1<<26)), datatest.Zstd(strings.Repeat("1\n", 1<<22))
	bare := datatest.Zstd(strings.Repeat("1 qid:1\n", 1<<22))
	const limit = 8 << 20
	opts := dataset.Options{MaxBytes: limit, Workers: 2}
	for name, read := range map[string]func() error{
		"tiny documents, zstd": func() error { _, err := Read(bytes.NewReader(tinyZstd), "f", opts); return err },
		"tiny documents, gzip": func() error { _, err := Read(bytes.NewReader(tinyGzip), "f", opts); return err },
		"no features":          func() error { _, err := Read(bytes.NewReader(bare), "f", opts); return err },
		"queries":              func() error { _, err := Read(bytes.NewReader(queriesZstd), "f", opts); return err },
		"one line, zstd":       func() error { _, err := Read(bytes.NewReader(lineZstd), "f", opts); return err },
		"endless documents":    func() error { _, err := Read(datatest.Endless([]byte("0 qid:1 1:1\n")), "f", opts); return err },
		"endless line":         func() error { _, err := Read(datatest.Endless([]byte("# ")), "f", opts); return err },
		"endless blank lines":  func() error { _, err := Read(datatest.Endless([]byte("\n")), "f", opts); return err },
		"endless scores":       func() error { _, err := readScores(datatest.Endless([]byte("1\n")), "f", -1, opts); return err },
		"scores, zstd":         func() error { _, err := readScores(bytes.NewReader(scoresZstd), "f", -1, opts); return err },
	} {
		start := time.Now()
		var err error
		if n := datatest.Allocated(func() { err = read() }); n > 8*limit {
			t.Errorf("%s: %s were allocated", name, memory.Bytes(float64(n)))
		}
		if !errors.Is(err, dataset.ErrTooLarge) || !strings.HasPrefix(err.Error(), "f: found ") || !strings.HasSuffix(err.Error(), ", or raise the limit") {
			t.Errorf("%s: error is %v, want ErrTooLarge", name, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

// What is wrong at the beginning of a stream is told without reading on.
func TestWrongStreams(t *testing.T) {
	for text, want := range map[string]string{
		"\x00":            `f:1: found "` + strings.Repeat(`\x00`, 40) + `"…, expected a grade, a finite non-negative number`,
		"y\n":             `f:1: found "y", expected a grade, a finite non-negative number`,
		"1 qid:1 1:0.5 y": "",
	} {
		_, err := Read(datatest.Endless([]byte(text)), "f", dataset.Options{MaxBytes: 1 << 20})
		if want == "" && !errors.Is(err, dataset.ErrTooLarge) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q…: error is %v, want %s", text, err, want)
		}
	}
}

// A score is not read without end.
func TestEndlessScore(t *testing.T) {
	want := "f:1: found a line longer than 1 MiB, expected text"
	if _, err := readScores(datatest.Endless([]byte("1")), "f", -1, dataset.Options{}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// ReadScores reads no further than the first score too many.
func TestTooManyScores(t *testing.T) {
	for _, want := range []int{0, 3, 200_000} {
		_, err := readScores(datatest.Endless([]byte("1\n")), "f", want, dataset.Options{})
		if text := fmt.Sprintf(`f:%d: found one more score, "1", expected %d scores, one for each document`, want+1, want); err == nil || err.Error() != text {
			t.Errorf("error is %v, want %s", err, text)
		}
	}
}

// Reading ends when the context is cancelled: while a pipe is silent, in the midst of
// a text, and before a stream that never ends has ended.
func TestReadingIsCancelled(t *testing.T) {
	silent, w := io.Pipe()
	defer w.Close()
	text := strings.Repeat("0 qid:1 1:1\n", 1<<20)
	path := filepath.Join(t.TempDir(), "f.zst")
	if err := os.WriteFile(path, datatest.Zstd(text), 0o644); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(plain, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(o dataset.Options, cancel func()) error{
		"silent pipe": func(o dataset.Options, cancel func()) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			_, err := Read(silent, "f", o)
			return err
		},
		"silent scores": func(o dataset.Options, cancel func()) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			_, err := readScores(silent, "f", 3, o)
			return err
		},
		"endless scores": func(o dataset.Options, cancel func()) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			_, err := readScores(datatest.Endless([]byte("\n")), "f", 3, o)
			return err
		},
		"compressed text": func(o dataset.Options, cancel func()) error {
			o.Observe = func(_, _ int64) { cancel() }
			_, err := Open(path, o)
			return err
		},
		"text": func(o dataset.Options, cancel func()) error {
			o.Observe = func(_, _ int64) { cancel() }
			_, err := Open(plain, o)
			return err
		},
		"before": func(o dataset.Options, cancel func()) error {
			cancel()
			_, err := Open(plain, o)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		err := read(dataset.Options{Context: ctx, Workers: 2}, cancel)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error is %v, want context.Canceled", name, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		cancel()
	}
}
