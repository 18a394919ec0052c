package interchange

import (
	"strings"
	"testing"
)

// Claim: a file that lacks a part whose number it states is refused, whichever format states it.
func TestIncomplete(t *testing.T) {
	const xgboostTrees = `"gradient_booster": {"name": "gbtree", "model": {"gbtree_model_param": {"num_trees": "2"}, "tree_info": [0, 0], "iteration_indptr": [0, 1, 2], "trees": [TREE, TREE]}}`
	const xgboostTree = `{"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0], "split_conditions": [0.5, 1, 2], "default_left": [0, 0, 0], "tree_param": {"num_nodes": "3", "num_feature": "2", "size_leaf_vector": "1"}}`
	whole := strings.ReplaceAll(`{"learner": {"feature_names": [], "feature_types": ["float", "float"], `+xgboostTrees+`, "learner_model_param": {"base_score": "0.5", "num_class": "0", "num_feature": "2"}, "objective": {"name": "rank:ndcg"}}}`, "TREE", xgboostTree)
	catboost := strings.Replace(cbText, `"leaf_values": [1, 2, 3, 4],`, `"leaf_values": [1, 2, 3, 4], "leaf_weights": [1, 1, 1, 1],`, 1)
	forest := "## Random Forests\n## No. of bags = 2\n## No. of trees = 1\n" + strings.Join(strings.Split(lambdaMART, "\n")[3:], "\n") + strings.Join(strings.Split(lambdaMART, "\n")[3:], "\n")
	start, end := strings.Index(lambdaMART, "<tree"), strings.Index(lambdaMART, "</ensemble>")
	twoTrees := strings.Replace(lambdaMART[:end]+lambdaMART[start:], "trees = 1", "trees = 2", 1)
	named := "## RankBoost\n## Feature 1 = \"a\"\n## Feature 2 = \"b\"\n1:0.5:2 2:-1:3"
	stated := strings.Replace(rankNet, "## Epochs = 1", "## No. of features = 2", 1)
	scikitStated := strings.Replace(scikit, "{", `{"n_features_in_": 2, `, 1)
	treeless, _, _ := strings.Cut(cbText, `"oblivious_trees"`)
	frame := frameText(t, "null", "shrinkage=0.1", "leaf_weight=1 2 3 4\nshrinkage=0.1")
	for _, c := range []struct{ name, text, from, to, want string }{
		{"xgboost: save_config", whole, xgboostOf(t, whole, `"gradient_booster": {`, `, "learner_model_param"`), `"gradient_booster": {"name": "gbtree", "gbtree_model_param": {"num_trees": "2"}, "specified_updater": false}`, `found no "trees", expected a list of them: save_model writes a model, save_config only its configuration`},
		{"xgboost: fewer trees", whole, ", " + xgboostTree + "]", "]", `found 1 "trees", expected 2, as "num_trees" says`},
		{"xgboost: no trees", whole, `"trees": [` + xgboostTree + ", " + xgboostTree + "]", `"trees": []`, `found 0 "trees", expected 2`},
		{"xgboost: tree_info", whole, `"tree_info": [0, 0]`, `"tree_info": [0]`, `found 1 "tree_info", expected 2`},
		{"xgboost: iterations", whole, `[0, 1, 2]`, `[0, 1, 2, 3]`, `found 2 trees, expected 3, as the end of "iteration_indptr" says`},
		{"xgboost: nodes", whole, `"num_nodes": "3"`, `"num_nodes": "5"`, `found 3 nodes, expected 5, as "num_nodes" says`},
		{"xgboost: features of a tree", whole, `"num_nodes": "3", "num_feature": "2"`, `"num_nodes": "3", "num_feature": "7"`, "found a tree of 7 features, expected 2"},
		{"xgboost: types", whole, `["float", "float"]`, `["float"]`, `found 1 "feature_types", expected 2`},
		{"catboost: no trees", treeless + `"scale_and_bias": [1, [0]]}`, "", "", `found neither "oblivious_trees" nor "trees"`},
		{"catboost: weights", catboost, `[1, 1, 1, 1]`, `[1, 1]`, "found 2 leaf_weights, expected 4"},
		{"lightgbm: a tree in the middle", frame, "Tree=1", "Tree=2", "found Tree=2, expected Tree=1: the file is not whole"},
		{"lightgbm: weights", frame, "leaf_weight=1 2 3 4", "leaf_weight=1 2 3", "found 3 numbers of leaf_weight, expected 4"},
		{"lightgbm: parameters", frame + "\nparameters:\n[objective: lambdarank]\nend of parameters\n", "\nend of parameters", "", `found no line "end of parameters": the file is not whole`},
		{"ranklib: bags", forest, "bags = 2", "bags = 3", "found 2 ensembles, expected 3"},
		{"ranklib: trees", twoTrees, "trees = 2", "trees = 1", "found 2 trees, expected at most 1"},
		{"ranklib: names", named, "## Feature 2 = \"b\"\n", "", "found the names of 1 features, expected those of 2"},
		{"ranklib: features of a network", stated, "features = 2", "features = 3", "found 2 features, expected 3"},
		{"svmlight: features", svmLight, "3 # highest", "1 # highest", "found feature 2, expected at most 1"},
		{"liblinear: labels", libLinear, "label 1 -1", "label 1", "found 1 labels, expected 2, as nr_class says"},
		{"sklearn: features", scikitStated, `"n_features_in_": 2`, `"n_features_in_": 3`, `found 2 coefficients, expected 3, as "n_features_in_" says`},
	} {
		if c.from != "" {
			if _, _, err := Read([]byte(c.text), ReadOptions{}); err != nil {
				t.Errorf("%s: the whole file: %v", c.name, err)
			}
			if !strings.Contains(c.text, c.from) {
				t.Errorf("%s: the file has no %q", c.name, c.from)
			}
		}
		_, _, err := Read([]byte(strings.Replace(c.text, c.from, c.to, 1)), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, expected %q", c.name, err, c.want)
		}
	}
}

