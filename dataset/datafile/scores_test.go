package datafile

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/letor"
)

func writeTemp(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scores")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestScoresRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		finite := rapid.Float64().Filter(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })
		scores := rapid.SliceOfN(finite, 0, 500).Draw(t, "scores")
		var b bytes.Buffer
		if err := letor.WriteScores(&b, scores); err != nil {
			t.Fatal(err)
		}
		got, err := readScores(bytes.NewReader(b.Bytes()), "f", len(scores), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, scores, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Fatalf("got %v, want %v", got, scores)
		}
	})
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if err := letor.WriteScores(new(bytes.Buffer), []float64{0, v}); err == nil || !strings.HasSuffix(err.Error(), "of document 2, expected a finite number") {
			t.Errorf("writing %v: error is %v", v, err)
		}
	}
}

func TestReadScores(t *testing.T) {
	want := []float64{1, -2.5, 3e-7, 0}
	const text = "\ufeff1\r\n  -2.5 \t\n+3e-7\n0"
	for _, data := range [][]byte{[]byte(text), []byte(text + "\n"), []byte(text + "\n\n \n"), datatest.Gzip(text), datatest.Zstd(text)} {
		path := writeTemp(t, data)
		for _, n := range []int{4, -1} {
			if got, err := ReadScores(path, n, dataset.Options{}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %d wanted: %v, %v", data, n, got, err)
			}
		}
	}
	want = []float64{1, dataset.NotRetrieved, dataset.NotRetrieved, 3}
	if got, err := ReadScores(writeTemp(t, []byte("1\n-inf\r\n -Inf \n3\n")), 4, dataset.Options{}); err != nil || !slices.Equal(got, want) {
		t.Errorf("documents that were not retrieved: found %v, %v, expected %v", got, err, want)
	}
	if got, err := ReadScores(writeTemp(t, nil), 0, dataset.Options{}); err != nil || len(got) != 0 {
		t.Errorf("no scores: %v, %v", got, err)
	}
}

func TestBadScores(t *testing.T) {
	for text, want := range map[string]string{
		"1\nx\n3":                               `:2: found "x", expected a score, one finite decimal number`,
		"1\n2 3\n3":                             `:2: found "2 3", expected a score, one finite decimal number`,
		"1\n2\t# two\n3":                        "PATH:2: found \"2\\t# two\", expected a score, one finite decimal number",
		"1\nnan\n3":                             `:2: found "nan", expected a score, one finite decimal number`,
		"1\ninf\n3":                             `:2: found "inf", expected a score, one finite decimal number`,
		"1\n-inf 2\n3":                          `:2: found "-inf 2", expected a score, one finite decimal number`,
		"1\n-1e400\n3":                          `:2: found "-1e400", expected a score, one finite decimal number`,
		"1\n1e400\n3":                           `:2: found "1e400", expected a score, one finite decimal number`,
		"1\n0x2\n3":                             `:2: found "0x2", expected a score, one finite decimal number`,
		"1\n\xff\n3":                            `:2: found "\xff", expected a score, one finite decimal number`,
		"1\r2\r3\r":                             `:1: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`,
		"1\n2\r\r\n3\n":                         `:2: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`,
		"0 qid:1 1:0.5\n":                       `:1: found "0 qid:1 1:0.5", expected a score, one finite decimal number (this looks like judged queries)`,
		"1\n\n\n3":                              `:2: found a blank line, expected a score`,
		"\n1\n2\n3\n":                           `:1: found a blank line, expected a score`,
		"1\n2":                                  `: found 2 scores, expected 3, one for each document`,
		"1\n2\n3\n4\n":                          `:4: found one more score, "4", expected 3 scores, one for each document`,
		"":                                      `: found 0 scores, expected 3, one for each document`,
		"\x89LWDATA\n":                          `: found a binary data set, expected one score a line`,
		string(datatest.Gzip("1\n2\n3\n")[:28]): `:4: found the file's end after 28 bytes in the midst of compressed data, expected the rest of the compressed data`,
	} {
		path := writeTemp(t, []byte(text))
		want = path + strings.TrimPrefix(want, "PATH")
		if _, err := ReadScores(path, 3, dataset.Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: error is\n\t%v\nwant\n\t%s", text, err, want)
		}
	}
	if _, err := ReadScores(filepath.Join(t.TempDir(), "none"), 3, dataset.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want os.ErrNotExist", err)
	}
}

func FuzzScores(f *testing.F) {
	for _, s := range []string{"1\n2.5\n-3e-4", "\n", "1\n\n2", "nan", "1e400", "\ufeff1\r\n", string(datatest.Gzip("1\n2\n"))} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		scores, err := readScores(bytes.NewReader(data), "f", -1, dataset.Options{})
		if err != nil || slices.Contains(scores, dataset.NotRetrieved) { // which is not written
			return
		}
		var text bytes.Buffer
		if err := letor.WriteScores(&text, scores); err != nil {
			t.Fatal(err)
		}
		again, err := readScores(bytes.NewReader(text.Bytes()), "f", len(scores), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(scores, again, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Fatalf("%v became %v", scores, again)
		}
	})
}
