package table

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: numbers that the options name are missing in tables, infinities and those beyond float32
// too; grades, and the same numbers without the option, are what they were.
func TestStandIns(t *testing.T) {
	const csv = "qid,grade,a,b\nq,999,1.79769313486e+308,999\nq,1,-inf,999.0\nq,0,3,9.5\n"
	const json = `{"qid":"q","grade":999,"a":1.79769313486e+308,"b":999}` + "\n" + `{"qid":"q","grade":1,"a":"-inf","b":999.0}` + "\n" + `{"qid":"q","grade":0,"a":3,"b":9.5}` + "\n"
	values := []float64{1.79769313486e308, 999, math.Inf(-1)}
	for _, of := range []struct {
		read reader
		text string
	}{{csvReader, csv}, {ReadJSON, json}} {
		d, err := checkCuts(t, of.text, of.read, dataset.Options{MissingValues: values, Missing: dataset.MissingZero})
		if err != nil || !slices.Equal(d.X(), []float32{0, 0, 0, 0, 3, 9.5}) || d.Grades()[0] != 999 || d.Filled() != 4 {
			t.Errorf("%v: %v", err, d)
		}
		if _, err := checkCuts(t, of.text, of.read, dataset.Options{Missing: dataset.MissingZero}); err == nil {
			t.Error("no error without the option")
		}
		if _, err := checkCuts(t, of.text, of.read, dataset.Options{MissingValues: values}); err == nil {
			t.Error("no error where missing values are one")
		}
	}
}