// xgboostOf returns what stands between two texts, with the first.
func xgboostOf(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	between, _, ended := strings.Cut(rest, to)
	if !ok || !ended {
		t.Fatalf("the file has no %q", from)
	}
	return from + between
}

// Claim: names of features that are not UTF-8 are an error in every format, so that distinct names
// never become one.
func TestNamesAreUTF8(t *testing.T) {
	for name, text := range map[string]string{
		"lightgbm":         strings.Replace(lgbmText, "=a b c", "=a\xff a\xfe c", 1),
		"xgboost":          strings.Replace(xgbText, `"learner": {`, `"learner": {"feature_names": ["a`+"\xff"+`", "b"], `, 1),
		"xgboost, escaped": strings.Replace(xgbText, `"learner": {`, `"learner": {"feature_names": ["a\ud800", "a\ud801"], `, 1),
		"catboost":         strings.Replace(cbText, `"feature_id": "a"`, `"feature_id": "a`+"\xff"+`"`, 1),
		"solr":             strings.ReplaceAll(solrLinear, `"a"`, `"a`+"\xff"+`"`),
		"elasticsearch":    strings.Replace(elasticModelText, `"a"`, `"a`+"\xff"+`"`, 1),
		"ranklib":          "## RankBoost\n## Feature 1 = \"a\\xff\"\n## Feature 2 = \"a\\xfe\"\n1:0.5:2 2:-1:3",
		"sklearn":          strings.Replace(scikit, `"a"`, `"\udc00"`, 1),
	} {
		_, _, err := Read([]byte(text), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), "not UTF-8") && !strings.Contains(err.Error(), "half of a surrogate pair") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if _, _, err := Read([]byte(lgbmText), ReadOptions{Names: []string{"a", "b\xff", "c"}}); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("names given: the error is %v", err)
	}
	m, _, err := Read([]byte(lgbmText), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if !f.Writes {
			continue
		}
		if _, err := Write(new(strings.Builder), m, f.Name, WriteOptions{Names: []string{"a", "b\xff", "c"}}); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
			t.Errorf("%s written: the error is %v", f.Name, err)
		}
	}
}

