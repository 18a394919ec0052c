package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A long line costs as much memory in compressed data as anywhere: a few times its
// length, and not as many times as it is read in pieces.
func TestLongLineIsLinear(t *testing.T) {
	text := "1 qid:1 1:0.5 # " + strings.Repeat("a long line ", 2<<20) + "\n0 qid:1 1:1\n" // 25 MB
	for name, data := range map[string][]byte{"plain": []byte(text), "gzip": gzipOf(text), "zstd": zstdOf(text)} {
		var err error
		var d *Dataset
		n := allocated(func() { d, err = Read(bytes.NewReader(data), "f", Options{Workers: 1}) })
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
			for name, data := range map[string][]byte{"plain": []byte(text), "gzip": gzipOf(text), "zstd": zstdOf(text)} {
				_, err := Read(bytes.NewReader(data), "f", Options{line: limit, chunk: chunk, Workers: 2})
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
	if _, err := Open(path, Options{}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// Reading ends when the context is cancelled: while a pipe is silent, in the midst of
// a text, and before a stream that never ends has ended.
func TestReadingIsCancelled(t *testing.T) {
	silent, w := io.Pipe()
	defer w.Close()
	text := strings.Repeat("0 qid:1 1:1\n", 1<<20)
	path := filepath.Join(t.TempDir(), "f.zst")
	if err := os.WriteFile(path, zstdOf(text), 0o644); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(plain, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(o Options, cancel func()) error{
		"silent pipe": func(o Options, cancel func()) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			_, err := Read(silent, "f", o)
			return err
		},
		"silent scores": func(o Options, cancel func()) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			_, err := readScores(silent, "f", 3, o)
			return err
		},
		"endless scores": func(o Options, cancel func()) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			_, err := readScores(&endless{text: []byte("\n")}, "f", 3, o)
			return err
		},
		"compressed text": func(o Options, cancel func()) error {
			o.Observe = func(_, _ int64) { cancel() }
			_, err := Open(path, o)
			return err
		},
		"text": func(o Options, cancel func()) error {
			o.Observe = func(_, _ int64) { cancel() }
			_, err := Open(plain, o)
			return err
		},
		"before": func(o Options, cancel func()) error {
			cancel()
			_, err := Open(plain, o)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		err := read(Options{Context: ctx, Workers: 2}, cancel)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error is %v, want context.Canceled", name, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		cancel()
	}
}
