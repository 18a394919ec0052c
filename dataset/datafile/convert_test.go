package datafile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/internal/parquet"
	"github.com/listwise/listwise/dataset/stream"
)

// Claim: converting files some documents at a time writes the bytes that reading them into
// memory, putting them together and writing them does, with the same warnings: text plain
// and compressed, caches and pipes, one file or several, into caches and text, whatever the
// policy for what is missing, and however small the pieces.
func TestConvertIsReadingAndWriting(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]dataset.Missing{dataset.MissingError, dataset.MissingZero, dataset.MissingMin, dataset.MissingKeep}).Draw(t, "policy")
		c := Conversion{
			Options: dataset.Options{Missing: policy, Workers: rapid.IntRange(1, 3).Draw(t, "workers"), Table: dataset.TableOptions{OneHotAuto: true}},
			chunk:   rapid.SampledFrom([]int64{0, 64, 301}).Draw(t, "chunk"),
			Text:    letor.WriteOptions{Sparse: rapid.Bool().Draw(t, "sparse")},
		}
		var stdin []byte
		for k := range rapid.IntRange(1, 3).Draw(t, "files") {
			text := datatest.DrawText(t, policy != dataset.MissingError)
			text = strings.ReplaceAll(text, "qid:", fmt.Sprintf("qid:%d-", k))
			path, data := drawForm(t, filepath.Join(dir, fmt.Sprint("in", k)), text)
			if stdin == nil && rapid.IntRange(0, 4).Draw(t, "pipe") == 0 {
				path, stdin = "-", data
			} else if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			c.Inputs = append(c.Inputs, path)
		}
		c.Out = filepath.Join(dir, rapid.SampledFrom([]string{"out.lwd", "out.lwd", "out.txt", "out.txt.gz", "out.zst", "out.parquet"}).Draw(t, "out"))
		c.Stdin = bytes.NewReader(stdin)

		want := filepath.Join(dir, "want"+filepath.Ext(c.Out))
		d, refused := readTogether(c, stdin)
		if refused == nil {
			refused = Write(want, d, c.Text) // weights have no place in text
		}
		done, err := Convert(c)
		if refused != nil && err != nil && (strings.HasSuffix(err.Error(), refused.Error()) || strings.HasSuffix(byNumber(err.Error(), c.Inputs), refused.Error())) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		sameFile(t, c.Out, want)
		if done.Queries != len(d.Queries) || done.Documents != d.Docs() || done.Features != d.Features {
			t.Fatalf("%+v, want %d queries, %d documents, %d features", done, len(d.Queries), d.Docs(), d.Features)
		}
		if !slices.Equal(done.Warnings, d.Warnings) {
			t.Fatalf("warnings %q, want %q", done.Warnings, d.Warnings)
		}
		if entries, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
			t.Fatalf("left behind: %v %v", entries, err)
		}
	})
}

// drawForm returns a text in one of the forms that files have, and a name for it.
func drawForm(t *rapid.T, path, text string) (name string, data []byte) {
	switch rapid.SampledFrom([]string{"txt", "gz", "zst", "lwd", "csv", "parquet"}).Draw(t, "form") {
	case "csv":
		return path + ".csv", drawTable(t, text)
	case "parquet":
		d, err := Read(strings.NewReader(text), "f", dataset.Options{Missing: dataset.MissingKeep})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w, err := parquet.NewWriter(&b, stream.ContentsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Write(w, d, nil); err != nil {
			t.Fatal(err)
		}
		return path + ".parquet", b.Bytes()
	case "gz":
		return path + ".gz", datatest.Gzip(text)
	case "zst":
		return path + ".zst", datatest.Zstd(text)
	case "lwd":
		d, err := Read(strings.NewReader(text), "f", dataset.Options{Missing: dataset.MissingKeep})
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "weighted") {
			draw := rapid.SampledFrom([]float64{1, 1, 2, 0.5})
			documents := rapid.SliceOfN(draw, d.Docs(), d.Docs()).Draw(t, "weights")
			queries := rapid.SliceOfN(draw, len(d.Queries), len(d.Queries)).Draw(t, "queries' weights")
			if err := d.Weigh(queries, documents); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := cache.Encode(&b, d); err != nil {
			t.Fatal(err)
		}
		return path + ".lwd", b.Bytes()
	}
	return path + ".txt", []byte(text)
}

// drawTable returns a text as a table, with line feeds in some of its cells.
func drawTable(t *rapid.T, text string) []byte {
	d, err := Read(strings.NewReader(text), "f", dataset.Options{Missing: dataset.MissingKeep})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("query,grade,doc,note")
	for j := range d.Features {
		fmt.Fprintf(&b, ",x%d", j+1)
	}
	weighted := rapid.Bool().Draw(t, "weighted")
	if weighted {
		b.WriteString(",query_weight,document_weight")
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			note := rapid.SampledFrom([]string{"red", "green", "\"blue\n,\"\"\""}).Draw(t, "note")
			fmt.Fprintf(&b, "\n\"%s\",%v,%s,%s", q.ID, q.Grades[j], q.DocID(j), note)
			for _, v := range q.Row(j) {
				fmt.Fprintf(&b, ",%v", v)
			}
			if weighted {
				fmt.Fprintf(&b, ",%v,%v", i%3, rapid.IntRange(0, 2).Draw(t, "weight"))
			}
		}
	}
	return b.Bytes()
}

