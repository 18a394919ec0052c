package method

import (
	"slices"
	"testing"
)

// treeSettings has for every hyperparameter of trees two lists of names and values, beside eight
// trees, that must not learn the same.
var treeSettings = map[string][2][]string{
	"trees":             {{}, {"trees", "5"}},
	"leaves":            {{}, {"leaves", "5"}},
	"growth":            {{"growth", "depth"}, {"growth", "symmetric"}},
	"rate":              {{}, {"rate", "0.5"}},
	"depth":             {{}, {"depth", "2"}},
	"bins":              {{}, {"bins", "8"}},
	"leaf_documents":    {{}, {"leaf_documents", "40"}},
	"leaf_curvature":    {{}, {"leaf_curvature", "10"}},
	"l2":                {{}, {"l2", "3"}},
	"l1":                {{}, {"l1", "3"}},
	"least_gain":        {{}, {"least_gain", "5"}},
	"query_fraction":    {{}, {"query_fraction", "0.5"}},
	"feature_fraction":  {{}, {"feature_fraction", "0.5"}},
	"document_fraction": {{}, {"document_fraction", "0.5"}},
	"goss_top":          {{"goss_top", "0.2", "goss_rest", "0.1"}, {"goss_top", "0.5", "goss_rest", "0.1"}},
	"goss_rest":         {{"goss_top", "0.5"}, {"goss_top", "0.5", "goss_rest", "0.2"}},
	"thresholds":        {{}, {"thresholds", "random"}},
	"patience":          {{"trees", "200", "rate", "1"}, {"trees", "200", "rate", "1", "patience", "1"}},
}

// Every hyperparameter of trees changes what is learned.
func TestEveryTreeSettingTells(t *testing.T) {
	m, d := lookup(t, "lambdamart"), smallData(t)
	scoresOf := func(settings []string) []float64 {
		p := newProblem(t, m, append([]string{"trees", "8"}, settings...)...)
		p.Data, p.Valid = d.Subset([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), d.Subset([]int{10, 11, 12, 13, 14})
		scores, err := mustTrain(t, m, p).Score(d)
		if err != nil {
			t.Fatal(err)
		}
		return scores
	}
	for _, h := range treeParameters() {
		pair, ok := treeSettings[h.Name]
		if !ok {
			t.Errorf("%s: no settings to compare, expected some in treeSettings", h.Name)
		} else if slices.Equal(scoresOf(pair[0]), scoresOf(pair[1])) {
			t.Errorf("%v learns the same as %v", pair[1], pair[0])
		}
	}
}
