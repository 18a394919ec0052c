package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A short text with a huge index on each of many lines asks for a matrix far
// larger than itself, which is refused before it is allocated.
func TestMatrixTooLargeForText(t *testing.T) {
	text := strings.Repeat("1 qid:1 100000:1\n", 50_000) // 850 kB that ask for 18.6 GiB
	_, err := Read(strings.NewReader(text), "f", Options{MaxBytes: DefaultMaxBytes})
	want := "f: found 50000 documents × 100000 features × 4 bytes = 18.63 GiB, expected at most 16 GiB; " +
		"the matrix is as wide as the largest feature index, so number the features from 1 on without gaps, or raise the limit"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n\t%v\nwant\n\t%s", err, want)
	}
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v is not ErrTooLarge", err)
	}
}

// The limit is on all that is counted, exactly: what is known of the chunk, matrix,
// grades and ends of identifiers, the query's id and place, runs of documents.
func TestMaxBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("1 qid:1 1:1 3:2\n0 qid:1 2:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	need := int64(chunkBytes + 2*(3*4+documentBytes) + (knownBytes + 1) + 8 + 8 + queryBytes)
	if _, err := Open(path, Options{MaxBytes: need}); err != nil {
		t.Errorf("%d bytes: %v", need, err)
	}
	for _, o := range []Options{{MaxBytes: need - 1}, {MaxBytes: 1}, {MaxBytes: need, MinFeatures: 4}, {MaxBytes: need, Features: 4}, {MinFeatures: 1 << 61, MaxBytes: 1 << 62}} {
		if _, err := Open(path, o); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%+v: error is %v, want ErrTooLarge", o, err)
		}
	}
}

// A mistake in a line is told before the size, which it may be the cause of.
func TestMistakeBeforeSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for text, o := range map[string]Options{
		"1 qid:1 1:1\n1 qid:1 900:x\n": {MaxFeature: 800, MaxBytes: 1000},
		"1 qid:1 1:1\n1 qid:1 800:x\n": {MaxFeature: 800, MaxBytes: 1000},
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, o); err == nil || !strings.HasPrefix(err.Error(), path+":2: found") {
			t.Errorf("error is %v, want one of line 2", err)
		}
	}
}

