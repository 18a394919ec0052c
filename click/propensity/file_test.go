package propensity

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
)

// Claim: estimates have the same bytes on any number of cores, and read back as they were written.
func TestFile(t *testing.T) {
	w := newWorld(8)
	l := &Log{KeepClicked: true, Value: func(p *click.Page) string { return p.Arm }}
	w.arms(t, l, 4000, 3, pbm)
	for _, m := range []Method{Harvest, EM, Regress, Dual} {
		var first []byte
		for _, workers := range []int{1, 2, 4} {
			e := estimate(t, l, Options{Method: m, Features: w.features, Top: 4, Resamples: 6, Iterations: 5, Seed: 3, Workers: workers})
			var text bytes.Buffer
			if err := e.Write(&text); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = text.Bytes()
			}
			if !bytes.Equal(first, text.Bytes()) {
				t.Errorf("%s: found other bytes on %d cores", m, workers)
			}
			back, err := Decode("f", text.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			e.resamples, e.factor = nil, 0 // not in the file
			if !reflect.DeepEqual(back, e) {
				t.Errorf("%s: found %+v, expected %+v", m, back, e)
			}
		}
	}
}

const goodFile = `{"format":"listwise propensities","version":1,"method":"swap","pages":2,"weight":2,"groups":2,"level":0.95,"slots":[
{"slot":"1","theta":1,"se":0,"low":1,"high":1,"impressions":2,"clicks":1,"interventions":2},
{"slot":"2","theta":0.5,"se":null,"low":null,"high":null,"impressions":2,"clicks":1,"interventions":2}]}`

// Claim: a damaged file is an error that says what was found and where.
func TestBadFiles(t *testing.T) {
	if _, err := Decode("f", []byte(goodFile)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"listwise propensities"`, `"x"`, `found "format": "x", expected "listwise propensities"`},
		{`"version":1`, `"version":2`, "found format version 2, expected 1"},
		{`"theta":1`, `"theta":2`, "found propensity 2 of the first slot, expected 1"},
		{`"theta":0.5`, `"theta":-1`, `found propensity -1 of slot "2", expected a positive number`},
		{`"slot":"2"`, `"slot":"1"`, `found slot "1" twice`},
		{`"clicks":1`, `"clicks":3`, "found 3 clicks"},
		{`"se":0`, `"se":-1`, "found standard error -1"},
		{`"pages":2`, `"pagez":2`, "pagez"},
		{`"interventions":2`, `"other":2`, "other"},
		{`"pages":2`, `"pages":"x"`, "f:1: "},
	} {
		if _, err := Decode("f", []byte(strings.Replace(goodFile, c[0], c[1], 1))); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: found %v, expected %s", c[1], err, c[2])
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("found no error, expected one of a file that does not exist")
	}
}

// FuzzDecode checks that any text gives an error or an estimate that is written and read again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(goodFile))
	f.Add([]byte(strings.Replace(goodFile, `"level"`, `"by":"arm","parts":[{"value":"a","pages":1,"alone":false,"slots":[]}],"level"`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Decode("f", text)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := e.Write(&again); err != nil {
			t.Fatal(err)
		}
		back, err := Decode("f", again.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e.Of(), back.Of()) {
			t.Errorf("found %v, expected %v", back.Of(), e.Of())
		}
	})
}
