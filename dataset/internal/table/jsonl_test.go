package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
)

// naiveLine reads a line as encoding/json does, if it has query, grade, x and y; missing
// values are NaN.
func naiveLine(line string) (id string, grade float64, x [2]float32, err error) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var members map[string]any
	if err = d.Decode(&members); err != nil {
		return "", 0, x, err
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return "", 0, x, fmt.Errorf("more behind the object: %w", err)
	}
	id, _ = members["query"].(string)
	if number, ok := members["query"].(json.Number); ok {
		id = number.String()
	}
	if b, ok := members["query"].(bool); ok {
		id = strconv.FormatBool(b)
	}
	if id == "" || strings.ContainsFunc(id, unicode.IsControl) {
		return "", 0, x, errors.New("no query")
	}
	if grade, err = naiveNumber(members["grade"], 64); err != nil || !(grade >= 0) {
		return "", 0, x, fmt.Errorf("grade %v: %w", grade, err)
	}
	for i, name := range []string{"x", "y"} {
		v, err := naiveNumber(members[name], 32)
		if err != nil {
			return "", 0, x, err
		}
		x[i] = float32(v)
	}
	return id, grade, x, nil
}

func naiveNumber(value any, bits int) (float64, error) {
	switch v := value.(type) {
	case nil:
		return math.NaN(), nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case json.Number:
		return strconv.ParseFloat(v.String(), bits)
	case string:
		if strings.Trim(v, " \t") == "" {
			return math.NaN(), nil
		}
		return 0, errors.New("a string")
	}
	return 0, errors.New("no number")
}

// twice reports whether a name stands twice in an object, which encoding/json allows.
func twice(line string) bool {
	for _, name := range []string{"query", "grade", "x", "y", "z"} {
		if strings.Count(line, `"`+name+`"`) > 1 {
			return true
		}
	}
	return false
}

// Whatever a line holds, it is read as encoding/json reads it, and chunks, workers and
// compression do not matter.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"query":"q1","grade":1,"x":0.5,"y":2}`, `{ "y" : -1e-3 , "x" : 0 , "grade" : 2.5 , "query" : 17 }`, `{"query":"a\u00e9\n","grade":0,"x":1,"y":null}`, `{"query":"\ud83d\ude00","grade":0}`,
		`{"query":"q","grade":01,"x":1}`, `{"query":"q","grade":1,"x":1.,"y":1}`, `{"query":"q","grade":1,"x":[1,{"a":[]}],"y":1}`, `{"query":"q","grade":true,"x":false,"y":""}`, `{"query":"q","grade":1,"z":{"a":"}"},"x":3}`,
		`{"query":"q","grade":1,"x":-0,"y":16777217}`, `{"query":"q","grade":1,"x":1} `, `{"query":"q","grade":1,"x":1}{`, `{"query":"q","grade":1e400}`, `[]`, `{`, `{"`, `{"query":"\`, ``,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		const first = `{"query":"first","grade":1,"x":1,"y":2,"z":"text"}` + "\n"
		if len(line) > 1<<11 || strings.Contains(line, "\n") {
			return
		}
		opts := dataset.Options{Missing: dataset.MissingKeep, Table: dataset.TableOptions{Query: "query", Grade: "grade", Features: []string{"x", "y"}}}
		d, err := checkCuts(t, first+line, ReadJSON, opts)
		if err == nil {
			checkWritten(t, d)
		}
		if !utf8.ValidString(line) || twice(line) || containsFold(line, "nan", "infinity", "features", `\`) || strings.Count(line, "[")+strings.Count(line, "{") > strictjson.MaxDepth || onlyBlanks(line) {
			return
		}
		if strings.Contains(line, `"n`) || strings.Contains(line, `"t`) || strings.Contains(line, `"f`) || strings.ContainsAny(line, "0123456789") && containsNumberText(line) {
			return // numbers and words within strings are read as what they say
		}
		id, grade, x, naiveErr := naiveLine(line)
		if (err == nil) != (naiveErr == nil) {
			t.Fatalf("%q: error is %v, encoding/json says %v", line, err, naiveErr)
		}
		if err == nil {
			compareRows(t, d, []string{"first", id}, []float64{1, grade}, []float32{1, 2, x[0], x[1]})
		}
	})
}

func onlyBlanks(line string) bool { return strings.Trim(line, " \t\r") == "" }

// containsNumberText reports whether a string may hold a number.
func containsNumberText(line string) bool {
	for _, part := range strings.Split(line, `"`) {
		if _, kind := Parse([]byte(part)); kind != Text {
			return true
		}
	}
	return false
}

func TestJSONColumns(t *testing.T) {
	const text = `{"qid": 7, "label": 2, "title": "x", "features": {"bm25": 0.5, "color": "red", "ok": true}}` + "\n\r\n" +
		`{"features": {"ok": false, "bm25": null}, "label": "0.25", "qid": "k\u00e4se", "doc": "d\"2"}` + "\r\n" +
		`{"qid":7,"label":1,"features":{"color":"blue","bm25":1e-3,"late":4}}`
	d, err := checkCuts(t, text, ReadJSON, dataset.Options{Missing: dataset.MissingKeep, Table: dataset.TableOptions{OneHotAuto: true}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"bm25", "color=blue", "color=red", "ok", "late"}, d.FeatureNames); diff != "" {
		t.Error(diff)
	}
	var got bytes.Buffer
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			fmt.Fprintln(&got, q.ID, q.DocID(j), q.Grades[j], q.Row(j))
		}
	}
	if want := "7  2 [0.5 0 1 1 NaN]\n7  1 [0.001 1 0 NaN 4]\nkäse d\"2 0.25 [NaN 0 0 0 NaN]\n"; got.String() != want {
		t.Errorf("read\n%swant\n%s", &got, want)
	}
}

// The features of an array are numbered, and have no names.
func TestJSONArray(t *testing.T) {
	const text = `{"query":"a","grade":1,"features":[1,2.5,-3]}` + "\n" + `{"features":[4,5,null],"query":"b","grade":0}` + "\n"
	d, err := checkCuts(t, text, ReadJSON, dataset.Options{Missing: dataset.MissingZero})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{1, 2.5, -3, 4, 5, 0}, d.X()); diff != "" || d.FeatureNames != nil {
		t.Error(diff, d.FeatureNames)
	}
}
