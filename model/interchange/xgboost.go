package interchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// xgboost is the format of XGBoost's save_model since version 1.0: JSON, or the same structure in
// UBJSON.
var xgboost = format{
	name: "xgboost", title: "XGBoost JSON and UBJSON of save_model (UBJSON: import only)",
	is:   func(head []byte) bool { return isUBJSON(head) || firstKey(head) == "learner" },
	read: readXGBoost, write: writeXGBoost,
}

// isUBJSON reports whether a file is an object in UBJSON, in which the type of a length follows the
// opening brace.
func isUBJSON(head []byte) bool {
	return len(head) > 2 && head[0] == '{' && strings.IndexByte("iUIlL", head[1]) >= 0
}

// firstKey returns the first key of a JSON object, or "".
func firstKey(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	t, _ := d.Token()
	key, _ := t.(string)
	return key
}

// xgbFile contains the keys of a file that scoring depends on.
type xgbFile struct {
	Learner struct {
		Attributes struct {
			Best string `json:"best_iteration"`
		} `json:"attributes"`
		FeatureNames []string   `json:"feature_names"`
		FeatureTypes []string   `json:"feature_types"`
		Booster      xgbBooster `json:"gradient_booster"`
		Param        struct {
			BaseScore  strictjson.Value `json:"base_score"`
			NumClass   strictjson.Value `json:"num_class"`
			NumFeature strictjson.Value `json:"num_feature"`
			NumTarget  strictjson.Value `json:"num_target"`
		} `json:"learner_model_param"`
		Objective struct {
			Name string `json:"name"`
		} `json:"objective"`
	} `json:"learner"`
}

type xgbBooster struct {
	Name   string   `json:"name"`
	Model  xgbModel `json:"model"`
	GBTree struct {
		Model xgbModel `json:"model"`
	} `json:"gbtree"` // of the booster dart, before 3.4
	WeightDrop strictjson.Numbers `json:"weight_drop"` // of the booster dart, before 3.4
}

type xgbModel struct {
	Trees      []xgbTree          `json:"trees"`
	WeightDrop strictjson.Numbers `json:"weight_drop"`
	Weights    strictjson.Value   `json:"weights"` // of the booster gblinear
	Cats       xgbCats            `json:"cats"`
	Param      struct {
		Trees strictjson.Value `json:"num_trees"`
	} `json:"gbtree_model_param"`
	Info strictjson.Integers `json:"tree_info"`        // class of each tree
	Ends strictjson.Integers `json:"iteration_indptr"` // number of trees up to the end of each iteration
}

// xgbCats contains the categories of the data frame from which a model learned. Enc has an element
// for each feature. Values of an element are the bytes of the categories' texts, one text after the
// other, or the categories if they are numbers. Files of versions before 3.1 do not have this part.
type xgbCats struct {
	Enc []struct {
		Offsets strictjson.Integers `json:"offsets"` // of texts: where each begins, and the end
		Type    strictjson.Value    `json:"type"`    // of numbers
		Values  strictjson.Value    `json:"values"`
	} `json:"enc"`
	Ends strictjson.Integers `json:"feature_segments"` // number of categories before each feature, and the total
}

// xgbTree is a tree as lists with an element for each node. The value of a leaf is its split_condition.
type xgbTree struct {
	Left       strictjson.Integers `json:"left_children"`
	Right      strictjson.Integers `json:"right_children"`
	Feature    strictjson.Integers `json:"split_indices"`
	Condition  strictjson.Value    `json:"split_conditions"`
	Default    strictjson.Value    `json:"default_left"` // 0 and 1, or false and true
	Type       strictjson.Integers `json:"split_type"`   // 1 for categories; missing before version 1.3
	Categories strictjson.Integers `json:"categories"`
	Nodes      strictjson.Integers `json:"categories_nodes"`
	Segments   strictjson.Integers `json:"categories_segments"`
	Sizes      strictjson.Integers `json:"categories_sizes"`
	Param      struct {
		Vector   strictjson.Value `json:"size_leaf_vector"`
		Nodes    strictjson.Value `json:"num_nodes"`
		Features strictjson.Value `json:"num_feature"`
	} `json:"tree_param"`
}

func readXGBoost(data []byte, o ReadOptions) (*model.Model, []string, error) {
	text, binary := data, isUBJSON(data)
	if binary {
		var err error
		if text, err = fromUBJSON(data); err != nil {
			return nil, nil, &model.FileError{File: o.File, Err: err}
		}
	}
	m, notes, err := readXGBoostJSON(finiteJSON(text), o)
	if err != nil && binary { // UBJSON has no lines
		return nil, nil, &model.FileError{File: o.File, Err: model.Locate(o.File, text, err).Err}
	}
	return m, notes, err
}

