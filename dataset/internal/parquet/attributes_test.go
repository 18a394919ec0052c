package parquet

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/table"
)

// Claim: attributes of queries, and what is wrong with them, are those that the same table has as CSV, be the
// column a feature or not.
func TestAttributesAsOfCSV(t *testing.T) {
	change := func(row int, set func(r *weighed)) []weighed {
		rows := weighedRows()
		set(&rows[row])
		return rows
	}
	for _, features := range [][]string{{"x"}, {"x", "impressions"}} {
		opts := dataset.Options{Negative: dataset.NegativeDrop, Table: dataset.TableOptions{Attributes: []string{"impressions", "query"}, Features: features}}
		for name, rows := range map[string][]weighed{
			"all is well": weighedRows(),
			`"4" in column impressions for query "b"`: change(1, func(r *weighed) { r.impressions = 4 }),
			`"2" in column impressions for query "b"`: change(4, func(r *weighed) { r.impressions = 2 }),
			"another of a dropped document":           change(3, func(r *weighed) { r.impressions = 8 }),
			"fractions":                               {{"a", 1, 0.1, 1, 1}, {"a", 0, 0.1, 1, 2}, {"b", 1, 1e7, 1, 1}},
		} {
			in, err := input.Hold(strings.NewReader(strings.ReplaceAll(asCSV(rows), "1e+07", "10000000")), "f.parquet", opts, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, wantErr := table.ReadCSV(in, opts, ',')
			got, gotErr := readBytes(asFile(t, rows), opts)
			if wantErr != nil {
				if gotErr == nil || !strings.Contains(wantErr.Error(), name) || !strings.Contains(gotErr.Error(), name) || !strings.Contains(gotErr.Error(), "in row ") {
					t.Errorf("%s: %v, of CSV %v", name, gotErr, wantErr)
				}
				continue
			}
			if gotErr != nil {
				t.Errorf("%s: %v", name, gotErr)
				continue
			}
			for i := range want.Queries {
				if q := got.Queries[i]; !reflect.DeepEqual(q.Attributes, want.Queries[i].Attributes) || q.Attributes[1] != q.ID {
					t.Errorf("%s: query %s has the attributes %q, want %q", name, q.ID, q.Attributes, want.Queries[i].Attributes)
				}
			}
			if want.Fingerprint() != got.Fingerprint() {
				t.Errorf("%s: the data are others than of CSV", name)
			}
		}
	}
}

// Claim: a value of an attribute reads alike whatever the type of its column: whole numbers in decimal digits, floats
// in the fewest that say them, true and false, text without blanks around, and nothing for null and NaN.
func TestAttributesOfAnyType(t *testing.T) {
	for want, c := range map[string]struct {
		kind  format.Type
		plain []byte
	}{
		"-12":  {format.Int32, []byte{0xf4, 0xff, 0xff, 0xff}},
		"0.1":  {format.Float, []byte{0xcd, 0xcc, 0xcc, 0x3d}},
		"":     {format.Float, []byte{0, 0, 0xc0, 0x7f}},
		"DE":   {format.ByteArray, appendText(nil, " DE ")},
		"true": {format.Boolean, []byte{1}},
	} {
		f := oneRow(t, c.kind, c.plain)
		d, err := readBytes(f, dataset.Options{Table: dataset.TableOptions{Attributes: []string{"own"}, Except: []string{"own"}}})
		if err != nil || d.Queries[0].Attributes[0] != want {
			t.Errorf("%v: data %+v (%v), want %q", c.kind, d, err, want)
		}
	}
}

// oneRow returns a file of one row with a column "own" of a type, and a value in its plain form.
func oneRow(t *testing.T, kind format.Type, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	s := newSheet(&out, format.Zstd, []*sheetColumn{
		{name: "query", kind: format.ByteArray}, {name: "grade", kind: format.Double}, {name: "own", kind: kind}, {name: "x", kind: format.Double},
	})
	err := s.each(func(k int, v *pageValues) {
		*v = pageValues{rows: 1, plain: [][]byte{appendText(nil, "q"), appendDoubles(nil, []float64{1}), plain, appendDoubles(nil, []float64{2})}[k]}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
