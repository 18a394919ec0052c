package interchange

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// catboost is the format of CatBoost's save_model with format="json".
var catboost = format{
	name: "catboost", title: "CatBoost JSON",
	is: func(head []byte) bool {
		switch firstKey(head) {
		case "features_info", "oblivious_trees", "scale_and_bias":
			return true
		case "ctr_data", "model_info":
			text := string(head)
			return strings.Contains(text, `"features_info"`) || strings.Contains(text, `"catboost_version_info"`)
		}
		return false
	},
	read: readCatBoost, write: writeCatBoost,
}

// cbFile contains the keys of a file that scoring depends on.
type cbFile struct {
	Features struct {
		Float       []cbFeature `json:"float_features"`
		Categorical []cbFeature `json:"categorical_features"`
		Text        []cbFeature `json:"text_features"`
		Embedding   []cbFeature `json:"embedding_features"`
	} `json:"features_info"`
	Info struct {
		Params struct {
			Loss struct {
				Type string `json:"type"`
			} `json:"loss_function"`
		} `json:"params"`
	} `json:"model_info"`
	Oblivious []cbOblivious    `json:"oblivious_trees"`
	Trees     strictjson.Value `json:"trees"`
	Scale     strictjson.Value `json:"scale_and_bias"`
}

type cbFeature struct {
	ID      string           `json:"feature_id"`
	Index   strictjson.Value `json:"feature_index"`
	Flat    strictjson.Value `json:"flat_feature_index"`
	Missing string           `json:"nan_value_treatment"`
}

// cbOblivious is a tree with one split per level. The results of the splits are the bits of the leaf's
// index, the lowest bit first.
type cbOblivious struct {
	Splits  []cbSplit          `json:"splits"`
	Values  strictjson.Numbers `json:"leaf_values"`
	Weights strictjson.Numbers `json:"leaf_weights"`
}

type cbSplit struct {
	Type    string           `json:"split_type"`
	Feature strictjson.Value `json:"float_feature_index"`
	Border  strictjson.Value `json:"border"`
}

// cbReader is the state of reading a file.
type cbReader struct {
	columns map[int]int  // column of each numeric feature
	right   map[int]bool // whether missing values of a column go right
	names   []string
	width   int
	unused  []*dataset.Categories // by column, categories of the columns that are not numeric, which no tree may use
	notes   []string
	nodes   []scorer.TreeNode // of the current tree
	values  []float64
}

func readCatBoost(data []byte, o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	var f cbFile
	check(decodeJSON(data, &f))
	scale, bias := must2(f.scaleAndBias())
	r := cbReader{columns: map[int]int{}, right: map[int]bool{}}
	check(r.features(&f))
	e := &ensemble{features: r.width, names: r.names, categories: r.unused, constant: bias}
	check(r.trees(&f, e))
	for _, t := range e.trees {
		for i := range t.values {
			t.values[i] *= scale
		}
	}
	notes := must(e.number(o, r.names == nil, false))
	notes = append(append(notes, r.notes...), e.categoryNotes()...)
	if loss := f.Info.Params.Loss.Type; loss == "Logloss" || loss == "CrossEntropy" || loss == "Poisson" {
		notes = append(notes, fmt.Sprintf("the scores are those before the link of the loss %s (RawFormulaVal), which keeps their order", loss))
	}
	m, err := e.model("catboost", map[string]any{"loss": f.Info.Params.Loss.Type})
	return m, notes, err
}

// scaleAndBias returns the factor by which the sum of the trees is multiplied, and the constant to add.
func (f *cbFile) scaleAndBias() (scale, bias float64, err error) {
	if f.Scale.Text == nil {
		return 1, 0, nil
	}
	expected := wrong(f.Scale, `found %.60s as "scale_and_bias", expected a number and a list of one: one score a document`, f.Scale.Text)
	parts, err := strictjson.Elements(f.Scale)
	if err != nil || len(parts) != 2 {
		return 0, 0, expected
	}
	biases := []strictjson.Value{parts[1]}
	if parts[1].Text[0] == '[' {
		if biases, err = strictjson.Elements(parts[1]); err != nil || len(biases) > 1 {
			return 0, 0, expected
		}
	}
	if scale, err = parseReal(string(parts[0].Text)); err == nil && len(biases) == 1 {
		bias, err = parseReal(string(biases[0].Text))
	}
	if err != nil || math.IsInf(scale, 0) || math.IsInf(bias, 0) {
		return 0, 0, expected
	}
	return scale, bias, nil
}