// finiteJSON makes valid JSON of text. XGBoost writes the words Infinity and NaN, which JSON does
// not have. finiteJSON replaces Infinity by a number out of the range of float64, and NaN by null.
func finiteJSON(text []byte) []byte {
	if !bytes.Contains(text, []byte("Infinity")) && !bytes.Contains(text, []byte("NaN")) {
		return text
	}
	out := make([]byte, 0, len(text))
	quoted := false
	for at := 0; at < len(text); {
		rest, n := text[at:], 1
		switch {
		case !quoted && bytes.HasPrefix(rest, []byte("Infinity")):
			out = append(out, "1e999"...)
			at += len("Infinity")
			continue
		case !quoted && bytes.HasPrefix(rest, []byte("NaN")):
			out = append(out, "null"...)
			at += len("NaN")
			continue
		case quoted && rest[0] == '\\' && len(rest) > 1:
			n = 2
		case rest[0] == '"':
			quoted = !quoted
		}
		out = append(out, rest[:n]...)
		at += n
	}
	return out
}

func readXGBoostJSON(text []byte, o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	var f xgbFile
	check(decodeJSON(text, &f))
	l := &f.Learner
	features := must(f.size())
	base, notes := must2(f.base())
	names := l.FeatureNames
	if len(names) > 0 && len(names) != features {
		return nil, nil, fmt.Errorf(`found %d "feature_names", expected %d`, len(names), features)
	}
	if n := len(l.FeatureTypes); n > 0 && n != features {
		return nil, nil, fmt.Errorf(`found %d "feature_types", expected %d`, n, features)
	}
	if len(names) == 0 {
		names = nil
	}
	hyperparameters := map[string]any{"objective": l.Objective.Name}
	if l.Booster.Name == "gblinear" {
		m, err := f.linear(features, base, names, hyperparameters)
		return m, notes, err
	}
	e := &ensemble{features: features, names: names, constant: base}
	check(f.addTrees(e))
	if best := l.Attributes.Best; best != "" {
		notes = append(notes, fmt.Sprintf("the best iteration was %.20s; all %d trees are used, as Booster.predict does", best, len(e.trees)))
	}
	notes = append(notes, e.categoryNotes()...)
	if e.categories == nil && slices.Contains(l.FeatureTypes, "c") {
		notes = append(notes, "the file does not keep the values of categories, as versions of XGBoost before 3.1 do not: data have their codes")
	}
	more := must(e.number(o, names == nil, false))
	m, err := e.model("xgboost", hyperparameters)
	return m, append(notes, more...), err
}

// decodeJSON decodes an object into a struct. It accepts only valid JSON without repeated keys.
func decodeJSON(text []byte, into any) (err error) {
	defer catch(&err)
	check(strictjson.Check(text))
	o := must(strictjson.Members(strictjson.Whole(text)))
	return o.Decode(into)
}

// wholeOf returns the whole number v, which may be in quotes. If v is missing, it returns
// otherwise.
func wholeOf(v strictjson.Value, name string, otherwise int) (int, error) {
	if v.Text == nil {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.Trim(string(v.Text), `"`))
	if err != nil {
		return 0, wrong(v, "found %.40s as %q, expected a whole number", v.Text, name)
	}
	return n, nil
}

// size returns the number of features. It returns an error if a document has several scores.
func (f *xgbFile) size() (_ int, err error) {
	defer catch(&err)
	p := &f.Learner.Param
	classes := must(wholeOf(p.NumClass, "num_class", 0))
	targets := must(wholeOf(p.NumTarget, "num_target", 1))
	if classes > 1 || targets > 1 {
		return 0, fmt.Errorf(`found "num_class" %d and "num_target" %d, expected one score a document`, classes, targets)
	}
	features, err := wholeOf(p.NumFeature, "num_feature", 0)
	if err == nil && (features < 1 || features > math.MaxInt32) {
		err = wrong(p.NumFeature, `found "num_feature" %d, expected the number of features`, features)
	}
	return features, err
}