// A cache that is mapped takes the memory of its identifiers, and that of the matrix
// if it is to get further columns.
func TestMaxBytesOfCache(t *testing.T) {
	d, err := Read(strings.NewReader("1 qid:1 1:1\n0 qid:1 1:2\n"), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f.lwd")
	if err := WriteCache(path, d); err != nil {
		t.Fatal(err)
	}
	need := int64(2*4 + 2*1 + queryBytes + 16)
	if d, err = Open(path, Options{MaxBytes: need}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{{MaxBytes: need - 1}, {MaxBytes: need + 16, MinFeatures: 2}} {
		if _, err = Open(path, o); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%+v: error is %v, want ErrTooLarge", o, err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(data), "f", Options{MaxBytes: 2*int64(len(data)) + need - 1}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a cache that is read: error is %v, want ErrTooLarge", err)
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
		for i := range 50_000 {
			text = append(text, line(i)...)
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		low, high := int64(1), int64(1<<30)
		for high-low > high/100 {
			limit := (low + high) / 2
			if _, err := Open(path, Options{MaxBytes: limit, Workers: 2}); err == nil {
				high = limit
			} else if low = limit; !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
		}
		before := liveBytes()
		d, err := Open(path, Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if live := liveBytes() - before; live > high {
			t.Errorf("%s: %d bytes are held, and %d were enough to read it", name, live, high)
		}
		runtime.KeepAlive(d)
	}
}

func liveBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// allocated returns the bytes allocated while f ran.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// endless repeats a text for ever.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(p), nil
}

// Inputs without an end, or that unpack to far more than they are, fail with little
// memory and soon.
func TestBombs(t *testing.T) {
	tiny := bytes.Repeat([]byte("0 qid:1 1:1\n"), 1<<21) // 25 MB
	var queries []byte
	for i := range 200_000 {
		queries = fmt.Appendf(queries, "0 qid:%d 1:1\n", i)
	}
	tinyZstd, tinyGzip, queriesZstd := zstdOf(string(tiny)), gzipOf(string(tiny)), zstdOf(string(queries))
	lineZstd, scoresZstd := zstdOf(strings.Repeat("#", 1<<26)), zstdOf(strings.Repeat("1\n", 1<<22))
	bare := zstdOf(strings.Repeat("1 qid:1\n", 1<<22))
	const limit = 8 << 20
	opts := Options{MaxBytes: limit, Workers: 2}
	for name, read := range map[string]func() error{
		"tiny documents, zstd": func() error { _, err := Read(bytes.NewReader(tinyZstd), "f", opts); return err },
		"tiny documents, gzip": func() error { _, err := Read(bytes.NewReader(tinyGzip), "f", opts); return err },
		"no features":          func() error { _, err := Read(bytes.NewReader(bare), "f", opts); return err },
		"queries":              func() error { _, err := Read(bytes.NewReader(queriesZstd), "f", opts); return err },
		"one line, zstd":       func() error { _, err := Read(bytes.NewReader(lineZstd), "f", opts); return err },
		"endless documents":    func() error { _, err := Read(&endless{text: []byte("0 qid:1 1:1\n")}, "f", opts); return err },
		"endless line":         func() error { _, err := Read(&endless{text: []byte("# ")}, "f", opts); return err },
		"endless blank lines":  func() error { _, err := Read(&endless{text: []byte("\n")}, "f", opts); return err },
		"endless scores":       func() error { _, err := readScores(&endless{text: []byte("1\n")}, "f", -1, opts); return err },
		"scores, zstd":         func() error { _, err := readScores(bytes.NewReader(scoresZstd), "f", -1, opts); return err },
	} {
		start := time.Now()
		var err error
		if n := allocated(func() { err = read() }); n > 8*limit {
			t.Errorf("%s: %s were allocated", name, inBytes(float64(n)))
		}
		if !errors.Is(err, ErrTooLarge) || !strings.HasPrefix(err.Error(), "f: found ") || !strings.HasSuffix(err.Error(), ", or raise the limit") {
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
		_, err := Read(&endless{text: []byte(text)}, "f", Options{MaxBytes: 1 << 20})
		if want == "" && !errors.Is(err, ErrTooLarge) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q…: error is %v, want %s", text, err, want)
		}
	}
}

// A score is not read without end.
func TestEndlessScore(t *testing.T) {
	want := "f:1: found a line longer than 1 MiB, expected text"
	if _, err := readScores(&endless{text: []byte("1")}, "f", -1, Options{}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// ReadScores reads no further than the first score too many.
func TestTooManyScores(t *testing.T) {
	for _, want := range []int{0, 3, 200_000} {
		_, err := readScores(&endless{text: []byte("1\n")}, "f", want, Options{})
		if text := fmt.Sprintf(`f:%d: found one more score, "1", expected %d scores, one for each document`, want+1, want); err == nil || err.Error() != text {
			t.Errorf("error is %v, want %s", err, text)
		}
	}
}

// Claim: what CheckBuilder lets pass builds within the limit, as allocations measure it,
// and what it refuses is told with an estimate.
func TestCheckBuilder(t *testing.T) {
	const queries, docs, features = 2000, 50, 20
	var b Builder
	ids := make([]string, docs)
	for i := range ids {
		ids[i] = fmt.Sprintf("1234-%05d", i)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for q := range queries {
		if err := b.Add(strconv.Itoa(q), make([]float64, docs), make([]float32, docs*features), ids); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc - before.HeapAlloc)
	if err := (Options{MaxBytes: 3 * held}).CheckBuilder(queries, docs, features); err != nil {
		t.Errorf("%v, though it holds %d bytes", err, held)
	}
	err := Options{MaxBytes: held}.CheckBuilder(queries, docs, features)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "2000 queries × 50 documents × 20 features, which take some ") {
		t.Errorf("a limit of the %d bytes that it holds: %v", held, err)
	}
	if d := b.Dataset(); d.Docs() != queries*docs {
		t.Errorf("%d documents", d.Docs())
	}
	if err := (Options{}).CheckBuilder(math.MaxInt32, math.MaxInt32, math.MaxInt32); !errors.Is(err, ErrTooLarge) {
		t.Errorf("all there is: %v", err)
	}
}