// byNumber calls files by numbers, as data sets that have no names.
func byNumber(text string, files []string) string {
	for i, name := range files {
		if name == "-" {
			name = "standard input"
		}
		text = strings.ReplaceAll(text, name, fmt.Sprint("data set ", i+1))
	}
	return text
}

// readTogether reads the inputs of a conversion into memory, as one data set.
func readTogether(c Conversion, stdin []byte) (*dataset.Dataset, error) {
	opts := c.Options
	var sets []*dataset.Dataset
	var warnings []string
	for _, last := range []bool{false, true} {
		sets, warnings = nil, nil
		for _, path := range c.Inputs {
			var d *dataset.Dataset
			var err error
			if path == "-" {
				d, err = Read(bytes.NewReader(stdin), "standard input", opts)
			} else {
				d, err = Open(path, opts)
			}
			if err != nil {
				return nil, err
			}
			opts.MinFeatures = max(opts.MinFeatures, d.Features)
			sets, warnings = append(sets, d), append(warnings, d.Warnings...)
		}
		if last || len(sets) == 1 {
			break
		}
	}
	if len(sets) == 1 {
		return sets[0], nil
	}
	all, err := dataset.Concat(sets...)
	if err != nil {
		return nil, err
	}
	all.Warnings = warnings
	return all, nil
}

func sameFile(t rapid.TB, got, want string) {
	t.Helper()
	a, errA := os.ReadFile(got)
	b, errB := os.ReadFile(want)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		t.Fatalf("%s of %d bytes differs from %s of %d bytes from byte %d on:\n%.300q\n%.300q", got, len(a), want, len(b), i, a[i:], b[i:])
	}
}

// Claim: with Refuse, a query in two places is an error that tells where; without, it is not.
func TestConvertRefusesScatteredQueries(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("1 qid:1 1:1\n# nothing\n0 qid:2 1:2\n\n2 qid:1 1:3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"out.lwd", "out.txt"} {
		c := Conversion{Inputs: []string{path}, Out: filepath.Join(dir, out)}
		if done, err := Convert(c); err != nil || len(done.Warnings) != 1 {
			t.Errorf("%s: %v, %v", out, done, err)
		}
		if err := os.Remove(c.Out); err != nil {
			t.Fatal(err)
		}
		c.Refuse = true
		_, err := Convert(c)
		if s, ok := errors.AsType[*dataset.SyntaxError](err); !ok || s.Line != 5 || s.File != path || !strings.Contains(s.Found, `"1"`) {
			t.Errorf("%s: error %v, expected one of line 5", out, err)
		}
		if _, err := os.Stat(c.Out); err == nil {
			t.Errorf("%s was written", out)
		}
	}
}

