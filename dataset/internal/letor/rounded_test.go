package letor

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: whole numbers that float32 rounds are warned of by the number or name of the feature.
func TestRoundedWarning(t *testing.T) {
	const text = "1 qid:1 1:16777216 2:0.5 3:16777217\n0 qid:1 1:-33554432 3:16777219.0 4:1.6171817231e9\n"
	for names, want := range map[string]string{
		"": "f: features 3, 4: numbers are rounded, such as 16777219 to 16777220, because ",
		"# features: [\"a\",\"b\",\"c\",\"d\"]\n": "f: features c, d: numbers are rounded, such as 16777219 to 16777220, because ",
	} {
		for _, chunk := range []int64{1, 60, 0} {
			d, err := readCut(strings.NewReader(names+text), "f", dataset.Options{}, chunk, 0)
			if err != nil || len(d.Warnings) != 1 || !strings.HasPrefix(d.Warnings[0], want) {
				t.Errorf("%v, warnings %q, expected %q", err, d.Warnings, want)
			}
		}
	}
	d, err := readFrom(strings.NewReader("1 qid:1 1:16777216 2:1e30 3:12345678.25 4:16777218 5:-16777220 6:6.710887e+07\n"), "f", dataset.Options{})
	if err != nil || len(d.Warnings) != 0 {
		t.Errorf("%v, warnings %q, expected none", err, d.Warnings)
	}
}

// Claim: decimals that float32 does not tell apart are warned of in text, dense and not.
func TestCollapsedWarning(t *testing.T) {
	const want = "f: feature 2: different numbers become equal, such as 2000000.01 and 2000000.02, because float32 has about seven digits; subtract an offset"
	for _, text := range []string{
		"1 qid:1 1:0.5 2:2000000.01 3:1\n0 qid:1 1:0.25 2:2000000.02 3:2\n",
		"1 qid:1 2:2000000.01\n0 qid:1 2:2.00000002e6\n",
	} {
		for _, chunk := range []int64{1, 60, 0} {
			d, err := readCut(strings.NewReader(text), "f", dataset.Options{}, chunk, 0)
			if err != nil || len(d.Warnings) != 1 || d.Warnings[0] != want {
				t.Errorf("%q: %v, warnings %q", text, err, d.Warnings)
			}
		}
	}
}
