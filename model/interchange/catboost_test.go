package interchange

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: a CatBoost file of any model of trees whose missing values go one way a feature gives the
// same scores when it is read back, to the bit but for the order of additions.
func TestCatBoostRoundTrip(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		m := drawTrees(t, rng, drawing{false, seed%2 == 1, dataset.MissingError})
		if seed%4 == 0 {
			m = oneWay(t, rng, m)
		}
		back := checkRoundTrip(t, m, drawDocuments(rng, m, 60), "catboost", 1e-14, WriteOptions{}, ReadOptions{})
		if !slices.Equal(back.FeatureNames, m.FeatureNames) {
			t.Fatalf("the names are %q, expected %q", back.FeatureNames, m.FeatureNames)
		}
	}
}

// oneWay returns the model with missing values that go one way a feature.
func oneWay(t *testing.T, rng *rand.Rand, m *model.Model) *model.Model {
	t.Helper()
	left := make([]bool, m.Scorer.NumFeatures())
	for j := range left {
		left[j] = rng.IntN(2) == 0
	}
	trees := m.Scorer.(*scorer.Trees).Trees()
	for _, nodes := range trees {
		for i := range nodes {
			nodes[i].MissingLeft = left[nodes[i].Feature]
		}
	}
	s, err := scorer.NewTrees(len(left), trees)
	if err != nil {
		t.Fatal(err)
	}
	m.Scorer, m.Missing = s, dataset.MissingKeep
	return m
}

// Claim: what CatBoost has no place for is refused.
func TestCatBoostRefusals(t *testing.T) {
	write := func(missing dataset.Missing, nodes ...scorer.TreeNode) error {
		var trees [][]scorer.TreeNode
		for _, n := range nodes {
			n.Left, n.Right = -1, -2
			trees = append(trees, []scorer.TreeNode{n})
		}
		s, err := scorer.NewTrees(2, trees)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Write(new(strings.Builder), &model.Model{Scorer: s, Params: make([]float64, 2*len(nodes)), Missing: missing}, "catboost", WriteOptions{})
		return err
	}
	left, right := scorer.TreeNode{Threshold: 1, MissingLeft: true}, scorer.TreeNode{Threshold: 2}
	if err := write(dataset.MissingKeep, left, right); err == nil || !strings.Contains(err.Error(), "CatBoost has one a feature") {
		t.Errorf("the error about missing values that go two ways is %v", err)
	}
	if err := write(dataset.MissingError, scorer.TreeNode{Threshold: 1}, scorer.TreeNode{Threshold: -1}); err != nil {
		t.Errorf("without missing values there is the error %v", err)
	}
	if err := write(dataset.MissingKeep, scorer.TreeNode{Categories: []float32{1}}); err == nil || !strings.Contains(err.Error(), "found categories of feature 1") {
		t.Errorf("the error about categories is %v", err)
	}
}

const cbText = `{"features_info": {"float_features": [
{"borders": [0.5], "feature_id": "a", "feature_index": 0, "flat_feature_index": 0, "nan_value_treatment": "AsFalse"},
{"borders": [-1, 2], "feature_id": "b", "feature_index": 1, "flat_feature_index": 1, "nan_value_treatment": "AsTrue"}]},
"oblivious_trees": [{"leaf_values": [1, 2, 3, 4],
"splits": [{"border": 0.5, "float_feature_index": 0, "split_type": "FloatFeature"},
{"border": 2, "float_feature_index": 1, "split_type": "FloatFeature"}]}],
"trees": [{"left": {"value": 10}, "right": {"value": 20},
"split": {"border": -1, "float_feature_index": 1, "split_type": "FloatFeature"}}],
"scale_and_bias": [2, [0.25]]}
`

// Claim: CatBoost's rules, by hand: what is above the border is a bit of the leaf's number, the first
// split the lowest; missing values by feature; scale and bias.
func TestCatBoostRules(t *testing.T) {
	m, _, err := Read([]byte(cbText), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(nan64)
	got, err := m.Score(datasetOf([]float32{0.5, 2, 0.50000006, 2, 0, 2.0000002, 1, 3, nan, nan, 0, -1}, 2))
	if want := []float64{2*21 + 0.25, 2*22 + 0.25, 2*23 + 0.25, 2*24 + 0.25, 2*23 + 0.25, 2*11 + 0.25}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the scores are %v, %v, expected %v", got, err, want)
	}
}

// Claim: every malformed file is an error that says what was found and what was expected.
func TestCatBoostErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`[1, 2, 3, 4]`, `[1, 2, 3, 4, 5, 6, 7, 8]`, "model: tree 0: found 8 leaf_values for 2 splits, expected 2 to the power of the latter: one score a document"},
		{`[2, [0.25]]`, `[2, [0.25, 1]]`, `model:9: found [2, [0.25, 1]] as "scale_and_bias", expected a number and a list of one: one score a document`},
		{`[2, [0.25]]`, `2`, `model:9: found 2 as "scale_and_bias", expected a number and a list of one: one score a document`},
		{`[2, [0.25]]`, `[1e999, [0.25]]`, `model:9: found [1e999, [0.25]] as "scale_and_bias", expected a number and a list of one: one score a document`},
		{`"AsTrue"`, `"AsFriend"`, `model:3: found "nan_value_treatment" "AsFriend" of feature 1, expected AsIs, AsFalse or AsTrue`},
		{`"feature_index": 1`, `"feature_index": 0`, "model:3: found feature 0 in column 1, expected each feature once, in a column from 0 on"},
		{`"flat_feature_index": 1`, `"flat_feature_index": -1`, "model:3: found feature 1 in column -1, expected each feature once, in a column from 0 on"},
		{`"float_feature_index": 0`, `"float_feature_index": 2`, `model:5: tree 0: found the "float_feature_index" 2, expected one of the float_features`},
		{`"float_feature_index": 0, "split_type": "FloatFeature"`, `"cat_feature_index": 0, "split_type": "OneHotFeature"`, `model:5: tree 0: found the "split_type" "OneHotFeature", expected FloatFeature: splits by categories, text and embeddings are not read`},
		{`"border": 0.5`, `"border": "x"`, `model:5: tree 0: found "x" as "border", expected a number`},
		{`{"value": 10}`, `{"value": [10, 1]}`, `model:7: tree 0: found [10, 1] as "value" of a leaf, expected a number: one score a document`},
		{`"left": {"value": 10}, `, ``, `model:7: tree 0: found a split without "left" or "right", expected both`},
		{`{"value": 10}`, `7`, "model:7: tree 0: found 7 as a node, expected an object"},
	} {
		if !strings.Contains(cbText, c.from) {
			t.Fatalf("the file has no %q", c.from)
		}
		_, _, err := Read([]byte(strings.Replace(cbText, c.from, c.to, 1)), ReadOptions{})
		if file := (*model.FileError)(nil); !errors.As(err, &file) || err.Error() != c.want {
			t.Errorf("%s: the error is\n%v, expected\n%s", c.to, err, c.want)
		}
	}
}

// Claim: any bytes are read or refused, and what is read can be scored and written again.
func FuzzCatBoost(f *testing.F) {
	f.Add([]byte(cbText))
	fuzzReader(f, "catboost")
}
