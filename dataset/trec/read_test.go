package trec

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/dataset/memory"
)

func readQrels(text string, opts dataset.Options) (*dataset.Dataset, error) {
	in, err := input.Hold(strings.NewReader(text), "f", opts, nil)
	if err != nil {
		return nil, err
	}
	return ReadQrels(in.R, in.Size, in.Name, in.Mem, opts)
}

func readRun(text string, opts dataset.Options) (*Run, error) {
	return ReadRun(strings.NewReader(text), "f", opts)
}

// told lists judgements or scored documents as "query doc value".
func told(d *dataset.Dataset) []string {
	var list []string
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			list = append(list, fmt.Sprint(q.ID, " ", q.DocID(j), " ", q.Grades[j]))
		}
	}
	return list
}

func toldRun(r *Run) []string {
	var list []string
	for _, q := range r.Queries() {
		r.Each(q, func(doc string, score float64) { list = append(list, fmt.Sprint(q, " ", doc, " ", score)) })
	}
	return list
}

// Claim: blanks, tabs, CR LF, blank lines, a byte order mark and a missing last line end
// make no difference, compressed or not; the lines of a query may stand anywhere.
func TestReadSpellings(t *testing.T) {
	for _, text := range []string{
		"1 0 a 2\n1 0 b 0\n2 0 a 1\n", "1 0 a 2\n2 0 a 1\n1 0 b 0\n", "\ufeff1\t0\ta\t2\r\n\r\n1  0 b  0 \r\n2 Q0 a 1.0",
		"\n\n 1 0 a 2\n1 0 b -0\n \t\n2 0 a 1e0\n\n",
	} {
		for _, bytes := range []string{text, string(datatest.Gzip(text)), string(datatest.Zstd(text))} {
			d, err := readQrels(bytes, dataset.Options{})
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if diff := cmp.Diff([]string{"1 a 2", "1 b 0", "2 a 1"}, told(d)); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
			if !d.AllJudged() || d.Features != 0 {
				t.Errorf("%q: %d features", text, d.Features)
			}
			if !IsQrels([]byte(bytes)) || IsRun([]byte(bytes)) {
				t.Errorf("%q is not recognised", text)
			}
		}
	}
	for _, text := range []string{
		"1 Q0 a 1 2.5 t\n1 Q0 b 2 -1e-3 t\n2 Q0 a 1 7 t\n", "1 Q0 a 1 2.5 t\n2 Q0 a 1 7 u\n1 Q0 b 2 -1e-3 t", "\ufeff1\t0\ta\t9\t2.5\tt\r\n\r\n1 0 b 9 -.001 t\r\n2 0 a 9 +7.0 t\r\n",
	} {
		for _, bytes := range []string{text, string(datatest.Gzip(text)), string(datatest.Zstd(text))} {
			r, err := readRun(bytes, dataset.Options{})
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if diff := cmp.Diff([]string{"1 a 2.5", "1 b -0.001", "2 a 7"}, toldRun(r)); diff != "" || r.Tag != "t" || r.Docs() != 3 {
				t.Errorf("%q: tag %q %s", text, r.Tag, diff)
			}
			if !IsRun([]byte(bytes)) || IsQrels([]byte(bytes)) {
				t.Errorf("%q is not recognised", text)
			}
		}
	}
}

