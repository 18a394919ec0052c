package letor

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Every mistake is reported with its line, what stands there and what should.
func TestBadInput(t *testing.T) {
	const good = "2 qid:1 1:0.5 2:1 #docid = a\n"
	long := strings.Repeat("9", 60)
	tests := []struct {
		name, text string
		opts       dataset.Options
		want       string
	}{
		{name: "empty file", text: "", want: `f: found no documents, expected lines of the form GRADE qid:ID INDEX:VALUE …`},
		{name: "comments only", text: "# nothing\n\n", want: `f: found no documents, expected lines of the form GRADE qid:ID INDEX:VALUE …`},
		{name: "byte order mark only", text: "\ufeff", want: `f: found no documents, expected lines of the form GRADE qid:ID INDEX:VALUE …`},
		{name: "no features", text: "1 qid:1\n0 qid:1 # x\n", want: `f: found no features in 2 documents, expected INDEX:VALUE after qid:ID`},

		{name: "lines that end in CR", text: "1 qid:1 1:1\r0 qid:1 1:2\r", want: `f:1: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`},
		{name: "comments that end in CR", text: good + "# a file\r1 qid:1 1:1\r0 qid:1 1:2\r\n", want: `f:2: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`},
		{name: "CR in a comment", text: good + "1 qid:1 1:1 # x\r0 qid:1 1:2\n", want: `f:2: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`},
		{name: "CR between features", text: good + "\n1 qid:1 1:1\r2:2\n", want: `f:3: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`},
		{name: "CR CR LF", text: good + good + "1 qid:1 1:1\r\r\n", want: `f:3: found a carriage return in the midst of a line, expected lines that end in a line feed, or in a carriage return and a line feed`},
		{name: "mistake before CR", text: good + "x\r\n1 qid:1 1:1\r\r\n", want: `f:2: found "x", expected a grade, a finite non-negative number`},
		{name: "NUL in a query id", text: good + "1 qid:a\x00b 1:1\n", want: `f:2: found "qid:a\x00b", expected a query id without control characters`},
		{name: "escape in a query id", text: good + "1 qid:\x1b[0m 1:1\n", want: `f:2: found "qid:\x1b[0m", expected a query id without control characters`},
		{name: "next line in a query id", text: good + "1 qid:a\u0085 1:1\n", want: `f:2: found "qid:a\u0085", expected a query id without control characters`},
		{name: "NUL in a document id", text: good + "1 qid:1 1:1 #docid = a\x00\n", want: `f:2: found "a\x00", expected a document id without control characters`},
		{name: "delete in a document id", text: good + "1 qid:1 1:1 #docid = é\x7f\n", want: `f:2: found "é\x7f", expected a document id without control characters`},
		{name: "# in a query id", text: good + "1 qid:a#b 1:1\n", want: `f:2: found "qid:a#", expected a query id without #, and a blank before a comment`},
		{name: "# in a known query id", text: good + "1 qid:1#b 1:1\n", want: `f:2: found "qid:1#", expected a query id without #, and a blank before a comment`},
		{name: "two query ids", text: good + "1 qid:1 qid:2 1:1\n", want: `f:2: found "qid:2", expected INDEX:VALUE`},
		{name: "hexadecimal grade", text: good + "0x1 qid:1 1:1\n", want: `f:2: found "0x1", expected a grade, a finite non-negative number`},
		{name: "text after the features", text: good + "1 qid:1 1:1 docid = 7\n", want: `f:2: found "docid", expected INDEX:VALUE`},
		{name: "two byte order marks", text: "\ufeff\ufeff" + good, want: `f:1: found "\ufeff2", expected a grade, a finite non-negative number`},
		{name: "UTF-16", text: "\xff\xfe1\x00 \x00q\x00\n\x00", want: `f:1: found "\xff\xfe1\x00", expected a grade, a finite non-negative number (this looks like UTF-16, which must be made UTF-8)`},
		{name: "a model", text: "{\"format\": 1}", want: `f:1: found "{\"format\":", expected a grade, a finite non-negative number (this looks like JSON, such as a model)`},
		{name: "a page", text: "<html>\n", want: `f:1: found "<html>", expected a grade, a finite non-negative number (this looks like HTML or XML)`},
		{name: "a table", text: "grade,qid,bm25\n1,1,0.5\n", want: `f:1: found "grade,qid,bm25", expected a grade, a finite non-negative number (this looks like a table)`},

		{name: "missing qid", text: good + "2 1:0.5\n", want: `f:2: found "1:0.5", expected qid:ID (or a file of the same name with .query behind it, of the number of documents of each query)`},
		{name: "grade alone", text: good + "2\n", want: `f:2: found the end of the line, expected qid:ID`},
		{name: "grade and comment", text: good + "2 # qid:1\n", want: `f:2: found the end of the line, expected qid:ID`},
		{name: "empty query id", text: good + "2 qid: 1:0.5\n", want: `f:2: found "qid:", expected qid:ID`},
		{name: "query id in Latin-1", text: good + "2 qid:k\xe4se 1:0.5\n", want: `f:2: found "qid:k\xe4se", expected a query id in UTF-8`},
		{name: "document id in Latin-1", text: good + "2 qid:1 1:0.5 #docid = k\xe4se\n", want: `f:2: found "k\xe4se", expected a document id in UTF-8`},

		{name: "no grade", text: good + "qid:1 1:0.5\n", want: `f:2: found "qid:1", expected a grade, a finite non-negative number`},
		{name: "negative grade", text: good + "-1 qid:1 1:0.5\n", want: `f:2: found "-1", expected a grade, a finite non-negative number (or --negative-grades zero or drop)`},
		{name: "grade out of range", text: good + "1e400 qid:1 1:0.5\n", want: `f:2: found "1e400", expected a grade, a finite non-negative number`},
		{name: "grade nan", text: good + "nan qid:1 1:0.5\n", opts: dataset.Options{Missing: dataset.MissingZero}, want: `f:2: found "nan", expected a grade, a finite non-negative number`},
		{name: "grade with garbage", text: good + "1x qid:1 1:0.5\n", want: `f:2: found "1x", expected a grade, a finite non-negative number`},
		{name: "binary", text: good + "\x00\xff\xfe\n", want: `f:2: found "\x00\xff\xfe", expected a grade, a finite non-negative number`},
		{name: "byte order mark later", text: good + "\ufeff1 qid:1 1:0.5\n", want: `f:2: found "\ufeff1", expected a grade, a finite non-negative number`},

		{name: "feature index backwards", text: good + "1 qid:1 1:0 3:1 2:1\n", want: `f:2: found "2:1", expected a feature index above 3 (indices ascend; or --unsorted for any order)`},
		{name: "feature index twice", text: good + "1 qid:1 1:0 1:1\n", want: `f:2: found "1:1", expected a feature index above 1 (every index stands once)`},
		{name: "feature index zero", text: good + "1 qid:1 0:1 1:1\n", want: `f:2: found "0:1", expected a feature index of at least 1 (or --first-feature 0 for data that count features from 0, as scikit-learn and LightGBM do)`},
		{name: "feature index huge", text: good + "1 qid:1 1:1 100001:1\n", want: `f:2: found "100001:1", expected a feature index of at most 100000 (this feature index is huge; or --max-feature)`},
		{name: "feature index of 60 digits", text: good + "1 qid:1 1:1 " + long + ":1\n", want: `f:2: found "` + long[:40] + `"…, expected a feature index of at most 100000 (this feature index is huge; or --max-feature)`},
		{name: "huge then backwards", text: good + "1 qid:1 100001:1 2:1\n", want: `f:2: found "100001:1", expected a feature index of at most 100000 (this feature index is huge; or --max-feature)`},
		{name: "backwards from above the rest", text: good + "1 qid:1 7:1 2:1\n", want: `f:2: found "2:1", expected a feature index above 7 (indices ascend; or --unsorted for any order)`},
		{name: "above the chosen limit", text: good, opts: dataset.Options{MaxFeature: 1}, want: `f:1: found "2:1", expected a feature index of at most 1 (this feature index is huge; or --max-feature)`},
		{name: "not a model's feature", text: "2 qid:1 1:0.5\n" + good, opts: dataset.Options{Features: 1}, want: `f:2: found "2:1", expected one of the 1 features`},
		{name: "negative feature index", text: good + "1 qid:1 -1:1\n", want: `f:2: found "-1:1", expected INDEX:VALUE`},
		{name: "no colon", text: good + "1 qid:1 1:1 2\n", want: `f:2: found "2", expected INDEX:VALUE`},
		{name: "svmlight's cost", text: good + "1 qid:1 cost:2 1:1\n", want: `f:2: found "cost:2", expected INDEX:VALUE`},
		{name: "blank after the colon", text: good + "1 qid:1 1: 0.5\n", want: `f:2: found "1:", expected INDEX:VALUE with a decimal number`},
		{name: "value missing", text: good + "1 qid:1 1:0.5 2:", want: `f:2: found "2:", expected INDEX:VALUE with a decimal number`},
		{name: "value missing before comment", text: good + "1 qid:1 1:0.5 2:# x\n", want: `f:2: found "2:", expected INDEX:VALUE with a decimal number`},
		{name: "garbage after value", text: good + "1 qid:1 1:0.123456x 2:1\n", want: `f:2: found "1:0.123456x", expected INDEX:VALUE with a decimal number`},
		{name: "garbage after zero", text: good + "1 qid:1 1:0x 2:1\n", want: `f:2: found "1:0x", expected INDEX:VALUE with a decimal number`},
		{name: "two points", text: good + "1 qid:1 1:0.1.2\n", want: `f:2: found "1:0.1.2", expected INDEX:VALUE with a decimal number`},
		{name: "point alone", text: good + "1 qid:1 1:.\n", want: `f:2: found "1:.", expected INDEX:VALUE with a decimal number`},
		{name: "exponent without digits", text: good + "1 qid:1 1:1e+\n", want: `f:2: found "1:1e+", expected INDEX:VALUE with a decimal number`},
		{name: "hexadecimal", text: good + "1 qid:1 1:0x1p3\n", want: `f:2: found "1:0x1p3", expected INDEX:VALUE with a decimal number`},
		{name: "underscore", text: good + "1 qid:1 1:1_000\n", want: `f:2: found "1:1_000", expected INDEX:VALUE with a decimal number`},
		{name: "decimal comma", text: good + "1 qid:1 1:0,5\n", want: `f:2: found "1:0,5", expected INDEX:VALUE with a decimal number`},
		{name: "bytes that are no UTF-8", text: good + "1 qid:1 1:\xff\xfe\n", want: `f:2: found "1:\xff\xfe", expected INDEX:VALUE with a decimal number`},
		{name: "value out of range", text: good + "1 qid:1 1:1e39\n", want: `f:2: found "1:1e39", expected a value within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)`},
		{name: "value far out of range", text: good + "1 qid:1 1:-1e400\n", want: `f:2: found "1:-1e400", expected a value within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)`},
		{name: "nan", text: good + "1 qid:1 1:nan\n", want: `f:2: found "1:nan", expected a finite value (or an option that says what missing ones become)`},
		{name: "NULL", text: good + "1 qid:1 1:0 2:NULL\n", want: `f:2: found "2:NULL", expected a finite value (or an option that says what missing ones become)`},
		{name: "inf", text: good + "1 qid:1 1:inf\n", opts: dataset.Options{Missing: dataset.MissingZero}, want: `f:2: found "1:inf", expected a finite value (or --missing-value for one that stands for a missing value)`},
		{name: "-Infinity", text: good + "1 qid:1 1:-Infinity\n", opts: dataset.Options{Missing: dataset.MissingMin}, want: `f:2: found "1:-Infinity", expected a finite value (or --missing-value for one that stands for a missing value)`},
		{name: "line counts blank lines and comments", text: "\n# c\n" + good + "\r\n  \n#\nx", want: `f:7: found "x", expected a grade, a finite non-negative number`},
		{name: "long token in UTF-8", text: good + strings.Repeat("€", 30), want: `f:2: found "` + strings.Repeat("€", 13) + `"…, expected a grade, a finite non-negative number`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := readFrom(strings.NewReader(test.text), "f", test.opts)
			if err == nil || err.Error() != test.want {
				t.Fatalf("error is\n\t%v\nwant\n\t%s", err, test.want)
			}
			var syntax *dataset.SyntaxError
			if !errors.As(err, &syntax) || syntax.File != "f" {
				t.Errorf("error is a %T, want a *SyntaxError of file f", err)
			}
		})
	}
}

