package parquet

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/dataset"
)

// Claim: the index that pandas writes is no feature, by its name or by whole numbers none of which
// stands twice, in several row groups; a list of features keeps it.
func TestRowNumbers(t *testing.T) {
	type row struct {
		Query string  `parquet:"qid"`
		Grade float64 `parquet:"grade"`
		Pos   int64   `parquet:"index"`
		Level int32   `parquet:"level_0"`
		Count *uint32 `parquet:"row,optional"`
		X     float64 `parquet:"x"`
		Index int64   `parquet:"__index_level_0__"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i := range 6 {
		n := uint32(5 - i)
		if _, err := w.Write([]row{{"q", float64(i % 2), int64(i * 7 % 6), int32(i / 2), &n, 1, int64(i)}}); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var notes []string
	o := dataset.Options{Note: func(s string) { notes = append(notes, s) }}
	d, err := readBytes(b.Bytes(), o)
	if err != nil || strings.Join(d.FeatureNames, " ") != "level_0 x" || len(notes) != 2 || notes[0] != "f.parquet: columns __index_level_0__, index, row contain row numbers and are not used (name them in --features to keep them)" {
		t.Errorf("%v, features %q, notes %q", err, d.FeatureNames, notes)
	}
	o.Table.Features = []string{"index", "__index_level_0__"}
	if d, err = readBytes(b.Bytes(), o); err != nil || strings.Join(d.FeatureNames, " ") != "index __index_level_0__" || d.X()[2] != 1 {
		t.Errorf("%v, %q", err, d.FeatureNames)
	}
}

// Claim: whole numbers number the rows in columns of doubles, too, and other doubles make a feature of
// any size.
func TestRowNumbersInDoubles(t *testing.T) {
	type row struct {
		Query string  `parquet:"qid"`
		Grade float64 `parquet:"grade"`
		Index float64 `parquet:"index"`
		Row   float32 `parquet:"row"`
		Idx   float64 `parquet:"idx"`
		X     float64 `parquet:"x"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i, index := range []float64{2, math.NaN(), 0, 1} {
		if _, err := w.Write([]row{{"q", float64(i % 2), index, float32(i), 1e20 * float64(i), 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := readBytes(b.Bytes(), dataset.Options{Missing: dataset.MissingKeep})
	if err != nil || strings.Join(d.FeatureNames, " ") != "idx x" {
		t.Errorf("%v, features %q", err, d.FeatureNames)
	}
}