// Claim: what is wrong is refused with its line, what was found and what was expected; a
// document that a query has twice with both lines, also where its lines lie apart.
func TestReadErrors(t *testing.T) {
	long := strings.Repeat("x", pairs.LongestLine)
	for text, want := range map[string]string{
		"1 0 a\n":                               "f:1: found 3 fields, expected 4: QUERY ITERATION DOCUMENT GRADE",
		"1 0 a 1\nx\n":                          `f:2: found 1 field, "x", expected 4: QUERY`,
		"\n\n1 0 a 1 2\n":                       "f:3: found 5 fields, expected 4",
		"1 0 a 1 2 3 4 5 6\n":                   "f:1: found 7 or more fields, expected 4",
		"1 0 a one\n":                           `f:1: found "one", expected a grade, a finite number`,
		"1 0 a nan\n":                           `f:1: found "nan", expected a grade`,
		"1 0 a 0x1\n":                           `f:1: found "0x1", expected a grade`,
		"1 0 a 1_0\n":                           `f:1: found "1_0", expected a grade`,
		"1 0 a 1e999\n":                         `f:1: found "1e999", expected a grade`,
		"1 0 a inf\n":                           `f:1: found "inf", expected a grade`,
		"1 0 a -1\n":                            `f:1: found the negative grade "-1", expected a grade of at least 0, or --negative-grades zero`,
		"1 0 a 1\n1 0 b 1\n1 0 a 1.5\n":         `f:3: found document "a" of query "1", which line 1 has too, there with the grade 1 and here with 1.5, expected one grade, or --conflicts mean or last`,
		"1 0 a 1\n2 0 a 1\n\n1 0 a 2\n":         `f:4: found document "a" of query "1", which line 1 has too`,
		"3 0 a 1\n3 0 a 2\n1 0 a 1\n1 0 a 2\n":  `f:2: found document "a" of query "3", which line 1 has too`,
		"1 0 \xff 1\n":                          `f:1: found "\xff", expected a document id in UTF-8`,
		"\x01 0 a 1\n":                          `f:1: found "\x01", expected a query id without control characters`,
		"1 0 a\x7f 1\n":                         `expected a document id without control characters`,
		"":                                      "f: found no judgements, expected lines of QUERY",
		"\n \n":                                 "f: found no judgements",
		"1 0 " + long + " 1\n":                  "f:1: found a line of more than 65536 bytes, expected a shorter one",
		"1 0 a " + strings.Repeat("y", 60):      `f:1: found "` + strings.Repeat("y", 40) + `"…, expected a grade`,
		string(datatest.Gzip("1 0 a 1\n")[:20]): "in the midst of compressed data",
	} {
		if _, err := readQrels(text, dataset.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"1 Q0 a 1\n":                   "f:1: found 4 fields, expected 6: QUERY Q0 DOCUMENT RANK SCORE TAG",
		"1 Q0 a 1 2 t\n1 Q0 b 2 1\n":   "f:2: found 5 fields, expected 6 as in the lines before: QUERY Q0 DOCUMENT RANK SCORE TAG",
		"1 a 1\n1 Q0 b 2 1 t\n":        "f:2: found 6 fields, expected 3 as in the lines before: QUERY DOCUMENT RANK",
		"1 a 1.5\n":                    `f:1: found "1.5", expected a rank, a whole number, in a line of QUERY DOCUMENT RANK`,
		"1 Q0 a 1 2.5 my tag\n":        "f:1: found 7 or more fields, expected 6",
		"1 Q0 a 2.5 1 t\n":             `f:1: found "2.5", expected a rank, a whole number`,
		"1 Q0 a - 1 t\n":               `f:1: found "-", expected a rank`,
		"1 Q0 a 1 x t\n":               `f:1: found "x", expected a score, a finite number`,
		"1 Q0 a 1 NaN t\n":             `f:1: found "NaN", expected a score`,
		"1 Q0 a 1 -inf t\n":            `f:1: found "-inf", expected a score`,
		"1 Q0 a 1 1e400 t\n":           `f:1: found "1e400", expected a score`,
		"1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n": `f:2: found document "a" of query "1", which line 1 has too`,
		"1 Q0 a 1 2 \xff\n":            "expected a tag in UTF-8",
		"":                             "f: found no documents, expected lines of QUERY Q0",
		"1 Q0 a 1 2 t\r1 Q0 b 2 1 t\r": "found 7 or more fields",
	} {
		if _, err := readRun(text, dataset.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

// Claim: negative grades become 0, or their documents count as not judged, as asked.
func TestNegativeGrades(t *testing.T) {
	text := "1 0 a -1\n1 0 b 2\n2 0 c -2\n"
	d, err := readQrels(text, dataset.Options{Negative: dataset.NegativeZero})
	if diff := cmp.Diff([]string{"1 a 0", "1 b 2", "2 c 0"}, told(d)); err != nil || diff != "" || !d.AllJudged() {
		t.Errorf("zero: %v %s", err, diff)
	}
	d, err = readQrels(text, dataset.Options{Negative: dataset.NegativeDrop})
	if diff := cmp.Diff([]string{"1 b 2"}, told(d)); err != nil || diff != "" {
		t.Errorf("drop: %v %s", err, diff)
	}
	if diff := cmp.Diff([]string{"f: left out 2 lines with a negative grade: their documents count as not judged"}, d.Warnings); diff != "" {
		t.Error(diff)
	}
}

// Claim: a limit of memory ends the reading, before a stream of lines has filled more.
func TestMemoryLimit(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "q%d 0 document-%d 1\n", i/10, i)
	}
	_, err := readQrels(b.String(), dataset.Options{MaxBytes: int64(b.Len()) + 1<<20})
	if err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a megabyte: %v", err)
	}
	if _, err := readQrels(b.String(), dataset.Options{MaxBytes: 64 << 20}); err != nil {
		t.Error(err)
	}
}

// Claim: LETOR text, tables and scores are taken for neither; files with a mistake in their
// first line are still recognised, so that the mistake is told.
func TestRecognise(t *testing.T) {
	for text, want := range map[string]string{
		"2 qid:1 1:0.5 2:1\n": "", "2 qid:1 # 5\n": "", "0 qid:7 1:1 2:2 3:3 4\n": "", "0.5\n0.25\n": "", "query,doc,grade\n": "", "query doc grade score\n": "", "# 1 2 3\n0 1 2 3\n": "", "": "", "\n\n": "",
		"301 0 FBIS3-10082 1\n": "qrels", "q Q0 d x\n": "", "q 0 d x\n": "qrels", "q 0 http://a:1 1\n": "qrels",
		"301 Q0 FBIS3 1 0.5 tag\n": "run", "301 Q0 FBIS3 1 0.5\n": "run", "301 Q0 FBIS3 1 x tag\n": "run", "301 Q0 FBIS3 1 0.5 my tag\n": "run",
	} {
		got := ""
		switch {
		case IsRun([]byte(text)):
			got = "run"
		case IsQrels([]byte(text)):
			got = "qrels"
		}
		if got != want {
			t.Errorf("%q is taken for %q, want %q", text, got, want)
		}
	}
}

// naive reads a file of fields the slow and obvious way: query → document → value.
func naive(text string, fields, value int) (map[string]map[string]float64, bool) {
	all, n := map[string]map[string]float64{}, 0
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		f := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r", r) })
		if cells := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' }); strings.Contains(line, "\t") {
			for i := range cells {
				cells[i] = strings.Trim(cells[i], " \r")
			}
			if cells = slices.DeleteFunc(cells, func(c string) bool { return c == "" }); len(cells) == fields {
				f = cells
			}
		}
		if len(f) == 0 {
			continue
		}
		if len(f) != fields || strings.ContainsAny(f[value], "xXpPiInN_") {
			return nil, false
		}
		v, err := strconv.ParseFloat(f[value], 64)
		if err != nil || math.IsInf(v, 0) {
			return nil, false
		}
		if _, err := strconv.ParseUint(strings.TrimLeft(f[3], "+-"), 10, 64); fields == 6 && err != nil && len(f[3]) < 15 {
			return nil, false
		}
		if all[f[0]] == nil {
			all[f[0]] = map[string]float64{}
		}
		before, twice := all[f[0]][f[2]]
		if repeated := fields == 4 && math.Max(before, 0) == math.Max(v, 0); twice && !repeated {
			return nil, false
		}
		all[f[0]][f[2]] = v
		n++
	}
	return all, n > 0
}

