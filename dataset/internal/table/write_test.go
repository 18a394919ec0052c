package table

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
)

// forms are the kinds of tables that are written.
var forms = []struct {
	name  string
	write func(w io.Writer, c stream.Contents) (stream.Writer, error)
	read  reader
}{
	{"csv", NewCSVWriter(','), csvReader},
	{"tsv", NewCSVWriter('\t'), func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) { return ReadCSV(in, opts, '\t') }},
	{"jsonl", NewJSONWriter, ReadJSON},
}

// writtenAs returns a data set as text of a form.
func writtenAs(t rapid.TB, d *dataset.Dataset, write func(w io.Writer, c stream.Contents) (stream.Writer, error)) string {
	var b bytes.Buffer
	w, err := write(&b, stream.ContentsOf(d))
	if err == nil {
		err = stream.Write(w, d, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkWritten checks that a data set survives being written in every form, bit by bit, names
// and gaps included.
func checkWritten(t rapid.TB, d *dataset.Dataset) {
	for _, form := range forms {
		text := writtenAs(t, d, form.write)
		opts := dataset.Options{Missing: dataset.MissingKeep}
		again, err := readCut(strings.NewReader(text), form.read, opts, 0)
		if err != nil && strings.Contains(err.Error(), "expected a choice") { // what a feature is called has another use, unless it is named
			opts.Table = dataset.TableOptions{Query: "query", Grade: "grade", Doc: "doc", Features: d.FeatureNames}
			again, err = readCut(strings.NewReader(text), form.read, opts, 0)
		}
		if err != nil {
			t.Fatalf("%s: %v, of\n%s", form.name, err, text)
		}
		if diff := datatest.SameDocuments(d, again); diff != "" {
			t.Fatalf("%s: %s", form.name, diff)
		}
		if a, b := d.Fingerprint(), again.Fingerprint(); a != b {
			t.Fatalf("%s: fingerprint %s, want %s", form.name, b, a)
		}
		if strings.Join(Numbered(d.FeatureNames), "\n") != strings.Join(again.FeatureNames, "\n") {
			t.Fatalf("%s: names %q, want %q", form.name, again.FeatureNames, d.FeatureNames)
		}
	}
}

// keepsOrder reports whether a table with columns of these names is read in their order: the numbers from
// 1 on are read in the order of the numbers.
func keepsOrder(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	for j, name := range sorted {
		if name != strconv.Itoa(j+1) {
			return true
		}
	}
	return slices.Equal(names, sorted)
}

// Claim: what is written is read as it was.
func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		for j := range d.Features {
			if d.FeatureNames = nil; rapid.Bool().Draw(t, "named") {
				d.FeatureNames = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"bm25", "qid", "label", "id", "Query", "a,b", "a\tb c", "käse", "\"x\"", "1", "2", "features2", " x ", "a=b"}), d.Features, d.Features, rapid.ID).Filter(keepsOrder).Draw(t, "names")
			}
			d.X()[j] = rapid.SampledFrom([]float32{0, 1e-45, -3.4e38, 0.1, 16777216}).Draw(t, "value")
		}
		d.Modified()
		for i := range d.FeatureNames {
			d.FeatureNames[i] = strings.ReplaceAll(d.FeatureNames[i], "\t", "|") // no control character
		}
		for i := range d.Queries {
			d.Queries[i].ID += rapid.SampledFrom([]string{"", " shoes", ",", "\"", "'", "\t"}).Draw(t, "id")
			d.Queries[i].ID = strings.ReplaceAll(d.Queries[i].ID, "\t", "\\u0009")
		}
		checkWritten(t, d)
	})
}

// What has no place in a table is refused.
func TestNotWritten(t *testing.T) {
	for _, names := range [][]string{{"grade"}, {"query_weight"}, {"document_weight"}, {"a\nb"}, {""}, {"x", "x"}} {
		for _, form := range forms {
			if _, err := form.write(io.Discard, stream.Contents{Features: len(names), FeatureNames: names}); err == nil {
				t.Errorf("%s: names %q are written", form.name, names)
			}
		}
	}
	if _, err := NewJSONWriter(io.Discard, stream.Contents{Features: 1, FeatureNames: []string{"features"}}); err == nil {
		t.Error("a member called features is written")
	}
	for _, form := range forms {
		w, err := form.write(io.Discard, stream.Contents{Features: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, ids := range [][2]string{{"", "d"}, {"a\x00", "d"}, {"a\xff", "d"}, {"a", "d\n"}} {
			if err := w.Document(ids[0], ids[1], 1, []float32{1}); err == nil {
				t.Errorf("%s: ids %q are written", form.name, ids)
			}
		}
	}
}
