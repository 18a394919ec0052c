package parquet

import (
	"bytes"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/dataset"
)

// Claim: numbers that the options name are missing in features of every type, plain and in a
// dictionary, as the file has them and not as float32; grades are left alone.
func TestStandIns(t *testing.T) {
	type row struct {
		Query string   `parquet:"query"`
		Grade float64  `parquet:"grade"`
		D     float64  `parquet:"d"`
		Coded float64  `parquet:"coded,dict"`
		F     float32  `parquet:"f"`
		Null  *float32 `parquet:"null,optional"`
		I     int32    `parquet:"i"`
		L     int64    `parquet:"l,delta"`
		B     bool     `parquet:"b"`
	}
	one, inf := float32(1), float32(math.Inf(1))
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	_, err := w.Write([]row{
		{"q", 2, 1.79769313486e308, -999, inf, &inf, -999, -999, true},
		{"q", 1, 1, 2, 3, nil, 4, 5, false},
		{"q", 0, 16777217, math.Inf(1), -999, &one, 16777216, 16777217, true},
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	values := []float64{1.79769313486e308, math.Inf(1), -999, 1 << 24, 2}
	d, err := readBytes(b.Bytes(), dataset.Options{Missing: dataset.MissingKeep, MissingValues: values})
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{
		nan, nan, nan, nan, nan, nan, 1,
		1, nan, 3, nan, 4, 5, 0,
		1 << 24, nan, nan, 1, nan, 1 << 24, 1,
	}
	for i, x := range d.X() {
		if x != want[i] && (x == x || want[i] == want[i]) {
			t.Errorf("value %d of document %d is %v, expected %v", i%7, i/7, x, want[i])
		}
	}
	if d.Missing() != 11 || d.Grades()[0] != 2 {
		t.Errorf("%d values are missing, grades %v", d.Missing(), d.Grades())
	}
	if _, err := readBytes(b.Bytes(), dataset.Options{MissingValues: values}); err == nil {
		t.Error("missing values without a policy are no error")
	}
}
