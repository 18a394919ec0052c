package interchange

import (
	"errors"
	"strings"
	"testing"

	"github.com/listwise/listwise/model"
)

// lgbmText is a small file, with a set of categories and each type of missing values.
const lgbmText = `tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=lambdarank
feature_names=a b c
feature_infos=[0:1] [0:1] 0:1:2
tree_sizes=300 100

Tree=0
num_leaves=4
num_cat=1
split_feature=0 2 1
split_gain=3 2 1
threshold=0.50000000000000011 0 -1e300
decision_type=10 1 0
left_child=1 -1 -2
right_child=2 -3 -4
leaf_value=0.5 -1 2 3.25
cat_boundaries=0 2
cat_threshold=5 1
is_linear=0
shrinkage=0.1


Tree=1
num_leaves=1
num_cat=0
leaf_value=0.125
is_linear=0
shrinkage=1


end of trees

pandas_categorical:null
`

// Claim: the rules of LightGBM's decision_type, by hand: NaN to the left by the default of the
// first node; categories 0, 2 and 32 to the left; a threshold that no float32 reaches.
func TestLightGBMRules(t *testing.T) {
	m, _, err := Read([]byte(lgbmText), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(nan64)
	x := []float32{
		0.5, 0, 0, // left, in the set: 0.5
		0.50000006, -3e38, 0, // right, above −1e300: 3.25
		nan, 0, 32, // left: 0.5
		nan, 0, 1, // left, not in the set: 2
		0, 0, nan, // left, missing is in no set: 2
		0, 0, 3, // 2
		1, nan, 0, // right; missing counts as 0, above −1e300: 3.25
	}
	want := []float64{0.625, 3.375, 0.625, 2.125, 2.125, 2.125, 3.375}
	got, err := m.Score(datasetOf(x, 3))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("document %d has the score %v, expected %v", i+1, got[i], want[i])
		}
	}
}

// Claim: every malformed file is an error with its line, which says what was found and what was
// expected.
func TestLightGBMErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"num_class=1", "num_class=3", "model:3: found num_class=3, expected 1: a model of several classes gives a document no single score"},
		{"num_class=1", "num_class=x", "model:3: found num_class=x, expected a whole number"},
		{"num_tree_per_iteration=1", "num_tree_per_iteration=2", "model:4: found num_tree_per_iteration=2, expected 1: a model of several classes gives a document no single score"},
		{"max_feature_idx=2", "max_feature_idx=-1", `model:6: found max_feature_idx="-1", expected the number of the last column, from 0`},
		{"max_feature_idx=2\n", "", `model:1: found max_feature_idx="", expected the number of the last column, from 0`},
		{"feature_names=a b c", "feature_names=a b", "model:8: found 2 names of features, expected 3"},
		{"feature_infos=[0:1] [0:1] 0:1:2", "feature_infos=none", "model:9: found 1 feature_infos, expected 3"},
		{"tree_sizes=300 100", "tree_sizes=300", "model:10: found the sizes of 1 trees, expected those of 2: the file is not whole"},
		{"end of trees", "end", `model:38: found no line "end of trees": the file is not whole`},
		{"num_leaves=4", "num_leaves=0", "model:13: found num_leaves=0, expected the number of leaf values"},
		{"num_leaves=4", "num_leaves=9999999999", "model:13: found num_leaves=9999999999, expected the number of leaf values"},
		{"num_leaves=4", "num_leaves=5", "model:21: found 4 numbers of leaf_value, expected 5"},
		{"split_feature=0 2 1", "split_feature=0 2 3", "model:15: found the column 3 in node 2, expected one from 0 to 2"},
		{"split_feature=0 2 1", "split_feature=0 2", "model:15: found 2 numbers of split_feature, expected 3"},
		{"threshold=0.50000000000000011 0 -1e300", "threshold=nan 0 1", `model:17: found "nan" as number 1 of threshold, expected a number`},
		{"threshold=0.50000000000000011 0 -1e300", "threshold=1 1 1", "model:17: found 1 as the set of categories of node 1, expected one of the 1, each once"},
		{"decision_type=10 1 0", "decision_type=10 1 12", "model:18: found the type 3 of missing values in node 2, expected 0, 1 or 2"},
		{"decision_type=10 1 0", "decision_type=10 1 0.5", `model:18: found "0.5" as number 3 of decision_type, expected a whole number`},
		{"left_child=1 -1 -2", "left_child=0 -1 -2", "model:12: found node 0 a second time, as a child of node 0, expected a tree"},
		{"left_child=1 -1 -2", "left_child=1 -1 -5", "model:12: found the child -5 of node 2, expected one of 3 nodes or 4 leaves"},
		{"leaf_value=0.5 -1 2 3.25", "leaf_value=0.5 -1 2 inf", "model: found the value +Inf of a leaf, expected a finite number"},
		{"num_cat=1", "num_cat=-1", "model:14: found num_cat=-1, expected the number of sets of categories"},
		{"cat_boundaries=0 2", "cat_boundaries=0 3", "model:23: found 2 numbers of cat_threshold, expected 3"},
		{"cat_boundaries=0 2", "cat_boundaries=1 2", "model:22: found 1 2 as the bounds of 1 sets of categories, expected ascending numbers from 0 on"},
		{"cat_threshold=5 1", "cat_threshold=5 4294967296", `model:23: found "4294967296" as number 2 of cat_threshold, expected a whole number`},
		{"is_linear=0\nshrinkage=0.1", "is_linear=1\nshrinkage=0.1", "model:24: found is_linear=1, expected 0: leaves with linear functions are not read"},
		{"num_cat=1\n", "num_cat=1\nnum_cat=1\n", "model:15: found num_cat a second time, expected it once"},
	} {
		if !strings.Contains(lgbmText, c.from) {
			t.Fatalf("the file has no %q", c.from)
		}
		_, _, err := Read([]byte(strings.Replace(lgbmText, c.from, c.to, 1)), ReadOptions{})
		if file := (*model.FileError)(nil); !errors.As(err, &file) || err.Error() != c.want {
			t.Errorf("%q: the error is\n%v, expected\n%s", c.to, err, c.want)
		}
	}
}

// Claim: any bytes are read or refused, and what is read can be scored and written again.
func FuzzLightGBM(f *testing.F) {
	f.Add([]byte(lgbmText))
	fuzzReader(f, "lightgbm")
}