// FuzzQrels: any bytes are refused, or read as the naive reader reads them.
func FuzzQrels(f *testing.F) {
	for _, text := range []string{"1 0 a 1\n2 0 b 0\n", "1 0 a -1\n1 0 a -2\n", "1\t0\ta\t1e2\r\n\r\n1 0 b 3", "\ufeffq 0 d .5", "1 0 a 1\n1 0 a 1", "a b\t0\tc\t1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := readQrels(string(text), dataset.Options{Negative: dataset.NegativeZero})
		if err != nil {
			return
		}
		want, ok := naive(string(text), 4, 3)
		if !ok {
			t.Fatalf("read, though the naive reader refuses it")
		}
		n := 0
		for i := range d.Queries {
			q := &d.Queries[i]
			for j := range q.Len() {
				n++
				if v, ok := want[q.ID][q.DocID(j)]; !ok || math.Max(v, 0) != q.Grades[j] || math.Signbit(q.Grades[j]) {
					t.Fatalf("%s %s has grade %v, want %v", q.ID, q.DocID(j), q.Grades[j], v)
				}
			}
		}
		for _, docs := range want {
			n -= len(docs)
		}
		if n != 0 {
			t.Fatalf("%d documents too many", n)
		}
	})
}

// FuzzRun: any bytes are refused, or read as the naive reader reads them, and what is read
// survives being written.
func FuzzRun(f *testing.F) {
	for _, text := range []string{"1 Q0 a 1 0.5 t\n2 Q0 b 1 -3e-7 t\n", "1\t0\ta\t1\t1e2\tt\r\n\r\n1 0 b 3 0 t", "1 Q0 a 1 1 t\n1 Q0 a 2 1 t"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := readRun(string(text), dataset.Options{})
		if err != nil {
			return
		}
		want, ok := naive(string(text), 6, 4)
		if !ok {
			t.Fatalf("read, though the naive reader refuses it")
		}
		n := 0
		var buf []byte
		for _, q := range r.Queries() {
			r.Each(q, func(doc string, score float64) {
				n++
				if v, ok := want[q][doc]; !ok || v != score {
					t.Fatalf("%s %s has score %v, want %v", q, doc, score, v)
				}
				buf = AppendLine(buf, q, doc, n, score, r.Tag, ' ')
			})
		}
		for _, docs := range want {
			n -= len(docs)
		}
		if n != 0 {
			t.Fatalf("%d documents too many", n)
		}
		again, err := readRun(string(buf), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(toldRun(r), toldRun(again)); diff != "" || r.Tag != again.Tag {
			t.Fatal(diff)
		}
	})
}

