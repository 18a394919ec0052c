package method

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// treeSettings has for every hyperparameter of trees two lists of names and values, beside eight
// trees, that must not learn the same.
var treeSettings = map[string][2][]string{
	"trees":              {{}, {"trees", "1"}},
	"leaves":             {{}, {"leaves", "5"}},
	"fit":                {{"fit", "newton"}, {"fit", "gradient"}},
	"growth":             {{"growth", "depth"}, {"growth", "symmetric"}},
	"rate":               {{}, {"rate", "0.5"}},
	"depth":              {{}, {"depth", "2"}},
	"bins":               {{}, {"bins", "8"}},
	"leaf_documents":     {{}, {"leaf_documents", "40"}},
	"leaf_curvature":     {{}, {"leaf_curvature", "10"}},
	"l2":                 {{}, {"l2", "3"}},
	"l1":                 {{}, {"l1", "3"}},
	"least_gain":         {{}, {"least_gain", "5"}},
	"query_fraction":     {{}, {"query_fraction", "0.5"}},
	"feature_fraction":   {{}, {"feature_fraction", "0.5"}},
	"document_fraction":  {{}, {"document_fraction", "0.5"}},
	"goss_top":           {{"goss_top", "0.2", "goss_rest", "0.1"}, {"goss_top", "0.5", "goss_rest", "0.1"}},
	"goss_rest":          {{"goss_top", "0.5"}, {"goss_top", "0.5", "goss_rest", "0.2"}},
	"splits":             {{"leaf_documents", "1"}, {"leaf_documents", "1", "splits", "exact"}},
	"thresholds":         {{}, {"thresholds", "random"}},
	"monotone":           {{"monotone", "1:2"}, {"monotone", "1:-2"}},
	"interactions":       {{}, {"interactions", "1:2/3..5"}},
	"boosting":           {{"boosting", "dart"}, {"boosting", "forest"}},
	"dropout":            {{"boosting", "dart", "dropout_skip", "0"}, {"boosting", "dart", "dropout_skip", "0", "dropout", "0.9"}},
	"dropout_skip":       {{"boosting", "dart", "dropout", "0.5"}, {"boosting", "dart", "dropout", "0.5", "dropout_skip", "0"}},
	"dropout_most":       {{"boosting", "dart", "dropout", "1"}, {"boosting", "dart", "dropout", "1", "dropout_most", "1"}},
	"dropout_weight":     {{"boosting", "dart", "dropout", "1"}, {"boosting", "dart", "dropout", "1", "dropout_weight", "forest"}},
	"bag":                {{"query_fraction", "0.5"}, {"query_fraction", "0.5", "bag", "2"}},
	"patience":           {{"trees", "200", "rate", "1"}, {"trees", "200", "rate", "1", "patience", "1"}},
	"bins_by":            {{"bins", "4"}, {"bins", "4", "bins_by", "curvature"}},
	"categorical":        {{}, {"categorical", "1:2"}},
	"category_smoothing": {{"leaf_documents", "2", "rate", "0.5", "categorical", "1"}, {"leaf_documents", "2", "rate", "0.5", "categorical", "1", "category_smoothing", "0"}},
}

