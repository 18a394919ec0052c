package parquet

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/table"
	"github.com/listwise/listwise/dataset/stream"
)

// weighed is a table with weights, a query in two places and a document of a negative grade: a row of
// query, grade, impressions, ipw and x.
type weighed struct {
	query                      string
	grade, impressions, ipw, x float64
}

func weighedRows() []weighed {
	return []weighed{
		{"b", 1, 3, 0.5, 1}, {"b", 0, 3, 2, 2}, {"a", 1, 1, 1, 3}, {"a", -1, 1, 7, 4}, {"b", 2, 3, 0, 5}, {"c", 0, 0, 1, 6},
	}
}

// asFile returns rows as a file.
func asFile(t *testing.T, rows []weighed) []byte {
	t.Helper()
	var out bytes.Buffer
	names := []string{"query", "grade", "impressions", "ipw", "x"}
	columns := []*sheetColumn{{name: names[0], kind: format.ByteArray}}
	for _, name := range names[1:] {
		columns = append(columns, &sheetColumn{name: name, kind: format.Double, nullable: true})
	}
	s := newSheet(&out, format.Zstd, columns)
	err := s.each(func(k int, v *pageValues) {
		*v = pageValues{rows: len(rows)}
		if k > 0 {
			v.present = make([]uint32, len(rows))
		}
		for i, r := range rows {
			if k == 0 {
				v.plain = appendText(v.plain, r.query)
			} else if x := []float64{r.grade, r.impressions, r.ipw, r.x}[k-1]; x == x {
				v.present[i], v.plain = 1, appendDoubles(v.plain, []float64{x})
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// asCSV returns rows as text.
func asCSV(rows []weighed) string {
	var b strings.Builder
	b.WriteString("query,grade,impressions,ipw,x\n")
	for _, r := range rows {
		b.WriteString(r.query)
		for _, v := range []float64{r.grade, r.impressions, r.ipw, r.x} {
			b.WriteString(",")
			if v == v {
				b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func weighedOptions() dataset.Options {
	return dataset.Options{Negative: dataset.NegativeDrop, Table: dataset.TableOptions{Weight: "ipw", QueryWeight: "impressions"}}
}

// Claim: weights are those that the same table has as CSV, and so is what is wrong with them, but for
// the words of the place.
func TestWeightsAsOfCSV(t *testing.T) {
	change := func(row int, set func(r *weighed)) []weighed {
		rows := weighedRows()
		set(&rows[row])
		return rows
	}
	for name, rows := range map[string][]weighed{
		"all is well":                            weighedRows(),
		`weight 4 of query "b"`:                  change(1, func(r *weighed) { r.impressions = 4 }),
		`weight 2 of query "b"`:                  change(4, func(r *weighed) { r.impressions = 2 }),
		"in column impressions":                  change(1, func(r *weighed) { r.impressions = -1 }),
		"in column ipw":                          change(2, func(r *weighed) { r.ipw = -2 }),
		"nothing in column ipw":                  change(2, func(r *weighed) { r.ipw = float64(nan) }),
		"another weight of a dropped document":   change(3, func(r *weighed) { r.impressions = 8 }),
		"found weights of 0 of every document":   {{"a", 1, 1, 0, 1}, {"a", 0, 1, 0, 2}},
		"found weights of 0 of every query":      {{"a", 1, 0, 1, 1}, {"b", 0, 0, 1, 2}},
		"all weights 1, which is as without any": {{"a", 1, 1, 1, 1}, {"b", 0, 1, 1, 2}},
	} {
		in, err := input.Hold(strings.NewReader(asCSV(rows)), "f.parquet", weighedOptions(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := table.ReadCSV(in, weighedOptions(), ',')
		got, gotErr := readBytes(asFile(t, rows), weighedOptions())
		if wantErr != nil {
			if gotErr == nil || !strings.Contains(wantErr.Error(), name) || !strings.Contains(gotErr.Error(), strings.TrimPrefix(name, "nothing ")) {
				t.Errorf("%s: %v, of CSV %v", name, gotErr, wantErr)
			}
			continue
		}
		if gotErr != nil || strings.Contains(name, "found") {
			t.Errorf("%s: %v", name, gotErr)
			continue
		}
		if diff := datatest.SameDocuments(want, got); diff != "" || !slices.Equal(want.Weights(), got.Weights()) || !slices.Equal(want.QueryWeights(), got.QueryWeights()) {
			t.Errorf("%s: %s; weights %v, %v, expected %v, %v", name, diff, got.QueryWeights(), got.Weights(), want.QueryWeights(), want.Weights())
		}
	}
}

// Claim: what is written with weights is read back with them, without being told.
func TestWeightsAreWritten(t *testing.T) {
	for _, w := range []struct{ queries, documents []float64 }{
		{[]float64{2, 0, 0.5}, nil}, {nil, []float64{1, 0, 3, 1e-300}}, {[]float64{1, 1, 3}, []float64{1, 2, 3, 4}},
	} {
		d := datatest.Split()
		if err := d.Weigh(w.queries, w.documents); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		z, err := NewWriter(&out, stream.ContentsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Write(z, d, nil); err != nil {
			t.Fatal(err)
		}
		again, err := readBytes(out.Bytes(), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if again.Fingerprint() != d.Fingerprint() || !slices.Equal(again.Weights(), d.Weights()) || !slices.Equal(again.QueryWeights(), d.QueryWeights()) {
			t.Errorf("weights %v, %v became %v, %v", d.QueryWeights(), d.Weights(), again.QueryWeights(), again.Weights())
		}
	}
}
