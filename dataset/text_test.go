package dataset

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
)

func TestWriteText(t *testing.T) {
	d := splitData(t)
	for sparse, want := range map[bool]string{
		false: "1 qid:a 1:0.5 2:1 #docid = x\n2 qid:a 1:4 2:0 #docid = yz\n0 qid:käse 1:0 2:-3\n0.5 qid:b 1:1e-09 2:0\n",
		true:  "1 qid:a 1:0.5 2:1 #docid = x\n2 qid:a 1:4 #docid = yz\n0 qid:käse 2:-3\n0.5 qid:b 1:1e-09\n",
	} {
		var b bytes.Buffer
		if err := WriteText(&b, d, TextOptions{Sparse: sparse}); err != nil || b.String() != want {
			t.Errorf("sparse %v: %v,\n%s\nwant\n%s", sparse, err, b.String(), want)
		}
	}
}

// A sparse file whose last feature is always 0 keeps its number of features.
func TestSparseTextKeepsTheWidth(t *testing.T) {
	var b Builder
	if err := b.Add("q", []float64{0, 1}, make([]float32, 6), nil); err != nil {
		t.Fatal(err)
	}
	roundTrips(t, b.Dataset())
}

func TestWriteTextRefusesIdentifiersThatCannotBeRead(t *testing.T) {
	for want, ids := range map[string][2]string{
		`query id "a b" cannot be written as text: expected UTF-8 without blanks, control characters or #`:               {"a b", ""},
		`query id "a#b" cannot be written as text: expected UTF-8 without blanks, control characters or #`:               {"a#b", ""},
		`query id "" cannot be written as text: expected UTF-8 without blanks, control characters or #`:                  {"", ""},
		`query id "\xff" cannot be written as text: expected UTF-8 without blanks, control characters or #`:              {"\xff", ""},
		`document id "a\nb" of query "q" cannot be written as text: expected UTF-8 without blanks or control characters`: {"q", "a\nb"},
	} {
		var b Builder
		if err := b.Add(ids[0], []float64{1}, []float32{1}, []string{ids[1]}); err != nil {
			t.Fatal(err)
		}
		if err := WriteText(new(bytes.Buffer), b.Dataset(), TextOptions{}); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestWriteErrorsAreReported(t *testing.T) {
	full := fullDisk{errors.New("disk full")}
	if err := WriteText(full, splitData(t), TextOptions{}); !errors.Is(err, full.err) {
		t.Errorf("WriteText: %v, want %v", err, full.err)
	}
	if err := WriteScores(full, []float64{1}); !errors.Is(err, full.err) {
		t.Errorf("WriteScores: %v, want %v", err, full.err)
	}
}

type fullDisk struct{ err error }

func (f fullDisk) Write([]byte) (int, error) { return 0, f.err }

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
		if err := WriteScores(&b, scores); err != nil {
			t.Fatal(err)
		}
		got, err := readScores(bytes.NewReader(b.Bytes()), "f", len(scores), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, scores, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Fatalf("got %v, want %v", got, scores)
		}
	})
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if err := WriteScores(new(bytes.Buffer), []float64{0, v}); err == nil || !strings.HasSuffix(err.Error(), "of document 2, expected a finite number") {
			t.Errorf("writing %v: error is %v", v, err)
		}
	}
}

func TestReadScores(t *testing.T) {
	want := []float64{1, -2.5, 3e-7, 0}
	const text = "\ufeff1\r\n  -2.5 \t\n+3e-7\n0"
	for _, data := range [][]byte{[]byte(text), []byte(text + "\n"), []byte(text + "\n\n \n"), gzipOf(text), zstdOf(text)} {
		path := writeTemp(t, data)
		for _, n := range []int{4, -1} {
			if got, err := ReadScores(path, n, Options{}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %d wanted: %v, %v", data, n, got, err)
			}
		}
	}
	if got, err := ReadScores(writeTemp(t, nil), 0, Options{}); err != nil || len(got) != 0 {
		t.Errorf("no scores: %v, %v", got, err)
	}
}

func TestBadScores(t *testing.T) {
	for text, want := range map[string]string{
		"1\nx\n3":                        `:2: found "x", expected a score, one finite decimal number`,
		"1\n2 3\n3":                      `:2: found "2 3", expected a score, one finite decimal number`,
		"1\n2\t# two\n3":                 "PATH:2: found \"2\\t# two\", expected a score, one finite decimal number",
		"1\nnan\n3":                      `:2: found "nan", expected a score, one finite decimal number`,
		"1\n-inf\n3":                     `:2: found "-inf", expected a score, one finite decimal number`,
		"1\n1e400\n3":                    `:2: found "1e400", expected a score, one finite decimal number`,
		"1\n0x2\n3":                      `:2: found "0x2", expected a score, one finite decimal number`,
		"1\n\xff\n3":                     `:2: found "\xff", expected a score, one finite decimal number`,
		"1\r2\r3\r":                      `:1: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`,
		"1\n2\r\r\n3\n":                  `:2: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`,
		"0 qid:1 1:0.5\n":                `:1: found "0 qid:1 1:0.5", expected a score, one finite decimal number (this looks like judged queries)`,
		"1\n\n\n3":                       `:2: found a blank line, expected a score`,
		"\n1\n2\n3\n":                    `:1: found a blank line, expected a score`,
		"1\n2":                           `: found 2 scores, expected 3, one for each document`,
		"1\n2\n3\n4\n":                   `:4: found one more score, "4", expected 3 scores, one for each document`,
		"":                               `: found 0 scores, expected 3, one for each document`,
		"\x89LWDATA\n":                   `: found a binary data set, expected one score a line`,
		string(gzipOf("1\n2\n3\n")[:28]): `:4: found the file's end after 28 bytes in the midst of compressed data, expected the rest of the compressed data`,
	} {
		path := writeTemp(t, []byte(text))
		want = path + strings.TrimPrefix(want, "PATH")
		if _, err := ReadScores(path, 3, Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: error is\n\t%v\nwant\n\t%s", text, err, want)
		}
	}
	if _, err := ReadScores(filepath.Join(t.TempDir(), "none"), 3, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want os.ErrNotExist", err)
	}
}