// Every hyperparameter of trees changes what is learned.
func TestEveryTreeSettingTells(t *testing.T) {
	m, numbers, levels := lookup(t, "lambdamart"), smallData(t), smallData(t)
	// Categories of unequal size that tell of grades.
	for _, q := range levels.Queries {
		for j, grade := range q.Grades {
			q.X[8*j] = float32(4*grade) + float32(min(j%7, 3))
			if j%3 == 0 {
				q.X[8*j] = float32(j % 12)
			}
		}
	}
	scoresOf := func(d *dataset.Dataset, settings []string) []float64 {
		p := newProblem(t, m, append([]string{"trees", "8", "normalize", "none"}, settings...)...)
		p.Data, p.Valid = d.Subset([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), d.Subset([]int{10, 11, 12, 13, 14})
		scores, err := mustTrain(t, m, p).Score(d)
		if err != nil {
			t.Fatal(err)
		}
		return scores
	}
	for _, h := range treeParameters() {
		d := numbers
		if h.Name == "category_smoothing" {
			d = levels
		}
		pair, ok := treeSettings[h.Name]
		if !ok {
			t.Errorf("%s: no settings to compare, expected some in treeSettings", h.Name)
		} else if slices.Equal(scoresOf(d, pair[0]), scoresOf(d, pair[1])) {
			t.Errorf("%v learns the same as %v", pair[1], pair[0])
		}
	}
}

// Features that constraints name must be there, once each, and say how if they are not.
func TestTreeColumns(t *testing.T) {
	m := lookup(t, "lambdamart")
	for _, c := range []struct{ name, value, want string }{
		{"monotone", "3", "3"}, {"monotone", "-7,3", "3:-7"}, {"monotone", "5..7 -2", "-2:5:6:7"}, {"monotone", "-2..3", "-2:-3"}, {"monotone", "none", "none"},
		{"interactions", "2:1/3", "1:2/3"}, {"interactions", "1:2/2:3", "1:2/2:3"},
	} {
		v, err := m.Values(map[string]string{c.name: c.value})
		if err != nil || v.Text(c.name) != c.want {
			t.Errorf("%s=%s became %v, %v; want %s", c.name, c.value, v, err, c.want)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"monotone", "3:x", `monotone=3:x: found "x", expected none or features, as 2:-7:10..14`},
		{"monotone", "0", `found "0"`}, {"monotone", "", `found ""`}, {"monotone", "3:-3", `found feature 3 twice`}, {"monotone", "7..5", `found "7..5"`},
		{"monotone", "1/2", `found "1/2"`}, {"monotone", "1..99999999999", `found "1..99999999999"`}, {"monotone", "--3", `found "--3"`},
		{"interactions", "1:-2", `found "-2"`}, {"interactions", "1//2", `found ""`}, {"interactions", "1:1", `found feature 1 twice`},
	} {
		if _, err := m.Values(map[string]string{c.name: c.value}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: error is %v, want %s", c.name, c.value, err, c.want)
		}
	}
	for setting, want := range map[string]string{
		"monotone":     "monotone=2:-9: found feature 9, expected one from 1 to 8: the data have no more",
		"categorical":  "categorical=1:9: found feature 9, expected one from 1 to 8",
		"interactions": "interactions=1:2/3:9: found feature 9, expected one from 1 to 8",
	} {
		value, _, _ := strings.Cut(strings.TrimPrefix(want, setting+"="), ": ")
		checkRefused(t, m, newProblem(t, m, setting, value), "lambdamart: "+want)
	}
	both := newProblem(t, m, "categorical", "2", "monotone", "2")
	checkRefused(t, m, both, "lambdamart: found a sign for feature 2, expected none: it is categorical")
	exact := newProblem(t, m, "splits", "exact", "bins", "7")
	checkRefused(t, m, exact, "lambdamart: found exact splits with categorical features, bins by curvature or less than 255 bins")
	symmetric := newProblem(t, m, "splits", "exact", "growth", "symmetric")
	checkRefused(t, m, symmetric, "lambdamart: found symmetric growth by exact splits")
	normalized := newProblem(t, m, "categorical", "2")
	normalized.Normalization = dataset.ZScore
	checkRefused(t, m, normalized, "lambdamart: found categorical features with the normalization zscore")
}

// A refit without a model is refused for every method, not forgotten.
func TestRefitNeedsAModel(t *testing.T) {
	for _, name := range []string{"lambdamart", "mle"} {
		m := lookup(t, name)
		p := newProblem(t, m)
		p.Refit = true
		var problem *ProblemError
		if _, err := m.Train(context.Background(), p); !errors.As(err, &problem) || !strings.Contains(err.Error(), "found no model to refit") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