// Claim: XGBoost's categories of a data frame, texts as bytes and numbers, map values to codes; what
// the lists state is checked. By hand, as XGBoost 3.4 writes them.
func TestXGBoostFrame(t *testing.T) {
	// Code 1 of feature 0 goes right (its set), all else left.
	tree := `{"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0], "split_conditions": [0, 1, 2], "default_left": [1, 0, 0], "split_type": [1, 0, 0], "categories": [1], "categories_nodes": [0], "categories_segments": [0], "categories_sizes": [1]}`
	file := func(cats string) string {
		return `{"learner": {"feature_names": ["c", "x"], "gradient_booster": {"name": "gbtree", "model": {"cats": ` + cats + `, "trees": [` + tree + `]}}, "learner_model_param": {"base_score": "[0]", "num_feature": "2"}, "objective": {"name": "rank:ndcg"}}}`
	}
	const none = `{"offsets": [], "values": []}`
	for _, c := range []struct {
		cats    string
		left    float32
		right   float32
		unknown float32
	}{
		{`{"enc": [{"type": 15, "values": [30, 10]}, ` + none + `], "feature_segments": [0, 2, 2], "sorted_idx": [1, 0]}`, 30, 10, 0},
		{`{"enc": [{"offsets": [0, 3, 5], "values": [116, 97, 110, -61, -92]}, ` + none + `], "feature_segments": [0, 2, 2]}`, 0, 1, 2},
		{`{"enc": [], "feature_segments": [], "sorted_idx": []}`, 0, 1, -1},
	} {
		typed := strings.Replace(file(c.cats), `"feature_names"`, `"feature_types": ["c", "float"], "feature_names"`, 1)
		m, notes, err := Read([]byte(typed), ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.cats, err)
			continue
		}
		if noted := strings.Contains(strings.Join(notes, "\n"), "data have their codes"); noted != (m.Categories == nil) {
			t.Errorf("%s: the notes are %q", c.cats, notes)
		}
		if strings.Contains(c.cats, "116") && m.Categories[0].String() != `"tan", "ä"` {
			t.Errorf("the categories are %s", m.Categories[0])
		}
		for v, want := range map[float32]float64{c.left: 1, c.right: 2} {
			if got, err := scoreOf(t, m, v, 0); err != nil || got != want {
				t.Errorf("%s: the score of %v is %v, %v, expected %v", c.cats, v, got, err, want)
			}
		}
		if got, err := scoreOf(t, m, c.unknown, 0); m.Categories != nil && err == nil {
			t.Errorf("%s: the score of %v is %v, expected an error", c.cats, c.unknown, got)
		}
	}
	for cats, want := range map[string]string{
		`{"enc": [` + none + `]}`: `found 1 "enc"`,
		`{"enc": [{"type": 15, "values": [30, 10]}, ` + none + `], "feature_segments": [0, 3, 3]}`:                 "found 2 categories of feature 1, expected 3",
		`{"enc": [{"offsets": [0, 3, 9], "values": [116, 97, 110]}, ` + none + `], "feature_segments": [0, 2, 2]}`: "found 3 bytes of texts, expected them to end at 9",
		`{"enc": [{"offsets": [0, 1, 2], "values": [-1, -2]}, ` + none + `], "feature_segments": [0, 2, 2]}`:       "not UTF-8, expected text in UTF-8 (XGBoost's Python package cuts categories",
	} {
		if _, _, err := Read([]byte(file(cats)), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, expected %q", cats, err, want)
		}
	}
}

// Claim: names of CatBoost's features go to their columns when columns of categories, texts or
// embeddings stand before and among those of numbers; any value of these does. Columns that CatBoost
// was told to ignore have no names and are left out.
func TestCatBoostNames(t *testing.T) {
	const numbers = `"flat_feature_index": 0, "nan_value_treatment": "AsFalse"},
{"borders": [-1, 2], "feature_id": "b", "feature_index": 1, "flat_feature_index": 1,`
	for _, c := range []struct{ a, b, others, names string }{
		{"0", "1", "", "a,b"},
		{"1", "3", `, "categorical_features": [{"feature_id": "colour", "feature_index": 0, "flat_feature_index": 0}], "text_features": [{"feature_id": "title", "feature_index": 0, "flat_feature_index": 2}], "embedding_features": [{"feature_id": "e", "feature_index": 0, "flat_feature_index": 4}]`, "colour,a,title,b,e"},
		{"2", "4", `, "categorical_features": [{"feature_id": "colour", "feature_index": 0, "flat_feature_index": 3}]`, "a,colour,b"},
		{"1", "0", "", "b,a"},
	} {
		text := strings.Replace(cbText, numbers, strings.NewReplacer("index\": 0, \"nan", "index\": "+c.a+", \"nan", "flat_feature_index\": 1", "flat_feature_index\": "+c.b).Replace(numbers), 1)
		text = strings.Replace(text, `"AsTrue"}]`, `"AsTrue"}]`+c.others, 1)
		m, _, err := Read([]byte(text), ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.names, err)
			continue
		}
		if got := strings.Join(m.FeatureNames, ","); got != c.names {
			t.Errorf("the names are %s, expected %s", got, c.names)
		}
		// As in TestCatBoostRules: a = 0.75 and b = 3 give the leaves 4 and 20.
		x := make([]float32, len(m.FeatureNames))
		for j, name := range m.FeatureNames {
			x[j] = map[string]float32{"a": 0.75, "b": 3, "colour": 17.5, "title": -1, "e": 1e9}[name]
		}
		if got, err := scoreOf(t, m, x...); err != nil || got != 2*24+0.25 {
			t.Errorf("%s: the score is %v, %v, expected 48.25", c.names, got, err)
		}
	}
	text := strings.Replace(cbText, `"AsTrue"}]`, `"AsTrue"}], "categorical_features": [{"feature_id": "c", "flat_feature_index": 1}]`, 1)
	if _, _, err := Read([]byte(text), ReadOptions{}); err == nil || !strings.Contains(err.Error(), `found feature "c" in column 1`) {
		t.Errorf("two features in one column: %v", err)
	}
}
