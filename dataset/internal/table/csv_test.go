package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

// naive reads a table as encoding/csv splits it, if the first column is the query, the second
// the grade and all others are features; ok is false where it is not right.
func naive(text string) (ids []string, grades []float64, x []float32, ok bool) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, nil, nil, false
	}
	for _, row := range rows[1:] {
		if row[0] == "" {
			return nil, nil, nil, false
		}
		grade, err := strconv.ParseFloat(row[1], 64)
		if err != nil || grade < 0 || math.IsInf(grade, 0) || math.IsNaN(grade) {
			return nil, nil, nil, false
		}
		ids, grades = append(ids, row[0]), append(grades, grade+0)
		for _, cell := range row[2:] {
			v, err := strconv.ParseFloat(cell, 32)
			switch strings.ToLower(cell) {
			case "", "na", "n/a", "null", "none", "nan", `\n`:
				v = math.NaN()
			default:
				if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
					return nil, nil, nil, false
				}
			}
			x = append(x, float32(v))
		}
	}
	return ids, grades, x, true
}

// strange reports whether a text has what encoding/csv and this package, or strconv and this
// package, read otherwise on purpose: blanks around cells, control characters, words for
// numbers, hexadecimals.
func strange(text string) bool {
	return strings.ContainsAny(text, " \t\r_xXpP") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f }) ||
		strings.Contains(text, "\n\"") && strings.Contains(text, "\n\n") || containsFold(text, "true", "false", "inf", "+nan", "-nan")
}

func containsFold(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), w) })
}

// Whatever cells a table has, the rows are those that encoding/csv and strconv read, and
// chunks, workers and compression do not matter.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"q1,1,0.5,2\nq1,0,1e-3,-7\nq2,2.5,,0\n", "\"a,\"\"b\",1,2,3\n", "q,1,\"1\",2\r\nq,0,1,2\r\n", "b,1,1,1\na,1,2,2\nb,1,3,3", "\n\nq,1,1,1\n\n", "q,1,NA,null\n",
		"q,1,1\n", "q,1,1,1,1\n", "q\"x,1,1,1\n", "\"q\"x,1,1,1\n", "\"q,1,1,1\n", "q,-1,1,1\n", "\"q\n1\",1,1,1\n", "q,1,0.123456,0.1234567\n", "q,1,16777217,1e38\n", "q,true,false,1",
	} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, rows string, mark bool) {
		text := "query,grade,x,y\n" + rows
		if mark {
			text = "\ufeff" + text
		}
		if len(text) > 1<<12 {
			return
		}
		d, err := checkCuts(t, text, csvReader, dataset.Options{Missing: dataset.MissingKeep})
		if err == nil {
			checkWritten(t, d)
		}
		if strange(rows) {
			return
		}
		ids, grades, x, ok := naive(text)
		if ok && slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, "\n") }) {
			ok = false // no query id
		}
		if ok != (err == nil) {
			t.Fatalf("%q: error is %v, encoding/csv reads it: %v", text, err, ok)
		}
		if ok {
			compareRows(t, d, ids, grades, x)
		}
	})
}

// compareRows compares a data set with rows in the order of the input.
func compareRows(t *testing.T, d *dataset.Dataset, ids []string, grades []float64, x []float32) {
	t.Helper()
	if d.Docs() != len(ids) {
		t.Fatalf("%d documents, want %d", d.Docs(), len(ids))
	}
	rows := make([]string, len(ids))
	at := d.InputRows()
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			in := q.Start + j
			if at != nil {
				in = at[in]
			}
			rows[in] = fmt.Sprint(q.ID, q.Grades[j], q.Row(j))
		}
	}
	for in := range ids {
		if want := fmt.Sprint(ids[in], grades[in], x[in*d.Features:(in+1)*d.Features]); rows[in] != want {
			t.Fatalf("row %d is %s, want %s", in+1, rows[in], want)
		}
	}
}

func TestColumns(t *testing.T) {
	const text = "\ufeff id ,Query ID,label,BM25,\"a,b\",color,,ok\r\n" +
		"1,q1,2,0.5,1, red ,x,true\r\n" + "\r\n" + "2,\"q, 2\",-1,1,NA,\"bl\"\"ue\",y,FALSE\r\n" + "3,q1,0.25,2,3,,z,1"
	var notes []string
	opts := dataset.Options{Missing: dataset.MissingKeep, Negative: dataset.NegativeZero, Table: dataset.TableOptions{OneHotAuto: true}}
	opts.Note = func(s string) { notes = append(notes, s) }
	d, err := readCut(strings.NewReader(text), csvReader, opts, 0)
	if err != nil {
		t.Fatal(err)
	}
	opts.Note = nil
	if _, err := checkCuts(t, text, csvReader, opts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"BM25", "a,b", `color=bl"ue`, "color=red", "ok"}, d.FeatureNames); diff != "" {
		t.Error(diff)
	}
	var got bytes.Buffer
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			fmt.Fprintln(&got, q.ID, q.DocID(j), q.Grades[j], q.Row(j))
		}
	}
	if want := "q1 1 2 [0.5 1 0 1 1]\nq1 3 0.25 [2 3 0 0 1]\nq, 2 2 0 [1 NaN 1 0 0]\n"; got.String() != want {
		t.Errorf("read\n%swant\n%s", &got, want)
	}
	want := []string{"f: queries are taken from column Query ID, grades from label, document ids from id, features from 4 columns: BM25, a,b, color, ok; left out: a column without a name (--query, --grade, --doc, --features choose others)"}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
	wantWarnings := []string{"f: 1 negative grades were replaced by 0", `f: the documents of query "q1" were scattered and have been put together`}
	if diff := cmp.Diff(wantWarnings, d.Warnings); diff != "" {
		t.Error(diff)
	}
}

// A model's names decide which columns are read, in what order, and which values are known.
func TestWantedNames(t *testing.T) {
	const text = "query,grade,a,color,b\nq,1,1,red,2\nq,0,3,green,4\nq,0,3,,4\n"
	opts := dataset.Options{FeatureNames: []string{"b", "color=blue", "color=red"}}
	d, err := checkCuts(t, text, csvReader, opts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{2, 0, 1, 4, 0, 0, 4, 0, 0}, d.X()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(opts.FeatureNames, d.FeatureNames); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"f: 1 values of text columns have no one-hot feature, so the features of their columns are 0"}, d.Warnings); diff != "" {
		t.Error(diff)
	}
}

// Documents with negative grades can be left out, wherever they stand.
func TestDropNegative(t *testing.T) {
	var text strings.Builder
	text.WriteString("query,grade,doc,x\n")
	var want []string
	for i := range 50 {
		grade := i%3 - 1
		fmt.Fprintf(&text, "q%d,%d,d%d,%d\n", i/7, grade, i, i+1)
		if grade >= 0 {
			want = append(want, fmt.Sprint(fmt.Sprintf("q%d", i/7), fmt.Sprintf("d%d", i), grade, i+1))
		}
	}
	d, err := checkCuts(t, text.String(), csvReader, dataset.Options{Negative: dataset.NegativeDrop})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			got = append(got, fmt.Sprint(q.ID, q.DocID(j), q.Grades[j], q.Row(j)[0]))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