// Claim: a pipe longer than what is kept in memory is converted as a file is, and one whose
// first lines are wrong is refused before the rest is read.
func TestConvertSpoolsPipes(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := 0; text.Len() < 3*firstBytes; i++ {
		fmt.Fprintf(&text, "%d qid:%d 1:%d 2:0.5 #docid = d%d\n", i%3, i/7, i, i)
	}
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Conversion{Inputs: []string{"-"}, Stdin: strings.NewReader(text.String()), Out: filepath.Join(dir, "pipe.lwd")}
	if _, err := Convert(c); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(Conversion{Inputs: []string{path}, Out: filepath.Join(dir, "file.lwd")}); err != nil {
		t.Fatal(err)
	}
	sameFile(t, c.Out, filepath.Join(dir, "file.lwd"))

	r := &endless{text: "1 qid:1 1:x\n"}
	c.Stdin = r
	if _, err := Convert(c); err == nil || !strings.Contains(err.Error(), "standard input:1: ") {
		t.Errorf("error %v", err)
	}
	if r.read > 2*firstBytes {
		t.Errorf("%d bytes were read of a stream whose first line is wrong", r.read)
	}
}

// endless repeats a text for ever.
type endless struct {
	text string
	read int
}

func (r *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[(r.read+i)%len(r.text)]
	}
	r.read += len(p)
	return len(p), nil
}

// Claim: what conversion holds is counted, and is little: data pass whose features take many
// times the limit, in a dense matrix and in a wide one of short lines; but not endless ids.
func TestConvertCountsMemory(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		name, row  string
		rows, docs int
		limit      int64
		fits       bool
	}{
		{"dense", " 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9 10:10", 100_000, 1000, 2 << 20, true},
		{"wide", " 5000:1", 3000, 10, 16 << 20, true},
		{"queries", " 1:1", 50_000, 1, 2 << 20, false},
	} {
		var text bytes.Buffer
		for i := range test.rows {
			fmt.Fprintf(&text, "1 qid:%d%s\n", i/test.docs, test.row)
		}
		path := filepath.Join(dir, test.name)
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := dataset.Options{MaxBytes: test.limit}
		if _, err := Open(path, opts); !errors.Is(err, dataset.ErrTooLarge) {
			t.Errorf("%s: opening it: %v", test.name, err)
		}
		_, err := Convert(Conversion{Inputs: []string{path}, Out: path + ".lwd", Options: opts})
		if test.fits && err != nil || !test.fits && !errors.Is(err, dataset.ErrTooLarge) {
			t.Errorf("%s: %v", test.name, err)
		}
		if !test.fits {
			continue
		}
		d, err := Open(path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(path+".want.lwd", d, letor.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		sameFile(t, path+".lwd", path+".want.lwd")
	}
}

// Claim: short rows of a wide table with quotes, which are parsed in smaller pieces than they
// were counted in, are cut outside quotes as well.
func TestConvertWideTable(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	text.WriteString("query,grade,word\n")
	for i := range 30_000 {
		fmt.Fprintf(&text, "%d,%d,\"w\n%d,\"\n", i/10, i%2, i%500)
	}
	path := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := dataset.Options{Table: dataset.TableOptions{OneHotAuto: true}}
	d, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path+".want.lwd", d, letor.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(Conversion{Inputs: []string{path}, Out: path + ".lwd", Options: opts}); err != nil {
		t.Fatal(err)
	}
	sameFile(t, path+".lwd", path+".want.lwd")
}

// Claim: cancelled at any moment, a conversion leaves nothing and says so.
func TestConvertIsCancelled(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&text, "1 qid:%d 1:%d 2:2\n", i/7%2000, i) // scattered
	}
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"out.lwd", "out.txt.gz"} {
		for _, share := range []float64{0.2, 0.7, 1.4} { // of the survey; or later
			ctx, cancel := context.WithCancel(context.Background())
			c := Conversion{Inputs: []string{path}, Out: filepath.Join(dir, out), Options: dataset.Options{Context: ctx}, chunk: 1 << 12}
			c.Reading = func(string) (func(done, total int64), func()) {
				return func(done, total int64) {
					if float64(done) >= share*float64(total) {
						cancel()
					}
				}, func() {}
			}
			c.Text.Observe = func(int, int) { cancel() }
			if _, err := Convert(c); !errors.Is(err, context.Canceled) {
				t.Errorf("%s at %v: %v", out, share, err)
			}
			cancel()
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Errorf("%s at %v: left behind: %v", out, share, entries)
			}
		}
	}
}
