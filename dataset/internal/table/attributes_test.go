package table

import (
	"reflect"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
)

// attributedRows are rows with attributes of queries, a query in two places, one without a country, and a document
// of a negative grade that says otherwise, but is dropped.
const attributedRows = `query,grade,country,age,x
b,1,DE,30,1
b,0, DE,30,2
a,1,NA,7.5,3
a,-1,US,8,4

b,2,DE,30,5
c,0,"US",1,6
`

func attributedOptions() dataset.Options {
	return dataset.Options{Negative: dataset.NegativeDrop, Table: dataset.TableOptions{Attributes: []string{"age", "country"}, Except: []string{"country"}}}
}

// attributesOf returns the attributes of all queries.
func attributesOf(d *dataset.Dataset) map[string][]string {
	all := make(map[string][]string)
	for i := range d.Queries {
		all[d.Queries[i].ID] = d.Queries[i].Attributes
	}
	return all
}

// Columns of attributes are read beside what else they are: an attribute that is a feature stays
// one, and one that is left out of the features stays so. They go with the queries wherever these go.
func TestAttributes(t *testing.T) {
	want := map[string][]string{"a": {"7.5", ""}, "b": {"30", "DE"}, "c": {"1", "US"}}
	for name, c := range map[string]struct {
		text string
		read reader
	}{"csv": {attributedRows, csvReader}, "jsonl": {strings.ReplaceAll(asJSON(strings.ReplaceAll(attributedRows, `"`, "")), `"country":"NA",`, ""), ReadJSON}} {
		d, err := checkCuts(t, c.text, c.read, attributedOptions())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := attributesOf(d); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(d.AttributeNames, []string{"age", "country"}) || !reflect.DeepEqual(d.FeatureNames, []string{"age", "x"}) {
			t.Errorf("%s: attributes %q are %v, features %q", name, d.AttributeNames, got, d.FeatureNames)
		}
		opts := attributedOptions()
		opts.Table.Attributes = nil
		if plain, err := readCut(strings.NewReader(c.text), c.read, opts, 0); err != nil || plain.Fingerprint() != d.Fingerprint() {
			t.Errorf("%s: without attributes the data are others (%v)", name, err)
		}
		part := d.Subset([]int{1})
		both, err := dataset.Concat(part, d.Subset([]int{2, 0}))
		if err != nil || !reflect.DeepEqual(attributesOf(both), want) || !reflect.DeepEqual(part.AttributeNames, d.AttributeNames) {
			t.Errorf("%s: of parts, the attributes are %v (%v)", name, attributesOf(both), err)
		}
		part.AttributeNames = nil
		if _, err := dataset.Concat(part, d.Subset([]int{0})); err == nil || !strings.Contains(err.Error(), `attributes ["age" "country"], expected the []`) {
			t.Errorf("%s: data with other attributes are put together: %v", name, err)
		}
	}
}

// A model that knows its features by name has them, whatever is an attribute besides.
func TestAttributesBesideAModel(t *testing.T) {
	opts := attributedOptions()
	opts.FeatureNames, opts.Table.Except = []string{"x"}, nil
	if d, err := checkCuts(t, attributedRows, csvReader, opts); err != nil || d.Features != 1 || d.Queries[0].Attributes[1] != "DE" {
		t.Errorf("data %+v (%v)", d, err)
	}
	opts.FeatureNames = []string{"x", "country=DE", "age"}
	if d, err := checkCuts(t, attributedRows, csvReader, opts); err != nil || d.Queries[0].X[1] != 1 || d.Queries[0].X[2] != 30 || d.Queries[0].Attributes[0] != "30" {
		t.Errorf("data %+v (%v)", d, err)
	}
}

// Of a query whose rows say two things, the error names line, query and both, whatever the pieces in which the
// text is read, by reading and by streaming alike.
func TestUnequalAttributes(t *testing.T) {
	replace := func(old, with string) string { return strings.Replace(attributedRows, old, with, 1) }
	for want, rows := range map[string]string{
		`f:3: found "US" in column country for query "b", expected "DE", as in a row of it before: a column of the query's own`: replace("b,0, DE", "b,0,US"),
		`f:7: found "31" in column age for query "b", expected "30", as in a row of it before: a column of the query's own`:     replace("b,2,DE,30", "b,2,DE,31"),
		`f:7: found "" in column country for query "b", expected "DE", as in a row of it before: a column of the query's own`:   replace("b,2,DE", "b,2,"),
		`f:1: found no column "country" (--by), expected one of query, grade, age, x`:                                           "query,grade,age,x\na,1,1,1\n",
	} {
		opts := attributedOptions()
		if strings.Contains(want, "no column") {
			opts.Table.Except = nil
		}
		if _, err := checkCuts(t, rows, csvReader, opts); err == nil || err.Error() != want {
			t.Errorf("error is\n\t%v, want\n\t%s", err, want)
		}
		in, err := input.Hold(strings.NewReader(rows), "f", opts, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := StreamCSV(in, opts, ',')
		if err == nil {
			_, err = s.Survey(func([]stream.Run) error { return nil })
		}
		if err == nil || err.Error() != want {
			t.Errorf("streaming, the error is\n\t%v, want\n\t%s", err, want)
		}
	}
}

// Collected from a stream, the data have the attributes that reading finds.
func TestStreamedAttributes(t *testing.T) {
	want, err := readCut(strings.NewReader(attributedRows), csvReader, attributedOptions(), 0)
	if err != nil {
		t.Fatal(err)
	}
	in, err := input.Hold(strings.NewReader(attributedRows), "f", attributedOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (stream.Source, error){
		"text": func() (stream.Source, error) { return StreamCSV(in, attributedOptions(), ',') },
		"data": func() (stream.Source, error) { return stream.Of(want), nil },
	} {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		d, err := stream.Collect(t.Context(), stream.File{Source: s, Name: "f", Mem: in.Mem}, dataset.MissingError)
		if err != nil || !reflect.DeepEqual(attributesOf(d), attributesOf(want)) || !reflect.DeepEqual(d.AttributeNames, want.AttributeNames) {
			t.Errorf("%s: attributes are %v (%v), want %v", name, attributesOf(d), err, attributesOf(want))
		}
	}
}