// features reads the column, the name and the direction of missing values of each numeric feature.
func (r *cbReader) features(f *cbFile) (err error) {
	defer catch(&err)
	named := len(f.Features.Float) > 0
	of := make(map[int]string)
	for i := range f.Features.Float {
		feature := &f.Features.Float[i]
		index := must(wholeOf(feature.Index, "feature_index", i))
		column := must(wholeOf(feature.Flat, "flat_feature_index", index))
		if _, twice := r.columns[index]; twice || column < 0 || column >= math.MaxInt32 {
			return wrong(feature.Index, "found feature %d in column %d, expected each feature once, in a column from 0 on", index, column)
		}
		switch feature.Missing {
		case "", "AsIs", "AsFalse":
		case "AsTrue":
			r.right[column] = true
		default:
			return wrong(feature.Index, `found "nan_value_treatment" %.40q of feature %d, expected AsIs, AsFalse or AsTrue`, feature.Missing, index)
		}
		r.columns[index], r.width = column, max(r.width, column+1)
		of[column], named = feature.ID, named && feature.ID != ""
	}
	if r.width == 0 {
		return errors.New(`found no "float_features", expected the list of features`)
	}
	if named {
		return r.takeNames(f, of)
	}
	return nil
}

// takeNames sets the names of the columns, given the names of the numeric columns in of. The file
// lists columns of categories, texts and embeddings separately. takeNames includes these columns;
// files whose trees use them are rejected. A column that CatBoost ignored is in no list. takeNames
// omits such columns and renumbers the other columns in r.columns and r.right without gaps.
func (r *cbReader) takeNames(f *cbFile, of map[int]string) (err error) {
	defer catch(&err)
	other := make(map[int]bool)
	for _, feature := range slices.Concat(f.Features.Categorical, f.Features.Text, f.Features.Embedding) {
		column := must(wholeOf(feature.Flat, "flat_feature_index", -1))
		if _, twice := of[column]; twice || column < 0 || column >= math.MaxInt32 || feature.ID == "" {
			return wrong(feature.Flat, "found feature %q in column %d, expected a name, and each feature in a column of its own, from 0 on", feature.ID, column)
		}
		of[column], other[column] = feature.ID, true
	}
	place := make(map[int]int, len(of))
	for _, column := range slices.Sorted(maps.Keys(of)) {
		if place[column] = len(r.names); other[column] {
			r.unused = append(r.unused, make([]*dataset.Categories, len(r.names)-len(r.unused))...)
			r.unused = append(r.unused, dataset.NewUnusedCategories())
		}
		r.names, r.width = append(r.names, of[column]), max(r.width, column+1)
	}
	if left := r.width - len(of); left > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%d of the %d columns that CatBoost learned from have no name in the file, and are left out: it ignored them", left, r.width))
	}
	right := make(map[int]bool, len(r.right))
	for index, column := range r.columns {
		r.columns[index], right[place[column]] = place[column], r.right[column]
	}
	r.right, r.width = right, len(r.names)
	return nil
}

// trees reads the oblivious trees and the nested trees of a file.
func (r *cbReader) trees(f *cbFile, e *ensemble) (err error) {
	defer catch(&err)
	if f.Oblivious == nil && f.Trees.Text == nil {
		return errors.New(`found neither "oblivious_trees" nor "trees", expected one of them: the file is not whole`)
	}
	for k := range f.Oblivious {
		t, err := r.oblivious(&f.Oblivious[k])
		if err != nil {
			return fmt.Errorf("tree %d: %w", k, err)
		}
		e.trees = append(e.trees, t)
	}
	if f.Trees.Text == nil {
		return nil
	}
	list := must(strictjson.Elements(f.Trees))
	for k, v := range list {
		r.nodes, r.values = nil, nil
		if _, err := r.nested(v); err != nil {
			return fmt.Errorf("tree %d: %w", k, err)
		}
		t, err := grow(r.nodes, r.values)
		if err != nil {
			return wrong(v, "tree %d: %w", k, err)
		}
		e.trees = append(e.trees, t)
	}
	return nil
}

