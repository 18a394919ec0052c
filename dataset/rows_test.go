package dataset_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// nan is a missing value.
var nan = float32(math.NaN())

// scattered are documents of which query b stands in two places, as rows and as text.
const scatteredText = "1 qid:b 1:1 2:2 # docid = p\n0 qid:a 1:3 2:4 # docid = q\n2 qid:b 1:5 2:nan # docid = r\n"

func scatteredRows() dataset.Rows {
	return dataset.Rows{
		Name: "X", Features: 2, X: []float32{1, 2, 3, 4, 5, nan}, Grades: []float64{1, 0, 2}, DocIDs: []string{"p", "q", "r"},
		Queries: []dataset.Run{{ID: "b", Docs: 1}, {ID: "a", Docs: 1}, {ID: "b", Docs: 1}},
	}
}

// Claim: rows in memory are the data set that the reader of LETOR text makes of the same documents,
// by fingerprint, warnings, ids and the order of the input, and the caller's matrix stays as it is.
func TestRowsAreTextsDocuments(t *testing.T) {
	for _, missing := range []dataset.Missing{dataset.MissingZero, dataset.MissingMin, dataset.MissingKeep} {
		want, err := datafile.Read(strings.NewReader(scatteredText), "X", dataset.Options{Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		rows := scatteredRows()
		before := slices.Clone(rows.X)
		got, err := dataset.FromRows(rows, missing)
		if err != nil {
			t.Fatal(err)
		}
		if got.Fingerprint() != want.Fingerprint() || !slices.Equal(got.Warnings, want.Warnings) || !slices.Equal(got.InputRows(), want.InputRows()) ||
			got.Missing() != want.Missing() || got.Queries[0].DocID(1) != "r" {
			t.Errorf("missing %v: found %v %v, expected %v %v", missing, got.Warnings, got.InputRows(), want.Warnings, want.InputRows())
		}
		if !slices.EqualFunc(before, rows.X, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			t.Errorf("missing %v: the caller's matrix has changed", missing)
		}
	}
}

// Claim: contiguous rows without missing values are not copied.
func TestRowsAreNotCopied(t *testing.T) {
	rows := dataset.Rows{Name: "X", Features: 1, X: []float32{1, 2}, Grades: []float64{1, 0}, Queries: []dataset.Run{{ID: "a", Docs: 2}}}
	d, err := dataset.FromRows(rows, dataset.MissingError)
	if err != nil {
		t.Fatal(err)
	}
	if &d.X()[0] != &rows.X[0] {
		t.Error("the matrix was copied")
	}
}

// Claim: what is wrong with rows is an error that says where.
func TestWrongRows(t *testing.T) {
	for _, c := range []struct {
		change func(*dataset.Rows)
		want   string
	}{
		{func(*dataset.Rows) {}, "X:3: found no value (NaN) of feature 2, expected a finite number (or an option"},
		{func(r *dataset.Rows) { r.X[3] = float32(math.Inf(1)) }, "X:2: found the value +Inf of feature 2, expected a finite number"},
		{func(r *dataset.Rows) { r.Grades[1] = -1 }, "X:2: found the grade -1, expected a finite non-negative number"},
		{func(r *dataset.Rows) { r.Grades[2] = math.NaN() }, "X:3: found the grade NaN"},
		{func(r *dataset.Rows) { r.X = r.X[:4] }, "X: found 4 values of features, expected 3 × 2"},
		{func(r *dataset.Rows) { r.FeatureNames = []string{"a"} }, "X: found 1 names of features, expected 2"},
		{func(r *dataset.Rows) { r.FeatureNames = []string{"a\xff", "a\xfe"} }, "X: found a name of a feature that is not UTF-8, expected text in UTF-8"},
		{func(r *dataset.Rows) { r.Queries = r.Queries[:2] }, "X: found the queries of 2 documents, expected those of 3"},
		{func(r *dataset.Rows) { r.Queries[1].ID = "" }, `X:2: found the query "", expected an id that is not empty`},
		{func(r *dataset.Rows) { r.Queries[1].ID = "a\n" }, "expected an id without control characters"},
		{func(r *dataset.Rows) { r.Weights = []float64{1, -1, 1} }, "X:2: found the weight -1"},
		{func(r *dataset.Rows) { r.Weights = []float64{0, 0, 0} }, "X: found the weight 0 of all documents"},
		{func(r *dataset.Rows) { r.QueryWeights = []float64{1, 1, 2} }, `X:3: found the weight 2 of query "b", expected 1 as before`},
		{func(r *dataset.Rows) { r.DocIDs = r.DocIDs[:2] }, "X: found 2 ids of documents, expected 3"},
		{func(r *dataset.Rows) { *r = dataset.Rows{Name: "X"} }, "X: found no documents, expected one at least"},
	} {
		rows := scatteredRows()
		c.change(&rows)
		_, err := dataset.FromRows(rows, dataset.MissingError)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found the error %v, expected %q", err, c.want)
		}
	}
}