// A query id like a feature is one, also where a line has no features.
func TestQueryIDLikeFeature(t *testing.T) {
	d, err := readFrom(strings.NewReader("1 qid:9999999:5\n2 qid:7:5 # 8:1\n0 qid:7:5 1:3\n"), "f", dataset.Options{})
	if err != nil || d.Features != 1 || len(d.Queries) != 2 || d.Queries[0].ID != "9999999:5" || d.X()[2] != 3 {
		t.Errorf("%v, %+v", err, d)
	}
}

// A compressed file that is cut anywhere is an error with the line that could not
// be read, never a shorter data set.
func TestTruncatedCompressedFiles(t *testing.T) {
	text := string(datatest.OHSUMEDLike(nil, datatest.Rand(), 3, 20))
	for _, test := range []struct {
		name string
		data []byte
	}{{"f.gz", datatest.Gzip(text)}, {"f.zst", datatest.Zstd(text)}} {
		for _, n := range []int{1, 2, 5, 15, len(test.data) / 2, len(test.data) - 5, len(test.data) - 1} {
			_, err := readCut(bytes.NewReader(test.data[:n]), test.name, dataset.Options{Workers: 2}, 5000, 0)
			var syntax *dataset.SyntaxError
			if !errors.As(err, &syntax) || !errors.Is(err, io.ErrUnexpectedEOF) || syntax.Line < 1 {
				t.Errorf("%s of %d bytes: error is %v, want a *SyntaxError with a line and io.ErrUnexpectedEOF", test.name, n, err)
			}
		}
	}
	_, err := readFrom(bytes.NewReader(datatest.Gzip(text)[:5]), "f.gz", dataset.Options{})
	want := "f.gz:1: found the file's end after 5 bytes in the midst of compressed data, expected the rest of the compressed data"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestDamagedCompressedFiles(t *testing.T) {
	text := string(datatest.OHSUMEDLike(nil, datatest.Rand(), 3, 20))
	data := datatest.Gzip(text)
	data[len(data)-8] ^= 1 // the checksum
	_, err := readFrom(bytes.NewReader(data), "f.gz", dataset.Options{})
	if err == nil || !strings.Contains(err.Error(), "f.gz:61: found damaged compressed data (gzip: invalid checksum)") {
		t.Errorf("error is %v, want one of the checksum behind line 60", err)
	}
	// A mistake before the damage comes first.
	bad := datatest.Gzip("x\n" + text)
	_, err = readCut(bytes.NewReader(bad[:len(bad)-1]), "f.gz", dataset.Options{}, 1000, 0)
	if err == nil || !strings.HasPrefix(err.Error(), `f.gz:1: found "x"`) {
		t.Errorf("error is %v, want that of line 1", err)
	}
}

func TestTextMayBeCalledAnything(t *testing.T) {
	d, err := readFrom(strings.NewReader("1 qid:1 1:2"), "f.gz", dataset.Options{})
	if err != nil || d.Docs() != 1 {
		t.Errorf("text under the name of a compressed file: %v", err)
	}
	d, err = readFrom(bytes.NewReader(datatest.Gzip("1 qid:1 1:2")), "f.txt", dataset.Options{})
	if err != nil || d.Docs() != 1 {
		t.Errorf("compressed text under the name of a plain file: %v", err)
	}
}

// A line of 10 MB is read like any other, from every kind of source.
func TestLongLine(t *testing.T) {
	comment := strings.Repeat("a long line ", 900_000)
	text := "1 qid:1 1:0.5\n0 qid:1 2:0.25 # " + comment + "\n2 qid:2 3:0.125 #docid = z"
	docs, features := datatest.ReadNaively(t, text, dataset.MissingError)
	for _, data := range [][]byte{[]byte(text), datatest.Gzip(text), datatest.Zstd(text)} {
		d, err := readFrom(bytes.NewReader(data), "f", dataset.Options{Workers: 3})
		if err != nil {
			t.Fatal(err)
		}
		datatest.CheckAgainst(t, d, docs, features)
	}
	_, err := readFrom(strings.NewReader(text+"\nx"), "f", dataset.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), `f:4: found "x"`) {
		t.Errorf("error is %v, want that of line 4", err)
	}
}