// split returns the node of a split. Values above the border go right.
func (r *cbReader) split(s *cbSplit) (_ scorer.TreeNode, err error) {
	defer catch(&err)
	if s.Type != "" && s.Type != "FloatFeature" {
		return scorer.TreeNode{}, wrong(s.Border, `found the "split_type" %.40q, expected FloatFeature: splits by categories, text and embeddings are not read`, s.Type)
	}
	index := must(wholeOf(s.Feature, "float_feature_index", -1))
	column, ok := r.columns[index]
	if !ok {
		return scorer.TreeNode{}, wrong(s.Feature, `found the "float_feature_index" %d, expected one of the float_features`, index)
	}
	border, err := parseReal(string(s.Border.Text))
	if err != nil {
		return scorer.TreeNode{}, wrong(s.Border, `found %.40s as "border", expected a number`, s.Border.Text)
	}
	return scorer.TreeNode{Feature: column, Threshold: below32(border), MissingLeft: !r.right[column]}, nil
}

// oblivious returns a tree in which all nodes of a level have the same split.
func (r *cbReader) oblivious(t *cbOblivious) (_ tree, err error) {
	defer catch(&err)
	depth := len(t.Splits)
	if depth > 30 || len(t.Values) != 1<<depth {
		return tree{}, fmt.Errorf("found %d leaf_values for %d splits, expected 2 to the power of the latter: one score a document", len(t.Values), depth)
	}
	if t.Weights != nil && len(t.Weights) != len(t.Values) {
		return tree{}, fmt.Errorf("found %d leaf_weights, expected %d, one a leaf", len(t.Weights), len(t.Values))
	}
	nodes := make([]scorer.TreeNode, 0, len(t.Values)-1)
	for level := range t.Splits {
		n := must(r.split(&t.Splits[level]))
		first := 1<<level - 1 // first node of the level; the node for the bits b is first + b
		for b := range 1 << level {
			if level+1 < depth {
				n.Left, n.Right = 2*first+1+b, 2*first+1+b+1<<level
			} else {
				n.Left, n.Right = -1-b, -1-(b+1<<level)
			}
			nodes = append(nodes, n)
		}
	}
	return grow(nodes, t.Values)
}

// nested adds a node and all nodes below it to r.nodes. It returns the node's number in the
// encoding of TreeNode.Left: an index of r.nodes, or −1 − l for leaf l.
func (r *cbReader) nested(v strictjson.Value) (_ int, err error) {
	defer catch(&err)
	o := must(objectOf(v, "a node"))
	var n struct {
		Value strictjson.Value `json:"value"`
		Left  strictjson.Value `json:"left"`
		Right strictjson.Value `json:"right"`
		Split strictjson.Value `json:"split"`
	}
	check(o.Decode(&n))
	if n.Split.Text == nil {
		value, err := parseReal(string(n.Value.Text))
		if err != nil {
			return 0, wrong(v, `found %.40s as "value" of a leaf, expected a number: one score a document`, n.Value.Text)
		}
		r.values = append(r.values, value)
		return -len(r.values), nil
	}
	if n.Left.Text == nil || n.Right.Text == nil {
		return 0, wrong(v, `found a split without "left" or "right", expected both`)
	}
	var s cbSplit
	if o, err = objectOf(n.Split, `"split"`); err == nil {
		err = o.Decode(&s)
	}
	if err != nil {
		return 0, err
	}
	node := must(r.split(&s))
	own := len(r.nodes)
	r.nodes = append(r.nodes, node)
	left := must(r.nested(n.Left))
	right, err := r.nested(n.Right)
	r.nodes[own].Left, r.nodes[own].Right = left, right
	return own, err
}

// cbWriter writes a model as nested trees, which CatBoost can read.
type cbWriter struct {
	borders [][]float32 // for each feature, ascending and different
	first   []int       // index of each feature's first border among all borders
	text    []byte
}

