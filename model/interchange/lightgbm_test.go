package interchange

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
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

// Claim: a LightGBM text of any model of trees, with missing values and categories, gives the
// same scores when it is read back, to the bit but for the order of additions. LightGBM takes
// what is within 1e-35 of 0 as 0, so that documents have 0 there.
func TestLightGBMRoundTrip(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := drawTrees(t, rng, drawing{seed%2 == 0, seed%2 == 1 && seed/2%2 == 0, []dataset.Missing{dataset.MissingKeep, dataset.MissingError, dataset.MissingZero}[seed/2%3]})
		d := drawDocuments(rng, m, 60)
		for i, x := range d.Queries[0].X {
			if x >= -lgbmZero && x <= lgbmZero {
				d.Queries[0].X[i] = 0
			}
		}
		back := checkRoundTrip(t, m, d, "lightgbm", 1e-14,
			WriteOptions{FirstFeature: Numbering(seed % 3)}, ReadOptions{})
		if !slices.Equal(back.FeatureNames, m.FeatureNames) && seed%3 != 2 {
			t.Fatalf("the names are %q, expected %q", back.FeatureNames, m.FeatureNames)
		}
	}
}

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

// Claim: decimals of up to six digits, as tables have them, and float32s go where LightGBM, which
// computes with doubles, sends them, at thresholds that are the middle of two such values, rounded
// up: 0.1195 goes left at 0.11950000000000001, although it is above that as a float32.
func TestLightGBMThresholds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	same := func(x, threshold float64) {
		t.Helper()
		if got, want := float32(x) <= lgbmThreshold(threshold), x <= threshold; got != want {
			t.Fatalf("%v at most %v: found %v, expected %v", x, threshold, got, want)
		}
	}
	for range 20_000 {
		scale := math.Pow10(rng.IntN(7))
		number := func(n int) float64 { return float64(n) / scale }
		n, gap := rng.IntN(500_000), 1+rng.IntN(9)
		middle := number(2*n+gap) / 2
		threshold := math.Nextafter(middle, math.Inf(1))
		for _, x := range []float64{number(n), middle, number(n + gap), number(n - 1), -number(n)} {
			same(x, threshold)
		}
		a, b := rng.Float32(), rng.Float32()
		if rng.IntN(2) == 0 {
			b = math.Nextafter32(a, 1)
		}
		a, b = min(a, b), max(a, b)
		threshold = math.Nextafter((float64(a)+float64(b))/2, math.Inf(1))
		same(float64(a), threshold)
		same(float64(b), threshold)
	}
}

// Claim: where zeros are missing (decision_type 4 and 6), what is within 1e-35 of 0 and NaN go the
// default way whatever the threshold, all other values by the threshold; by a walk over the file's
// own nodes for random trees.
func TestLightGBMZeroAsMissing(t *testing.T) {
	values := []float32{0, 1e-35, -1e-35, 1e-36, -1e-36, 2e-35, -2e-35, 1, -1, 0.5, -0.5, float32(nan64)}
	thresholds := []float64{0, 1e-40, -1e-40, 1e-35, -1e-35, 2e-35, -2e-35, 0.5, -0.5, 1, -1}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := keyed{values: map[string]keyedValue{}}
		const n = 7
		var lists [5][]string
		nodes := make([]scorer.TreeNode, 0, n)
		for node := range n {
			growRandom(rng, &nodes, node, 2, drawing{})
		}
		at, ways := make([]float64, n), make([]int, n)
		for i, nd := range nodes {
			at[i], ways[i] = thresholds[rng.IntN(len(thresholds))], lgbmMissingZero|lgbmDefaultLeft*rng.IntN(2)
			for k, text := range []string{strconv.Itoa(nd.Feature), strconv.FormatFloat(at[i], 'g', -1, 64), strconv.Itoa(ways[i]), strconv.Itoa(nd.Left), strconv.Itoa(nd.Right)} {
				lists[k] = append(lists[k], text)
			}
		}
		for k, key := range []string{"split_feature", "threshold", "decision_type", "left_child", "right_child"} {
			b.values[key] = keyedValue{strings.Join(lists[k], " "), 1}
		}
		b.values["num_leaves"], b.values["leaf_value"] = keyedValue{"8", 1}, keyedValue{"0 1 2 3 4 5 6 7", 1}
		read, err := b.lgbmTree(2, new(merged))
		if err != nil {
			t.Fatal(err)
		}
		m, err := (&ensemble{features: 2, trees: []tree{read}}).model("test", nil)
		if err != nil {
			t.Fatal(err)
		}
		var x []float32
		for _, u := range values {
			for _, v := range values {
				x = append(x, u, v)
			}
		}
		scores, err := m.Score(datasetOf(x, 2))
		if err != nil {
			t.Fatal(err)
		}
		for d, got := range scores {
			leaf := 0
			for leaf >= 0 {
				v := x[2*d+nodes[leaf].Feature]
				left := float64(v) <= at[leaf]
				if v != v || v >= -lgbmZero && v <= lgbmZero {
					left = ways[leaf]&lgbmDefaultLeft != 0
				}
				if left {
					leaf = nodes[leaf].Left
				} else {
					leaf = nodes[leaf].Right
				}
			}
			if got != float64(-1-leaf) {
				t.Fatalf("seed %d: %v falls into leaf %v, expected %d", seed, x[2*d:2*d+2], got, -1-leaf)
			}
		}
	}
}

// Claim: the monotone features that a file states are the model's, so that a continued training keeps
// them, and other values and numbers of them are errors.
func TestLightGBMMonotone(t *testing.T) {
	stated := func(signs string) string {
		return strings.Replace(lgbmText, "feature_infos", "monotone_constraints="+signs+"\nfeature_infos", 1)
	}
	for signs, want := range map[string]any{"1 -1 0": "1:-2", "0 0 -1": "-3", "0 0 0": nil} {
		m, _, err := Read([]byte(stated(signs)), ReadOptions{})
		if err != nil || m.Hyperparameters["monotone"] != want {
			t.Errorf("%s: %v, monotone is %v, expected %v", signs, err, m.Hyperparameters["monotone"], want)
		}
	}
	for signs, want := range map[string]string{"1 -1": "found 2 monotone_constraints, expected 3", "1 2 0": `found "2" among monotone_constraints, expected -1, 0 or 1`} {
		if _, _, err := Read([]byte(stated(signs)), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, expected %s", signs, err, want)
		}
	}
}

// Claim: a note names interaction constraints, which a model does not keep, where the file states some.
func TestLightGBMInteractions(t *testing.T) {
	for stated, want := range map[string]bool{" ": false, " [0,1],[2]": true} {
		text := lgbmText + "\nparameters:\n[interaction_constraints:" + stated + "]\nend of parameters\n"
		_, notes, err := Read([]byte(text), ReadOptions{})
		if got := strings.Contains(strings.Join(notes, "\n"), "interaction_constraints"); err != nil || got != want {
			t.Errorf("%q: %v, notes %q", stated, err, notes)
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
	for _, lists := range []string{"[[0, 1, 2]]", "[[0.5, -1, 1]]", `[["a", "b", "1"]]`, `[["3", "1", "2"]]`} {
		f.Add([]byte(strings.Replace(lgbmText, "pandas_categorical:null", "pandas_categorical:"+lists, 1)))
	}
	fuzzReader(f, "lightgbm")
}
