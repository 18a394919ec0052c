package parquet

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
)

// cellsOfText returns the rows of the named columns of a file.
func cellsOfText(text []byte, columns ...string) (rows []string, err error) {
	in, err := input.Hold(bytes.NewReader(text), "f.parquet", dataset.Options{}, nil)
	if err != nil {
		return nil, err
	}
	choose := func(names []string) (chosen []int, err error) {
		for _, c := range columns {
			chosen = append(chosen, slices.Index(names, c))
		}
		return chosen, nil
	}
	err = Cells(in, dataset.Options{}, choose, func(row int64, cells []string) error {
		rows = append(rows, fmt.Sprintf("%d:%s", row, strings.Join(cells, "|")))
		return nil
	})
	return rows, err
}

// Claim: cells of all types of another writer are read as text, over several row groups; nested columns can be left
// out only.
func TestCellsOfAnotherWriter(t *testing.T) {
	type row struct {
		Text   string    `parquet:"text,dict"`
		Time   time.Time `parquet:"time,timestamp(microsecond)"`
		Whole  *int64    `parquet:"whole,optional"`
		Real   float64   `parquet:"real"`
		Float  float32   `parquet:"float"`
		Yes    bool      `parquet:"yes"`
		Nested []string  `parquet:"nested,list"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	seven := int64(-7)
	for i, r := range []row{
		{Text: "a", Time: time.Unix(1763861863, 250_001_000).UTC(), Whole: &seven, Real: 1e-9, Float: 0.5, Yes: true},
		{Text: "", Time: time.Unix(-1, 5e8).UTC(), Real: 3, Float: 2, Nested: []string{"x", "y"}},
		{Text: "é", Time: time.Unix(0, 0).UTC(), Real: 1 << 60},
	} {
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := cellsOfText(b.Bytes(), "real", "text", "time", "whole", "float", "yes")
	want := []string{"1:1e-09|a|1763861863.250001|-7|0.5|true", "2:3||-0.500000||2|false", "3:1.152921504606847e+18|é|0.000000||0|false"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, found\n%q, expected\n%q", err, got, want)
	}
	if _, err := cellsOfText(b.Bytes(), "nested"); err == nil || !strings.Contains(err.Error(), "found nested values in column nested") {
		t.Error(err)
	}
}

// Claim: a table of several row groups with missing cells reads back as it was written.
func TestCellWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewCellWriter(&b, []string{"text", "whole", "real"}, []Kind{Text, Whole, Real})
	var want []string
	long := strings.Repeat("x", 1000)
	for i := range 40_000 {
		cells := [3]string{}
		if i%3 > 0 {
			cells[0] = fmt.Sprint(long, i)
			if err := w.Text(0, cells[0]); err != nil {
				t.Fatal(err)
			}
		}
		if i%7 > 0 {
			cells[1] = strconv.Itoa(i - 5)
			w.Whole(1, int64(i-5))
		}
		if i > 20_000 {
			cells[2] = fmt.Sprint(float64(i) / 8)
			w.Real(2, float64(i)/8)
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%d:%s", i+1, strings.Join(cells[:], "|")))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := cellsOfText(b.Bytes(), "text", "whole", "real")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, found %d rows, expected %d that are equal", err, len(got), len(want))
	}
	if w.sheet.meta.RowGroups == nil || len(w.sheet.meta.RowGroups[0].Columns) != 3 {
		t.Errorf("found %d row groups", len(w.sheet.meta.RowGroups))
	}
}