// writeCatBoost writes a file for CatBoost's load_model with format="json".
func writeCatBoost(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	e := must(treesOf(m))
	switch o.Scores {
	case ShiftedScores:
		e.shiftLeaves()
	case LogisticScores:
		return nil, fmt.Errorf("found --scores %s, expected raw or shift: the file has no link; use prediction_type=\"Probability\"", o.Scores)
	case RawScores:
	}
	if len(e.trees) == 0 {
		e.spreadConstant()
	}
	missing := must(e.cbMissing(m.Missing != dataset.MissingError))
	b := newCBWriter(e)
	check(b.features(e, missing))
	b.text = append(b.text, `,"trees":[`...)
	for k, t := range e.trees {
		b.text = separate(b.text, k, ",\n")
		b.node(t, t.root())
	}
	b.text = append(b.text, `],"scale_and_bias":[1,[`...)
	b.text = append(strconv.AppendFloat(b.text, e.constant, 'g', -1, 64), "]]}\n"...)
	out := bufio.NewWriter(w)
	_, _ = out.Write(b.text) // Flush returns the error
	return nil, out.Flush()
}

// cbMissing returns the value of "nan_value_treatment" for each feature. CatBoost has one direction
// of missing values per feature, not per node. If nodes of a feature have different directions,
// cbMissing returns an error. If matter is false, missing values do not occur, and cbMissing uses
// the direction of any node.
func (e *ensemble) cbMissing(matter bool) ([]string, error) {
	ways := slices.Repeat([]string{""}, e.features)
	for k, t := range e.trees {
		for _, n := range t.nodes {
			if n.Categories != nil {
				return nil, fmt.Errorf("tree %d: found categories of feature %d, expected thresholds alone: CatBoost's categories are hashes of texts", k+1, n.Feature+1)
			}
			way := "AsTrue"
			if n.MissingLeft {
				way = "AsFalse"
			}
			if own := &ways[n.Feature]; *own == "" || !matter {
				*own = way
			} else if *own != way {
				return nil, fmt.Errorf("tree %d: found that missing values of feature %d go right where those of other nodes go left, or the reverse, expected one way: CatBoost has one a feature; train with --missing error",
					k+1, n.Feature+1)
			}
		}
	}
	for j := range ways {
		if ways[j] == "" {
			ways[j] = "AsIs"
		}
	}
	return ways, nil
}

func newCBWriter(e *ensemble) *cbWriter {
	b := &cbWriter{borders: make([][]float32, e.features), first: make([]int, e.features)}
	for _, t := range e.trees {
		for i := range t.nodes {
			n := &t.nodes[i]
			b.borders[n.Feature] = append(b.borders[n.Feature], n.Threshold+0) // −0 becomes 0
		}
	}
	number := 0
	for j := range b.borders {
		slices.Sort(b.borders[j])
		b.borders[j] = slices.Compact(b.borders[j])
		b.first[j] = number
		number += len(b.borders[j])
	}
	return b
}

func (b *cbWriter) features(e *ensemble, missing []string) (err error) {
	defer catch(&err)
	b.text = append(b.text, `{"features_info":{"float_features":[`...)
	for j, borders := range b.borders {
		name := ""
		if e.names != nil {
			name = e.names[j]
		}
		quoted := must(strictjson.Marshal(name))
		b.text = separate(b.text, j, ",\n")
		b.text = append(b.text, `{"borders":[`...)
		for i, border := range borders {
			b.text = separate(b.text, i)
			b.text = strconv.AppendFloat(b.text, float64(border), 'g', -1, 64)
		}
		b.text = fmt.Appendf(b.text, `],"feature_id":%s,"feature_index":%d,"flat_feature_index":%d,"has_nans":%t,"nan_value_treatment":%q}`,
			quoted, j, j, missing[j] != "AsIs", missing[j])
	}
	b.text = append(b.text, "]}"...)
	return nil
}

func (b *cbWriter) node(t tree, at int) {
	if at < 0 {
		b.text = append(strconv.AppendFloat(append(b.text, `{"value":`...), t.values[-1-at], 'g', -1, 64), `,"weight":0}`...)
		return
	}
	n := &t.nodes[at]
	borders := b.borders[n.Feature]
	place := sort.Search(len(borders), func(i int) bool { return borders[i] >= n.Threshold })
	b.text = append(b.text, `{"left":`...)
	b.node(t, n.Left)
	b.text = append(b.text, `,"right":`...)
	b.node(t, n.Right)
	b.text = fmt.Appendf(b.text, `,"split":{"border":%s,"float_feature_index":%d,"split_index":%d,"split_type":"FloatFeature"}}`,
		strconv.FormatFloat(float64(borders[place]), 'g', -1, 64), n.Feature, b.first[n.Feature]+place)
}
