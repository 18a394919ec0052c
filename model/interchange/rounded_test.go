package interchange

import (
	"strings"
	"testing"
)

// Claim: reading a LightGBM model says which features float32 tells fewer values apart of than
// the model: thresholds that become one, and values beyond 2²⁴ that it learned from; and
// nothing of features that no tree uses, and of values that float32 has.
func TestRoundedThresholds(t *testing.T) {
	file := func(infos, features, thresholds string) string {
		return `tree
version=v4
num_class=1
max_feature_idx=2
feature_names=a time b
feature_infos=` + infos + `

Tree=0
num_leaves=3
num_cat=0
split_feature=` + features + `
threshold=` + thresholds + `
decision_type=2 2
left_child=1 -1
right_child=-2 -3
leaf_value=1 2 3

end of trees
`
	}
	for _, test := range []struct{ infos, features, thresholds, want string }{
		{"[0:1] [0:16777217] [0:1]", "0 0", "0.25 0.5", ""},
		{"[0:1] [0:1e10] [0:1]", "0 1", "0.25 16777216", ""},
		{"[0:1] [16777217:16777218] [0:1]", "0 1", "0.25 0.5", "the model learned from values of feature time that are rounded here, such as 16777217: "},
		{"[0:1] [0:16777217] [0:1]", "1 1", "16777216.5 16777217.5", "different thresholds of feature time become one, such as 16777216.5 and 16777217.5: "},
		{"[0:1] [0:16777217] [0:1]", "2 1", "16777216.5 16777217.5", "the model learned from values of feature time that are rounded here, such as 16777217: "},
		// Decimals of which float32 has a few between the bounds, whose step is 0.125 there.
		{"[0:1] [2000000.01:2000000.99] [0:1]", "1 0", "2000000.505 0.5", "the model learned from values of feature time that are rounded here, such as 2000000.99: "},
		{"[0:1] [2000000.25:2000000.5] [0:1]", "1 0", "2000000.375 0.5", ""},
		{"[0:1] [0.01:0.99] [0:1]", "1 0", "0.505 0.5", ""},
		{"[0:1] [-2000000.01:2000000.99] [0:1]", "1 0", "0.505 0.5", ""},
		{"[0:1] [2000000.1:2000000.2] [0:1]", "0 0", "0.25 0.5", ""},
		{"", "1 1", "0.30000000000000001 0.30000000000000004", "different thresholds of feature time become one, such as 0.3 and 0.30000000000000004: "},
	} {
		text := file(test.infos, test.features, test.thresholds)
		if test.infos == "" {
			text = strings.Replace(text, "feature_infos=\n", "", 1)
		}
		_, notes, err := Read([]byte(text), ReadOptions{})
		if got := strings.Join(notes, "\n"); err != nil || !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%+v: %v, notes %q", test, err, got)
		}
		// Without names, features are called by their numbers.
		unnamed := strings.Replace(text, "feature_names=a time b\n", "", 1)
		for _, first := range []struct {
			number Numbering
			want   string
		}{{ColumnsFromZero, "feature 2"}, {ColumnsFromOne, "feature 1"}} {
			_, notes, err := Read([]byte(unnamed), ReadOptions{FirstFeature: first.number})
			if first.number == ColumnsFromOne && strings.Contains(test.features, "0") {
				continue
			}
			if got := strings.Join(notes, "\n"); err != nil || !strings.HasPrefix(got, strings.Replace(test.want, "feature time", first.want, 1)) {
				t.Errorf("%+v without names: %v, notes %q", test, err, got)
			}
		}
	}
}