// base returns the constant to add to the sum of the trees: base_score, transformed to the scale of
// the scores by the inverse of the objective's link.
func (f *xgbFile) base() (float64, []string, error) {
	v := f.Learner.Param.BaseScore
	text := strings.Trim(string(v.Text), `"[] `)
	b := 0.5 // versions without base_score
	if text != "" {
		x, err := strconv.ParseFloat(text, 32)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return 0, nil, wrong(v, `found %.40s as "base_score", expected one finite number`, v.Text)
		}
		b = x
	}
	name := f.Learner.Objective.Name
	var notes []string
	link := func(what string) {
		notes = append(notes, fmt.Sprintf("the scores are those before the %s of the objective %s (output_margin), which keeps their order", what, name))
	}
	switch {
	case name == "binary:logistic" || name == "reg:logistic":
		link("logistic function")
		b = logit(b)
	case slices.Contains([]string{"count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"}, name):
		link("exponential")
		b = float64(float32(elementary.Log(b)))
	case name == "binary:hinge":
		link("step")
	}
	if math.IsNaN(b) || math.IsInf(b, 0) {
		return 0, nil, wrong(v, `found %.40s as "base_score" of the objective %q, expected one that has a link`, v.Text, name)
	}
	return b, notes, nil
}

// logit computes log(p/(1 − p)) in float32, as XGBoost does.
func logit(p float64) float64 {
	return float64(float32(-elementary.Log(float64(float32(1/p - 1)))))
}

// addTrees adds the trees to e, multiplied by the weights of the booster dart.
func (f *xgbFile) addTrees(e *ensemble) (err error) {
	defer catch(&err)
	b := &f.Learner.Booster
	m, weights := &b.Model, b.Model.WeightDrop
	switch {
	case b.Name == "dart" && b.GBTree.Model.Trees != nil:
		m, weights = &b.GBTree.Model, b.WeightDrop
	case b.Name != "gbtree" && b.Name != "dart":
		return fmt.Errorf(`found the booster %.40q, expected "gbtree", "dart" or "gblinear"`, b.Name)
	}
	if weights != nil && len(weights) != len(m.Trees) {
		return fmt.Errorf(`found %d "weight_drop", expected %d, one a tree`, len(weights), len(m.Trees))
	}
	check(m.checkCounts())

	e.categories = must(m.Cats.read(e.features))
	for k := range m.Trees {
		t, err := m.Trees[k].tree(e.features)
		if err != nil {
			return fmt.Errorf("tree %d: %w", k, err)
		}
		for i := range t.values {
			if weights != nil {
				t.values[i] *= float64(float32(weights[k]))
			}
		}
		e.trees = append(e.trees, t)
	}
	return nil
}

// checkCounts returns an error if the number of trees differs from the numbers stated in the file.
func (m *xgbModel) checkCounts() error {
	n := len(m.Trees)
	if m.Trees == nil {
		return errors.New(`found no "trees", expected a list of them: save_model writes a model, save_config only its configuration`)
	}
	stated, err := wholeOf(m.Param.Trees, "num_trees", n)
	switch {
	case err != nil:
		return err
	case stated != n:
		return wrong(m.Param.Trees, `found %d "trees", expected %d, as "num_trees" says: the file is not whole`, n, stated)
	case m.Info != nil && len(m.Info) != n:
		return fmt.Errorf(`found %d "tree_info", expected %d, one a tree`, len(m.Info), n)
	case len(m.Ends) > 0 && m.Ends[len(m.Ends)-1] != n:
		return fmt.Errorf(`found %d trees, expected %d, as the end of "iteration_indptr" says: the file is not whole`, n, m.Ends[len(m.Ends)-1])
	}
	return nil
}

// read returns the categories of the features, nil if there are none.
func (c *xgbCats) read(features int) ([]*dataset.Categories, error) {
	if len(c.Enc) == 0 {
		return nil, nil
	}
	if len(c.Enc) != features || c.Ends != nil && len(c.Ends) != features+1 {
		return nil, fmt.Errorf(`found %d "enc" and %d "feature_segments" in "cats", expected %d and %d`, len(c.Enc), len(c.Ends), features, features+1)
	}
	all := make([]*dataset.Categories, features)
	some := false
	for j := range c.Enc {
		n, err := c.feature(j, all)
		if err != nil {
			return nil, fmt.Errorf("categories of feature %d: %w", j+1, err)
		}
		if c.Ends != nil && c.Ends[j+1]-c.Ends[j] != n {
			return nil, fmt.Errorf(`found %d categories of feature %d, expected %d, as "feature_segments" says`, n, j+1, c.Ends[j+1]-c.Ends[j])
		}
		some = some || n > 0
	}
	if !some {
		return nil, nil
	}
	return all, nil
}