func TestOpenMissingAndDirectory(t *testing.T) {
	dir := t.TempDir()
	if _, err := openFile(filepath.Join(dir, "none"), dataset.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want os.ErrNotExist", err)
	}
	want := dir + ": found a directory, expected a file"
	if _, err := openFile(dir, dataset.Options{}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestColumnsOptions(t *testing.T) {
	const text = "1 qid:1 1:2 3:4\n"
	for _, test := range []struct {
		opts dataset.Options
		want int
	}{{dataset.Options{}, 3}, {dataset.Options{MinFeatures: 2}, 3}, {dataset.Options{MinFeatures: 5}, 5}, {dataset.Options{Features: 4}, 4}, {dataset.Options{Features: 3, MaxFeature: 1}, 3}} {
		d, err := readFrom(strings.NewReader(text), "f", test.opts)
		if err != nil || d.Features != test.want || d.X()[2] != 4 || len(d.X()) != test.want {
			t.Errorf("%+v: %v, %+v; want %d features", test.opts, err, d, test.want)
		}
	}
}

func TestMissingValues(t *testing.T) {
	const text = "1 qid:1 1:nan 2:3 3:NULL\n0 qid:1 1:-2 2:NaN 3:null\n0 qid:2 1:-9 2:-9 3:-9\n0 qid:1 1:4 3:-nan\n"
	for _, test := range []struct {
		policy  dataset.Missing
		want    []float32
		warning string
	}{
		{dataset.MissingZero, []float32{0, 3, 0, -2, 0, 0, 4, 0, 0, -9, -9, -9}, "f: 5 missing values (nan or NULL) were replaced by 0"},
		{dataset.MissingMin, []float32{-2, 3, 0, -2, 0, 0, 4, 0, 0, -9, -9, -9}, "f: 5 missing values (nan or NULL) were replaced by the feature's smallest value within the query"},
	} {
		d, err := readFrom(strings.NewReader(text), "f", dataset.Options{Missing: test.policy})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range d.X() {
			if v != test.want[i] {
				t.Errorf("%v: value %d is %v, want %v", test.policy, i, v, test.want[i])
			}
		}
		if len(d.Warnings) != 2 || d.Warnings[1] != test.warning {
			t.Errorf("%v: warnings %q", test.policy, d.Warnings)
		}
	}
}

func TestSplitQueriesWarning(t *testing.T) {
	for text, want := range map[string]string{
		"0 qid:b 1:1\n0 qid:a 1:2\n0 qid:b 1:3\n":                           `f: the documents of query "b" were scattered and have been put together`,
		"0 qid:b 1:1\n0 qid:a 1:2\n0 qid:b 1:3\n0 qid:a 1:3\n0 qid:b 1:3\n": `f: the documents of 2 queries (the first is "b") were scattered and have been put together`,
	} {
		d, err := readFrom(strings.NewReader(text), "f", dataset.Options{})
		if err != nil || len(d.Warnings) != 1 || d.Warnings[0] != want {
			t.Errorf("%v, warnings %q; want %q", err, d.Warnings, want)
		}
	}
}

// failing is a file whose disk fails, or that was cut while it was read.
type failing struct {
	io.ReaderAt
	from int64
	err  error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if n := f.from - off; n < int64(len(p)) {
		k, _ := f.ReaderAt.ReadAt(p[:max(0, n)], off)
		return k, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestDiskErrors(t *testing.T) {
	text := datatest.OHSUMEDLike(nil, datatest.Rand(), 3, 20)
	sorry := errors.New("sorry")
	for _, chunk := range []int64{100, 5000, math.MaxInt32} {
		_, err := readAt(failing{bytes.NewReader(text), 20000, sorry}, len(text), "f", dataset.Options{Workers: 2}, chunk)
		if !errors.Is(err, sorry) {
			t.Errorf("error is %v, want the disk's", err)
		}
		_, err = readAt(failing{bytes.NewReader(text), 20000, io.EOF}, len(text), "f", dataset.Options{Workers: 2}, chunk)
		if !errors.Is(err, dataset.ErrChanged) {
			t.Errorf("error is %v, want %v", err, dataset.ErrChanged)
		}
	}
	data := datatest.Gzip(string(text))
	_, err := readAt(failing{bytes.NewReader(data), 2000, sorry}, len(data), "f.gz", dataset.Options{Workers: 2}, 100)
	if !errors.Is(err, sorry) {
		t.Errorf("error is %v, want the disk's", err)
	}
	if _, err := readFrom(io.MultiReader(bytes.NewReader(text), failingReader{io.ErrUnexpectedEOF}), "f", dataset.Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error is %v, want the stream's", err)
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// changing is a file that holds another text each time it is read.
type changing struct {
	texts []string
	reads int
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	r := strings.NewReader(c.texts[min(c.reads, len(c.texts)-1)])
	c.reads++
	return r.ReadAt(p, off)
}

// A file that changes between the two passes is an error, not a data set with
// holes and not a write beyond its rows.
func TestFileThatChanges(t *testing.T) {
	const text = "1 qid:1 1:2 2:3\n1 qid:1 1:2\n"
	for _, other := range []string{
		"1 qid:1 1:2 9:3\n1 qid:1 1:2\n",
		"1 qid:1 1:2 2:3 # qid:1 1:2\n",
		"1 qid:1 1:2\n1 qid:1 \n1 qid:1\n",
		"1 qid:1 1:2\n1 qid:1 \n\n\n\n\n\n",
	} {
		c := &changing{texts: []string{text, text, other}} // sniffed, counted, parsed
		_, err := readAt(c, len(text), "f", dataset.Options{Workers: 1}, 0)
		if !errors.Is(err, dataset.ErrChanged) {
			t.Errorf("changed to %q: error is %v, want %v", other, err, dataset.ErrChanged)
		}
	}
}