// Claim: a run is read from a file, with the file's name in errors.
func TestOpenRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.run")
	if err := os.WriteFile(path, []byte("1 Q0 a 1 1 t\n1 Q0 b 2 x t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRun(path, dataset.Options{}); err == nil || err.Error() != path+`:2: found "x", expected a score, a finite number` {
		t.Error(err)
	}
}

func BenchmarkRun(b *testing.B) {
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&text, "%d Q0 doc-%07d %d %.6f bm25\n", i/1000, i*7919%200_000, i%1000+1, 30-float64(i%1000)*0.013)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := readRun(text.String(), dataset.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Claim: a small file that unpacks to very many lines is refused with little memory, whether
// its lines are of one document, of one query or of many, together or scattered.
func TestBombs(t *testing.T) {
	const limit, lines = 4 << 20, 300_000
	line := map[string]func(i int) string{
		"one document": func(int) string { return "1 Q0 a 1 2 t\n" },
		"one query":    func(i int) string { return fmt.Sprintf("1 Q0 %d 1 2 t\n", i) },
		"queries":      func(i int) string { return fmt.Sprintf("%d Q0 a 1 2 t\n", i) },
		"scattered":    func(i int) string { return fmt.Sprintf("%d Q0 %d 1 2 t\n", i%100, i) },
	}
	for name, of := range line {
		var text strings.Builder
		for i := range lines {
			text.WriteString(of(i))
		}
		packed := string(datatest.Gzip(text.String()))
		var err error
		n := datatest.Allocated(func() { _, err = readRun(packed, dataset.Options{MaxBytes: int64(len(packed)) + limit}) })
		if !errors.Is(err, dataset.ErrTooLarge) || n > 8*limit {
			t.Errorf("%s: %v, %s allocated", name, err, memory.Bytes(float64(n)))
		}
	}
}

// Claim: a run that fits the limit fits it while its lines are put together, too: what is
// counted as taken covers what is allocated at once.
func TestScatteredRunIsCounted(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "%d Q0 document-%d 1 2 t\n", i%100, i)
	}
	read := func(limit int64) error {
		_, err := readRun(text.String(), dataset.Options{MaxBytes: limit})
		return err
	}
	// Held: the text twice at most; of each document 20 bytes and its id, and as much again
	// to put them together.
	held := 2*int64(text.Len()) + 100_000*(20+15)
	if err := read(held); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("in %s: %v", memory.Bytes(float64(held)), err)
	}
	if err := read(4 * held); err != nil {
		t.Error(err)
	}
}

// Claim: what the first line is decides, and data of other formats are taken for neither.
func TestRecognised(t *testing.T) {
	for text, want := range map[string]string{
		"1 0 a 1\n":                              "qrels",
		"query-id\tcorpus-id\tscore\n1\ta\t1\n":  "qrels",
		"query_id doc_id relevance\n1 a 1\n":     "qrels",
		"qid\tdocno\tlabel\n":                    "qrels",
		"what is it\t0\ta b\t1\n":                "qrels",
		"query\tdoc\tgrade\tf1\n1\ta\t1\t2\n":    "",
		"query\tdoc\tf1\n":                       "",
		"1\ta\t1\n":                              "run",
		"1 a 1\n":                                "run",
		"1\ta\t1.5\n":                            "",
		"1 Q0 a 1 2\n":                           "run",
		"what is it\ta b\t1\n":                   "run",
		"what is it\tQ0\ta b\t1\t2\ttag\n":       "run",
		"1 qid:2 3\n":                            "",
		"1 qid:2\t1:1\t2\n":                      "",
		"# 1 2\n":                                "",
		"1 0 a 2 note\n":                         "five",
		"1 Q0 a 2 note\n":                        "run",
		"1.5\n":                                  "",
		"query\tdoc\tgrade\n" + "1\ta\t1":        "qrels",
		"\n\nquery-id corpus-id score\n1 a 1":    "qrels",
		"score query-id corpus-id\n1 a 1":        "",
		string(datatest.Gzip("a b\tc\t1\n")):     "run",
		string(datatest.Zstd("qid pid score\n")): "qrels",
	} {
		head, got := []byte(text), ""
		switch {
		case IsFiveFields(head):
			got = "five"
		case IsRun(head):
			got = "run"
		case IsQrels(head):
			got = "qrels"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
