package parquet

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/dataset"
)

// Claim: columns of features whose least or largest value float32 rounds are warned of.
func TestRoundedWarning(t *testing.T) {
	type row struct {
		Query string  `parquet:"query"`
		Grade float64 `parquet:"grade"`
		Doc   int64   `parquet:"doc"`
		Time  int64   `parquet:"time"`
		Least int32   `parquet:"least"`
		Big   uint32  `parquet:"big"`
		Real  float64 `parquet:"real"`
		Fine  int64   `parquet:"fine"`
		Far   float64 `parquet:"far"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{"q", 1, 1 << 60, 1617181723, -16777217, 4294967295, 33554433.5, 1 << 24, 1e30}, {"q", 0, 3, 5, 5, 5, 5, 5, 5}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := readBytes(b.Bytes(), dataset.Options{})
	if err != nil || len(d.Warnings) != 1 || !strings.HasPrefix(d.Warnings[0], "f.parquet: features time, least, big, real: numbers are rounded, such as 1617181723 to 1617181696, because ") {
		t.Errorf("%v, warnings %q", err, d.Warnings)
	}
}

// Claim: doubles that float32 does not tell apart are warned of, in plain pages and dictionaries, and
// others are not. 2000000.01 and 2000000.02 are both 2000000.
func TestCollapsedWarning(t *testing.T) {
	type row struct {
		Query string  `parquet:"qid"`
		Grade float64 `parquet:"grade"`
		Fine  float64 `parquet:"fine"`
		Plain float64 `parquet:"plain"`
		Coded float64 `parquet:"coded,dict"`
		None  float64 `parquet:"none"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i := range 300 {
		if _, err := w.Write([]row{{"q", float64(i % 2), float64(i) / 7, 2000000.01 + float64(i%2)/100, 3000000.5 + float64(i%3)/50, math.NaN()}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := readBytes(b.Bytes(), dataset.Options{Missing: dataset.MissingKeep})
	const want = "f.parquet: features plain, coded: different numbers become equal, such as 2000000.01 and 2000000.02, because float32 has about seven digits; subtract an offset"
	if err != nil || len(d.Warnings) != 1 || d.Warnings[0] != want {
		t.Errorf("%v, warnings %q", err, d.Warnings)
	}
}

// Claim: whole numbers and decimals that float32 does not tell apart are warned of without bounds in
// the file, and once with them. 1617181697 and 1617181698 are both 1617181696.
func TestCollapsedWholeNumbers(t *testing.T) {
	type row struct {
		Query string  `parquet:"qid"`
		Grade float64 `parquet:"grade"`
		Real  float64 `parquet:"real"`
		Long  int64   `parquet:"long"`
		Short uint32  `parquet:"short,dict"`
		Price int64   `parquet:"price,decimal(2:18)"`
		Small int64   `parquet:"small"`
	}
	const one = "different numbers become equal, such as 2000000.01 and 2000000.02, because float32 has about seven digits; subtract an offset"
	for _, test := range []struct {
		options []parquet.WriterOption
		want    []string
	}{
		{nil, []string{"f.parquet: features real, long, short: numbers are rounded, such as 1617181698 to 1617181696, because ", "f.parquet: feature price: " + one}},
		{[]parquet.WriterOption{parquet.SkipPageBounds("real"), parquet.SkipPageBounds("long"), parquet.SkipPageBounds("short")}, []string{"f.parquet: features real, long, short, price: different numbers become equal, such as 1617181697 and 1617181698, because "}},
	} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b, test.options...)
		for i := range 300 {
			odd := i % 2
			if _, err := w.Write([]row{{"q", float64(odd), 1617181697 + float64(odd), 1617181697 + int64(odd), 1617181697 + uint32(odd), 200000001 + int64(odd), int64(i)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		d, err := readBytes(b.Bytes(), dataset.Options{})
		if err != nil || !slices.EqualFunc(d.Warnings, test.want, strings.HasPrefix) {
			t.Errorf("%v, warnings %q", err, d.Warnings)
		}
	}
}
