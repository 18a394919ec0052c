package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: columns that number rows are no features, in CSV and JSON lines alike. The names that pandas
// and readr write are enough; other names need the values. The values are by hand.
func TestRowNumbers(t *testing.T) {
	for _, test := range []struct {
		name   string
		values string
		left   bool
	}{
		{"__index_level_0__", "1.5 1.5 7", true},
		{"Unnamed: 0", "0 4 8", true},
		{"Unnamed: 0.1", "a b c", true},
		{"...1", "1 2 3", true},
		{"index", "0 1 2", true},
		{"index", "2 0 1", true},       // sorted
		{"index", "70 9 100000", true}, // of some rows, in some order
		{"level_0", "1 2 3", true},
		{"Row_ID", "0.0 1.0 2", true},
		{"index", "0 1 1", false},
		{"index", "0.5 1 2", false},
		{"index", "-1 1 2", false},
		{"index", "1e9 1 2", false},
		{"level_0", "3 3 3", false},
		{"level", "1 2 3", false},
		{"Unnamed: x", "1 2 3", false},
		{"index_2", "1 2 3", false},
		{"__index_level_x__", "1 2 3", false},
	} {
		var csv, json strings.Builder
		fmt.Fprintf(&csv, "qid,%s,grade,x\n", test.name)
		for i, v := range strings.Fields(test.values) {
			fmt.Fprintf(&csv, "q%d,%s,1,2\n", i/2, v)
			if strings.ContainsAny(v, "abc") {
				v = `"` + v + `"`
			}
			fmt.Fprintf(&json, `{"qid":"q%d","%s":%s,"grade":1,"x":2}`+"\n", i/2, test.name, v)
		}
		want := test.name + " x"
		if test.left {
			want = "x"
		}
		for _, of := range []struct {
			read reader
			text string
		}{{csvReader, csv.String()}, {ReadJSON, json.String()}} {
			d, err := checkCuts(t, of.text, of.read, dataset.Options{})
			if err != nil || strings.Join(d.FeatureNames, " ") != want {
				t.Errorf("%s of %s: %v, features %q, expected %s", test.name, test.values, err, d.FeatureNames, want)
			}
			if strings.Contains(test.values, "a") {
				continue
			}
			var notes []string
			o := dataset.Options{Table: dataset.TableOptions{Features: []string{test.name, "x"}}, Note: func(s string) { notes = append(notes, s) }}
			d, err = checkCuts(t, of.text, of.read, o)
			if err != nil || strings.Join(d.FeatureNames, " ") != test.name+" x" || strings.Contains(strings.Join(notes, ""), "row numbers") {
				t.Errorf("%s named by the options: %v, features %q, notes %q", test.name, err, d.FeatureNames, notes)
			}
			d, err = checkCuts(t, of.text, of.read, dataset.Options{FeatureNames: []string{test.name}})
			if err != nil || strings.Join(d.FeatureNames, " ") != test.name {
				t.Errorf("%s wanted by a model: %v, features %q", test.name, err, d.FeatureNames)
			}
		}
	}
}

// Claim: the note names the columns that are left out, and how to keep them.
func TestRowNumbersNote(t *testing.T) {
	var notes []string
	o := dataset.Options{Note: func(s string) { notes = append(notes, s) }}
	if _, err := readCut(strings.NewReader("qid,Unnamed: 0,index,grade,x\nq,0,3,1,2\nq,1,2,0,3\n"), csvReader, o, 0); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 2 || notes[0] != "f: columns Unnamed: 0, index contain row numbers and are not used (name them in --features to keep them)" {
		t.Errorf("notes %q", notes)
	}
	notes = nil
	if _, err := readCut(strings.NewReader(`{"qid":"q","grade":1,"features":{"index":1}}`+"\n"+`{"qid":"q","grade":1,"features":{"index":2}}`+"\n"), ReadJSON, o, 0); err != nil || len(notes) != 1 {
		t.Errorf("an object of features: %v, notes %q", err, notes)
	}
}