// feature sets all[j] to the categories of feature j and returns their number.
func (c *xgbCats) feature(j int, all []*dataset.Categories) (n int, err error) {
	defer catch(&err)
	enc := &c.Enc[j]
	if enc.Type.Text != nil {
		numbers, err := numbersOf(enc.Values, `"values"`)
		if err != nil || len(numbers) == 0 {
			return 0, err
		}
		all[j], err = dataset.NewNumberCategories(numbers)
		return len(numbers), inCategories(enc.Values, err)
	}
	if len(enc.Offsets) < 2 {
		return 0, nil
	}
	numbers := must(numbersOf(enc.Values, `"values"`))
	text := make([]byte, len(numbers))
	for i, v := range numbers {
		text[i] = byte(int(v)) // some versions write signed bytes
	}
	if last := enc.Offsets[len(enc.Offsets)-1]; enc.Offsets[0] != 0 || !slices.IsSorted(enc.Offsets) || last != len(text) {
		return 0, wrong(enc.Values, "found %d bytes of texts, expected them to end at %d, and ascending offsets from 0 on", len(text), last)
	}
	texts := make([]string, len(enc.Offsets)-1)
	for i := range texts {
		if texts[i] = string(text[enc.Offsets[i]:enc.Offsets[i+1]]); !utf8.ValidString(texts[i]) {
			return 0, wrong(enc.Values, "found the category %q, which is not UTF-8, expected text in UTF-8 (XGBoost's Python package cuts categories of pandas that are not ASCII: train on ones in ASCII)", texts[i])
		}
	}
	all[j], err = dataset.NewTextCategories(texts)
	return len(texts), inCategories(enc.Values, err)
}

// linear returns the model of the booster gblinear, which has a weight for each feature and a bias.
func (f *xgbFile) linear(features int, base float64, names []string, hyperparameters map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	v := f.Learner.Booster.Model.Weights
	w := must(singles(v, "weights"))
	if len(w) != features+1 {
		return nil, wrong(v, "found %d weights, expected %d: one a feature and a bias", len(w), features+1)
	}
	l := linear{names: names, constant: base + float64(w[features])}
	for _, x := range w[:features] {
		l.weights = append(l.weights, float64(x))
	}
	return l.model("xgboost", hyperparameters)
}

// listIn returns the elements of a list. A missing list is an error.
func listIn(v strictjson.Value, name string) ([]strictjson.Value, error) {
	switch {
	case v.Text == nil:
		return nil, fmt.Errorf("found no %q, expected a list", name)
	case v.Text[0] != '[':
		return nil, wrong(v, "found %.40s as %q, expected a list", v.Text, name)
	}
	return strictjson.Elements(v)
}

// singles reads a list of numbers as float32. Numbers may be infinite, and null becomes NaN.
func singles(v strictjson.Value, name string) (_ []float32, err error) {
	defer catch(&err)
	list := must(listIn(v, name))
	numbers := make([]float32, len(list))
	for i, e := range list {
		x, err := strconv.ParseFloat(string(e.Text), 32)
		switch {
		case string(e.Text) == "null":
			x = math.NaN()
		case errors.Is(err, strconv.ErrRange):
		case err != nil:
			return nil, wrong(e, "found %.40s in %q, expected a number", e.Text, name)
		}
		numbers[i] = float32(x)
	}
	return numbers, nil
}

// flags reads a list of 0 and 1, or of false and true.
func flags(v strictjson.Value, name string) (_ []bool, err error) {
	defer catch(&err)
	list := must(listIn(v, name))
	values := make([]bool, len(list))
	for i, e := range list {
		switch string(e.Text) {
		case "1", "true":
			values[i] = true
		case "0", "false":
		default:
			return nil, wrong(e, "found %.40s in %q, expected 0 or 1", e.Text, name)
		}
	}
	return values, nil
}

