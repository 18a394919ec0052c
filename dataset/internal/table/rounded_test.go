package table

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: whole numbers that float32 rounds are warned of, once, with the names of the features
// and the largest number of the first, whatever the chunks; and none that it has.
func TestRoundedWarning(t *testing.T) {
	header := "query,grade,bm25,time,number\n"
	lines := func(line string) string {
		var b strings.Builder
		for _, values := range []string{"0.123456789,1617181723,16777216", "99999.5,1617181725,16777218", "0,-1617181725,1e30", "0.5,,3"} {
			cells := strings.Split(values, ",")
			for i, c := range cells {
				if c == "" {
					cells[i] = "null"
				}
			}
			b.WriteString(strings.NewReplacer("A", cells[0], "B", cells[1], "C", cells[2]).Replace(line))
		}
		return b.String()
	}
	const want = "f: feature time: numbers are rounded, such as 1617181725 to 1617181696, because float32 is exact for whole numbers up to 16777216 only; subtract an offset, use an age instead of a time, or exclude ids"
	for _, test := range []struct {
		read reader
		text string
	}{
		{csvReader, header + lines("q,1,A,B,C\n")},
		{csvReader, header + lines("q,1,A,\" B \",C\n")},
		{ReadJSON, lines(`{"query":"q","grade":1,"bm25":A,"time":B,"number":C}` + "\n")},
	} {
		d, err := checkCuts(t, test.text, test.read, dataset.Options{Missing: dataset.MissingZero})
		if err != nil || len(d.Warnings) != 2 || d.Warnings[0] != want {
			t.Errorf("%v, warnings %q, expected %q", err, d.Warnings, want)
		}
	}
	d, err := checkCuts(t, header+"q,1,16777217,1,33554433.5\n", csvReader, dataset.Options{})
	if err != nil || len(d.Warnings) != 1 || !strings.HasPrefix(d.Warnings[0], "f: features bm25, number: numbers are rounded, such as 16777217 to 16777216, because ") {
		t.Errorf("%v, warnings %q", err, d.Warnings)
	}
}

// Claim: decimals that float32 does not tell apart are warned of, in every form of a cell; 2000000.01
// and 2000000.02 are both 2000000, as the float32s there are 0.125 apart.
func TestCollapsedWarning(t *testing.T) {
	const want = "f: feature x: different numbers become equal, such as 2000000.01 and 2000000.02, because float32 has about seven digits; subtract an offset"
	for _, test := range []struct {
		read reader
		text string
	}{
		{csvReader, "qid,grade,x,y\nq,1,2000000.01,0.25\nq,0,2000000.02,0.5\n"},
		{csvReader, "qid,grade,x,y\nq,1,\"2000000.01\",0.25\nq,0,+2.00000002e6,0.5\n"},
		{ReadJSON, `{"qid":"q","grade":1,"x":2000000.01,"y":3}` + "\n" + `{"qid":"q","grade":1,"x":2000000.02,"y":4}` + "\n"},
		{ReadJSON, `{"qid":"q","grade":1,"x":"2000000.01","y":3}` + "\n" + `{"qid":"q","grade":1,"x":2.00000002e6,"y":4}` + "\n"},
	} {
		d, err := checkCuts(t, test.text, test.read, dataset.Options{})
		if err != nil || len(d.Warnings) != 1 || d.Warnings[0] != want {
			t.Errorf("%q: %v, warnings %q", test.text, err, d.Warnings)
		}
	}
}
