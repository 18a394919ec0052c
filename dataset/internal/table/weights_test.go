package table

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
)

// weighedRows are rows with weights, a query in two places and one document of a negative grade.
const weighedRows = `query,grade,impressions,ipw,x
b,1,3,0.5,1
b,0,3,2,2
a,1,1,1,3
a,-1,1,7,4

b,2,3,0,5
c,0,0,1,6
`

func weighedOptions() dataset.Options {
	return dataset.Options{Negative: dataset.NegativeDrop, Table: dataset.TableOptions{Weight: "ipw", QueryWeight: "impressions"}}
}

// asJSON turns rows into JSON lines of strings, blank lines staying.
func asJSON(rows string) string {
	lines := strings.Split(strings.TrimSuffix(rows, "\n"), "\n")
	names := strings.Split(lines[0], ",")
	var b strings.Builder
	for _, line := range lines[1:] {
		if line != "" {
			for i, cell := range strings.Split(line, ",") {
				b.WriteString([]string{"{", ","}[min(i, 1)] + `"` + names[i] + `":"` + cell + `"`)
			}
			b.WriteString("}")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Columns of weights are those of documents and queries, with their rows wherever these stand, and
// no features.
func TestWeights(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		read reader
	}{"csv": {weighedRows, csvReader}, "jsonl": {asJSON(weighedRows), ReadJSON}} {
		d, err := checkCuts(t, c.text, c.read, weighedOptions())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(d.QueryWeights(), []float64{3, 1, 0}) || !slices.Equal(d.Weights(), []float64{0.5, 2, 0, 1, 1}) || !slices.Equal(d.FeatureNames, []string{"x"}) {
			t.Errorf("%s: weights are %v of queries, %v of documents, names %q", name, d.QueryWeights(), d.Weights(), d.FeatureNames)
		}
	}
}

// What is wrong with weights is said with its line, whatever the pieces in which the text is read,
// by reading and by streaming alike.
func TestWrongWeights(t *testing.T) {
	replace := func(old, with string) string { return strings.Replace(weighedRows, old, with, 1) }
	for want, rows := range map[string]string{
		`f:3: found the weight 4 of query "b", expected 3, as in a row of it before`:             replace("b,0,3", "b,0,4"),
		`f:7: found the weight 2 of query "b", expected 3, as in a row of it before`:             replace("b,2,3", "b,2,2"),
		`f:3: found "-1" in column impressions, expected a weight, a finite non-negative number`: replace("b,0,3", "b,0,-1"),
		`f:4: found "much" in column ipw, expected a weight, a finite non-negative number`:       replace("a,1,1,1,", "a,1,1,much,"),
		`f:4: found nothing in column ipw, expected a weight, a finite non-negative number`:      replace("a,1,1,1,", "a,1,1,,"),
		`f: found weights of 0 of every query, expected one at least that is not`:                strings.NewReplacer("b,1,3", "b,1,0", "b,0,3", "b,0,0", "b,2,3", "b,2,0", "a,1,1", "a,1,0").Replace(weighedRows),
		`f: found weights of 0 of every document, expected one at least that is not`:             "query,grade,impressions,ipw,x\na,1,1,0,1\na,0,1,0,2\n",
		`f:1: found no column "ipw" (--weight), expected one of query, grade, impressions, x`:    "query,grade,impressions,x\na,1,1,1\n",
	} {
		_, err := checkCuts(t, rows, csvReader, weighedOptions())
		if err == nil || err.Error() != want {
			t.Errorf("error is\n\t%v, want\n\t%s", err, want)
			continue
		}
		if _, err := streamed(rows); err == nil || err.Error() != want {
			t.Errorf("streaming, the error is\n\t%v, want\n\t%s", err, want)
		}
	}
}

// streamed visits all documents and returns their weights.
func streamed(rows string) (shape stream.Shape, err error) {
	in, err := input.Hold(strings.NewReader(rows), "f", weighedOptions(), nil)
	if err != nil {
		return shape, err
	}
	s, err := StreamCSV(in, weighedOptions(), ',')
	if err != nil {
		return shape, err
	}
	if shape, err = s.Survey(func([]stream.Run) error { return nil }); err != nil {
		return shape, err
	}
	return shape, s.Each(shape.Features, func(*stream.Batch) error { return nil })
}

// Columns that are called document_weight and query_weight are taken without being named, unless a
// model or the user wants them as features; one called weight is a feature.
func TestUsualWeights(t *testing.T) {
	const text = "query,grade,query_weight,document_weight,weight\na,1,2,3,4\nb,0,1,1,5\n"
	read := func(opts dataset.Options) *dataset.Dataset {
		d, err := readCut(strings.NewReader(text), csvReader, opts, 0)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := read(dataset.Options{})
	if !slices.Equal(d.QueryWeights(), []float64{2, 1}) || !slices.Equal(d.Weights(), []float64{3, 1}) || !slices.Equal(d.FeatureNames, []string{"weight"}) {
		t.Errorf("weights are %v, %v, features %q", d.QueryWeights(), d.Weights(), d.FeatureNames)
	}
	for _, opts := range []dataset.Options{
		{FeatureNames: []string{"query_weight", "document_weight"}},
		{Table: dataset.TableOptions{Features: []string{"query_weight", "document_weight"}}},
	} {
		if d := read(opts); d.Weighted() || d.Features != 2 {
			t.Errorf("features are %q, weights %v", d.FeatureNames, d.Weights())
		}
	}
}

// Tables that are written with weights are read back with them, without being told.
func TestWeightsAreWritten(t *testing.T) {
	for _, w := range []struct{ queries, documents []float64 }{
		{[]float64{2, 0, 0.5}, nil}, {nil, []float64{1, 0, 3, 1e-300}}, {[]float64{1, 1, 3}, []float64{1, 2, 3, 4}},
	} {
		d := datatest.Split()
		if err := d.Weigh(w.queries, w.documents); err != nil {
			t.Fatal(err)
		}
		for name, form := range map[string]struct {
			write func(w io.Writer, c stream.Contents) (stream.Writer, error)
			read  reader
		}{"csv": {NewCSVWriter(','), csvReader}, "jsonl": {NewJSONWriter, ReadJSON}} {
			var text bytes.Buffer
			z, err := form.write(&text, stream.ContentsOf(d))
			if err != nil {
				t.Fatal(err)
			}
			if err := stream.Write(z, d, nil); err != nil {
				t.Fatal(err)
			}
			again, err := readCut(&text, form.read, dataset.Options{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if again.Fingerprint() != d.Fingerprint() || !slices.Equal(again.Weights(), d.Weights()) || !slices.Equal(again.QueryWeights(), d.QueryWeights()) {
				t.Errorf("%s: weights %v, %v became %v, %v", name, d.QueryWeights(), d.Weights(), again.QueryWeights(), again.Weights())
			}
		}
	}
}