// tree returns the tree that the lists describe.
func (x *xgbTree) tree(features int) (_ tree, err error) {
	defer catch(&err)
	n := len(x.Left)
	vector := must(wholeOf(x.Param.Vector, "size_leaf_vector", 1))
	if vector > 1 {
		return tree{}, wrong(x.Param.Vector, `found "size_leaf_vector" %d, expected one value a leaf`, vector)
	}
	conditions := must(singles(x.Condition, "split_conditions"))
	left := must(flags(x.Default, "default_left"))
	if n == 0 || len(x.Right) != n || len(x.Feature) != n || len(conditions) != n || len(left) != n || x.Type != nil && len(x.Type) != n {
		return tree{}, fmt.Errorf("found %d right_children, %d split_indices, %d split_conditions, %d default_left and %d split_type, expected %d of each, as of left_children",
			len(x.Right), len(x.Feature), len(conditions), len(left), len(x.Type), n)
	}
	if stated, err := wholeOf(x.Param.Nodes, "num_nodes", n); err != nil || stated != n {
		return tree{}, cmp.Or(err, wrong(x.Param.Nodes, `found %d nodes, expected %d, as "num_nodes" says`, n, stated))
	}
	if stated, err := wholeOf(x.Param.Features, "num_feature", features); err != nil || stated != features {
		return tree{}, cmp.Or(err, wrong(x.Param.Features, `found a tree of %d features, expected %d, as the model has`, stated, features))
	}
	sets := must(x.sets())
	numbers, inner := numberNodes(x.Left)
	nodes, values := make([]scorer.TreeNode, 0, inner), make([]float64, 0, n-inner)
	for i := range n {
		if x.Left[i] < 0 {
			values = append(values, float64(conditions[i]))
			continue
		}
		node := must(x.node(i, numbers, features))
		divideXGBoost(&node, conditions[i], left[i], sets[i])
		if len(x.Type) > 0 && x.Type[i] == 1 && sets[i] == nil {
			return tree{}, fmt.Errorf("found no categories of node %d, expected some", i)
		}
		nodes = append(nodes, node)
	}
	return grow(nodes, values)
}

// numberNodes numbers inner nodes and leaves separately. numbers[i] is the index of node i among
// the inner nodes, or −1 − l if node i is leaf l. inner is the number of inner nodes.
func numberNodes(left []int) (numbers []int, inner int) {
	numbers = make([]int, len(left))
	for i, c := range left {
		if c < 0 {
			numbers[i] = -1 - (i - inner)
		} else {
			numbers[i] = inner
			inner++
		}
	}
	return numbers, inner
}

// node returns node i with its feature and children.
func (x *xgbTree) node(i int, numbers []int, features int) (scorer.TreeNode, error) {
	if x.Feature[i] < 0 || x.Feature[i] >= features {
		return scorer.TreeNode{}, fmt.Errorf(`found %d in "split_indices" of node %d, expected a feature from 0 to %d`, x.Feature[i], i, features-1)
	}
	for _, c := range [2]int{x.Left[i], x.Right[i]} {
		if c < 1 || c >= len(numbers) {
			return scorer.TreeNode{}, fmt.Errorf("found the child %d of node %d, expected one from 1 to %d", c, i, len(numbers)-1)
		}
	}
	return scorer.TreeNode{Feature: x.Feature[i], Left: numbers[x.Left[i]], Right: numbers[x.Right[i]]}, nil
}

// divideXGBoost sets the test of a node. Values of the feature below the condition go left. If set
// is not nil, it is a set of categories, and values outside the set go left.
func divideXGBoost(n *scorer.TreeNode, condition float32, missingLeft bool, set []float32) {
	if set != nil {
		n.Categories, n.MissingLeft = set, !missingLeft
		n.Left, n.Right = n.Right, n.Left
		return
	}
	n.Threshold, n.MissingLeft = before(condition), missingLeft
}

// before returns the largest float32 below x. For every float32 y, y < x is the same as y ≤ before(x).
func before(x float32) float32 { return math.Nextafter32(x, float32(math.Inf(-1))) }

// sets returns the categories of each node that has categories.
func (x *xgbTree) sets() (map[int][]float32, error) {
	if len(x.Nodes) != len(x.Segments) || len(x.Nodes) != len(x.Sizes) {
		return nil, fmt.Errorf("found %d categories_nodes, %d categories_segments and %d categories_sizes, expected as many of each", len(x.Nodes), len(x.Segments), len(x.Sizes))
	}
	sets, at := make(map[int][]float32, len(x.Nodes)), 0
	for k, node := range x.Nodes {
		from, size := x.Segments[k], x.Sizes[k]
		if from != at || size < 0 || size > len(x.Categories)-from || sets[node] != nil {
			return nil, fmt.Errorf("found %d categories from %d on for node %d, expected the segments of different nodes one after the other", size, from, node)
		}
		at += size
		set, err := categorySet(x.Categories[from : from+size])
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", node, err)
		}
		sets[node] = set
	}
	return sets, nil
}

// categorySet returns the categories in ascending order. The result is not nil.
func categorySet(numbers []int) ([]float32, error) {
	set := make([]float32, len(numbers))
	for i, c := range numbers {
		if c < 0 || c >= 1<<24 {
			return nil, fmt.Errorf("found the category %d, expected one from 0 to %d", c, 1<<24-1)
		}
		set[i] = float32(c)
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}
