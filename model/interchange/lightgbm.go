package interchange

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// lightgbm is LightGBM's text format, versions 2 to 4. A file is a header of lines KEY=VALUE, a block
// of such lines for each tree, and a trailer. See Tree::ToString and GBDT::SaveModelToString in
// LightGBM's sources.
var lightgbm = format{
	name: "lightgbm", title: "LightGBM text",
	is: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("tree\n")) || bytes.HasPrefix(head, []byte("tree\r\n"))
	},
	read: readLightGBM, write: writeLightGBM,
}

// The bits of LightGBM's decision_type.
const (
	lgbmCategorical = 1
	lgbmDefaultLeft = 2
	lgbmMissingZero = 1 << 2 // |x| ≤ lgbmZero and NaN go the default way
	lgbmMissingNaN  = 2 << 2 // NaN goes the default way; without lgbmMissingZero and lgbmMissingNaN, NaN counts as 0
	lgbmMissing     = 3 << 2
)

// lgbmZero is the largest absolute value that LightGBM treats as 0 if zeros are missing values
// (kZeroThreshold).
const lgbmZero = float32(1e-35)

func readLightGBM(data []byte, o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	header, trees := must2(lgbmBlocks(data))
	for _, key := range []string{"num_class", "num_tree_per_iteration"} {
		n := must(header.integer(key, 1))
		if n != 1 {
			return nil, nil, header.errorOf(key, "found %s=%d, expected 1: a model of several classes gives a document no single score", key, n)
		}
	}
	largest := must(header.integer("max_feature_idx", -1))
	if largest < 0 || largest >= math.MaxInt32 {
		return nil, nil, header.errorOf("max_feature_idx", "found max_feature_idx=%q, expected the number of the last column, from 0", header.values["max_feature_idx"].text)
	}
	e, m32 := &ensemble{features: largest + 1}, new(merged)
	for k := range trees {
		t := must(trees[k].lgbmTree(e.features, m32))
		e.trees = append(e.trees, t)
	}
	if _, ok := header.values["average_output"]; ok {
		for _, t := range e.trees {
			for i := range t.values {
				t.values[i] /= float64(len(e.trees))
			}
		}
	}
	check(e.lgbmFrame(data, strings.Fields(header.values["feature_infos"].text)))
	columns := e.features
	notes := must(e.lgbmColumns(header, o, m32))
	monotone := must(header.lgbmMonotone(columns, 1+e.features-columns))
	notes = append(notes, e.categoryNotes()...)
	objective := header.values["objective"].text
	if strings.HasPrefix(objective, "binary") || strings.HasPrefix(objective, "cross_entropy") {
		notes = append(notes, fmt.Sprintf("the scores are those before the link of the objective %q, which keeps their order", objective))
	}
	if _, stated, ok := bytes.Cut(data, []byte("\n[interaction_constraints:")); ok {
		if line, _, _ := bytes.Cut(stated, []byte("\n")); len(bytes.Trim(line, " ]\r")) > 0 {
			notes = append(notes, "the file states interaction_constraints, which a continued training keeps only if --set interactions repeats them")
		}
	}
	hyperparameters := map[string]any{"objective": objective}
	if monotone != "" {
		hyperparameters["monotone"] = monotone // a continued training keeps it
	}
	m, err := e.model("lightgbm", hyperparameters)
	return m, notes, err
}

// lgbmMonotone returns the monotone features in the form of the hyperparameter monotone, or "" if there
// are none. first is the number of the feature in the first column.
func (b *keyed) lgbmMonotone(columns, first int) (string, error) {
	signs := strings.Fields(b.values["monotone_constraints"].text)
	if len(signs) != 0 && len(signs) != columns {
		return "", b.errorOf("monotone_constraints", "found %d monotone_constraints, expected %d", len(signs), columns)
	}
	var features []string
	for j, sign := range signs {
		switch {
		case first+j < 1: // column 0 is not a feature and no tree uses it
		case sign == "1":
			features = append(features, strconv.Itoa(first+j))
		case sign == "-1":
			features = append(features, strconv.Itoa(-first-j))
		case sign != "0":
			return "", b.errorOf("monotone_constraints", "found %q among monotone_constraints, expected -1, 0 or 1", sign)
		}
	}
	return strings.Join(features, ":"), nil
}

// lgbmTree reads a tree from a block.
func (b *keyed) lgbmTree(features int, m32 *merged) (_ tree, err error) {
	defer catch(&err)
	leaves := must(b.integer("num_leaves", 0))
	if leaves < 1 || leaves > len(b.values["leaf_value"].text) {
		return tree{}, b.errorOf("num_leaves", "found num_leaves=%d, expected the number of leaf values", leaves)
	}
	linear := must(b.integer("is_linear", 0))
	if linear != 0 {
		return tree{}, b.errorOf("is_linear", "found is_linear=%d, expected 0: leaves with linear functions are not read", linear)
	}
	values := must(listOf(b, "leaf_value", leaves, parseReal))
	nodes, zeros := must2(b.lgbmNodes(leaves-1, features, m32))
	check(b.lgbmCounts(leaves))
	t, err := growWith(nodes, values, zeros)
	if err != nil {
		return tree{}, errorAt(b.line, "%w", err)
	}
	return t, nil
}

// lgbmCounts checks the lengths of the lists that do not affect scores.
func (b *keyed) lgbmCounts(leaves int) error {
	for _, list := range []struct {
		numbers int
		keys    []string
	}{
		{leaves, []string{"leaf_weight", "leaf_count"}},
		{leaves - 1, []string{"split_gain", "internal_value", "internal_weight", "internal_count"}},
	} {
		for _, key := range list.keys {
			v, ok := b.values[key]
			if n := len(strings.Fields(v.text)); ok && n != 0 && n != list.numbers {
				return errorAt(v.line, "found %d numbers of %s, expected %d", n, key, list.numbers)
			}
		}
	}
	return nil
}

// lgbmNodes reads n inner nodes. zeros has an entry for each node that sends zeros and missing
// values to another side than its threshold sends 0: true means left.
func (b *keyed) lgbmNodes(n, features int, m32 *merged) (nodes []scorer.TreeNode, zeros map[int]bool, err error) {
	defer catch(&err)
	if n == 0 {
		return nil, nil, nil
	}
	feature := must(listOf(b, "split_feature", n, strconv.Atoi))
	threshold := must(listOf(b, "threshold", n, parseReal))
	decision := must(listOf(b, "decision_type", n, strconv.Atoi))
	left := must(listOf(b, "left_child", n, strconv.Atoi))
	right := must(listOf(b, "right_child", n, strconv.Atoi))
	sets := must(b.lgbmSets())
	nodes, zeros = make([]scorer.TreeNode, n), make(map[int]bool)
	for i := range nodes {
		if feature[i] < 0 || feature[i] >= features {
			return nil, nil, b.errorOf("split_feature", "found the column %d in node %d, expected one from 0 to %d", feature[i], i, features-1)
		}
		nodes[i] = scorer.TreeNode{Feature: feature[i], Left: left[i], Right: right[i]}
		if decision[i]&lgbmCategorical != 0 {
			nodes[i].Categories, err = b.lgbmTake(sets, threshold[i], i)
		} else {
			var ways bool
			if ways, err = b.lgbmDivide(&nodes[i], i, threshold[i], decision[i]); ways {
				zeros[i] = nodes[i].MissingLeft
			}
			if math.Abs(threshold[i]) > float64(lgbmZero) {
				m32.threshold(feature[i], threshold[i], nodes[i].Threshold)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return nodes, zeros, nil
}

// lgbmThreshold returns a float32 threshold for float32 features that corresponds to LightGBM's
// threshold t for float64 features.
//
// LightGBM's thresholds are midpoints of two feature values, or some units in the last place above
// a midpoint. If t has at most 8 digits, the feature values are short decimals, and another
// document may have the value t. LightGBM sends this document left. So lgbmThreshold rounds t to
// the nearest float32, as this module rounds feature values. Any other t comes from float32 values
// or long decimals. For such t, [below32] is exact or the closest choice.
func lgbmThreshold(t float64) float32 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(t, 'g', 8, 64), 64)
	if size := math.Abs(t); err == nil && size >= 1e-12 && size <= math.MaxFloat32 && math.Abs(t-short) <= size*0x1p-50 {
		return float32(short)
	}
	return below32(t)
}

// lgbmDivide sets the threshold of a node and the side of missing values. LightGBM treats a
// threshold within lgbmZero of 0 as 0. ways is true if zeros and missing values go to the side to
// which the threshold does not send 0.
func (b *keyed) lgbmDivide(n *scorer.TreeNode, at int, threshold float64, decision int) (ways bool, err error) {
	n.Threshold = lgbmThreshold(threshold)
	if math.Abs(threshold) <= float64(lgbmZero) {
		if n.Threshold = lgbmZero; threshold < 0 {
			n.Threshold = before(-lgbmZero)
		}
	}
	zeroLeft, defaultLeft := 0 <= threshold, decision&lgbmDefaultLeft != 0
	n.MissingLeft = defaultLeft
	switch decision & lgbmMissing {
	case 0:
		n.MissingLeft = zeroLeft
	case lgbmMissingNaN:
	case lgbmMissingZero:
		switch {
		case zeroLeft == defaultLeft:
		case math.Abs(threshold) > float64(lgbmZero):
			return true, nil
		case defaultLeft:
			n.Threshold = lgbmZero
		default:
			n.Threshold = before(-lgbmZero)
		}
	default:
		return false, b.errorOf("decision_type", "found the type %d of missing values in node %d, expected 0, 1 or 2", decision>>2, at)
	}
	return false, nil
}

// lgbmSets reads the sets of categories of a tree's nodes.
func (b *keyed) lgbmSets() (_ [][]float32, err error) {
	defer catch(&err)
	n, err := b.integer("num_cat", 0)
	if err != nil || n == 0 {
		return nil, err
	}
	if n < 0 || n > len(b.values["cat_boundaries"].text) {
		return nil, b.errorOf("num_cat", "found num_cat=%d, expected the number of sets of categories", n)
	}
	bounds := must(listOf(b, "cat_boundaries", n+1, strconv.Atoi))
	if bounds[0] != 0 || !slices.IsSorted(bounds) || bounds[n] > len(b.values["cat_threshold"].text) {
		return nil, b.errorOf("cat_boundaries", "found %.60s as the bounds of %d sets of categories, expected ascending numbers from 0 on", b.values["cat_boundaries"].text, n)
	}
	words := must(listOf(b, "cat_threshold", bounds[n], parseWord))
	sets := make([][]float32, n)
	for k := range sets {
		sets[k] = []float32{}
		for i, w := range words[bounds[k]:bounds[k+1]] {
			for bit := range 32 {
				if w>>bit&1 == 1 {
					sets[k] = append(sets[k], float32(32*i+bit))
				}
			}
		}
		if last := len(sets[k]) - 1; last >= 0 && sets[k][last] >= 1<<24 {
			return nil, b.errorOf("cat_threshold", "found the category %v, expected one below %d", sets[k][last], 1<<24)
		}
	}
	return sets, nil
}

// lgbmTake returns the set of categories of node at. number, the node's threshold, is the index of
// the set. lgbmTake returns an error if two nodes have the same set.
func (b *keyed) lgbmTake(sets [][]float32, number float64, at int) ([]float32, error) {
	k := int(number)
	if float64(k) != number || k < 0 || k >= len(sets) || sets[k] == nil {
		return nil, b.errorOf("threshold", "found %v as the set of categories of node %d, expected one of the %d, each once", number, at, len(sets))
	}
	set := sets[k]
	sets[k] = nil
	return set, nil
}

// lgbmColumns sets the feature names and decides whether column 0 is feature 1. The notes state
// this decision, and report different numbers that become equal as float32.
func (e *ensemble) lgbmColumns(header *keyed, o ReadOptions, m32 *merged) ([]string, error) {
	names := strings.Fields(header.values["feature_names"].text)
	if len(names) > 0 && len(names) != e.features {
		return nil, header.errorOf("feature_names", "found %d names of features, expected %d", len(names), e.features)
	}
	infos := strings.Fields(header.values["feature_infos"].text)
	if len(infos) > 0 && len(infos) != e.features {
		return nil, header.errorOf("feature_infos", "found %d feature_infos, expected %d", len(infos), e.features)
	}
	unnamed := true
	for j, name := range names {
		unnamed = unnamed && name == "Column_"+strconv.Itoa(j)
	}
	if !unnamed {
		e.names = names
	}
	columns := e.features
	for column, text := range infos {
		if e.uses(column) {
			m32.bounds(column, text)
		}
	}
	unused := !e.uses(0) && len(infos) > 1 && infos[0] == "none"
	notes, err := e.number(o, unnamed || names[0] == "Column_0", unused)
	return append(notes, m32.notes(func(column int) string {
		if !unnamed {
			return names[column]
		}
		return strconv.Itoa(column + 1 - columns + e.features)
	})...), err
}

// keyed is a block of lines KEY=VALUE.
type keyed struct {
	line   int // first line of the block
	values map[string]keyedValue
}

type keyedValue struct {
	text string
	line int
}

// lgbmBlocks divides a file into its header and its trees.
func lgbmBlocks(data []byte) (header *keyed, trees []*keyed, err error) {
	header = &keyed{1, map[string]keyedValue{}}
	block, line, ended := header, 0, false
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimRight(text, "\r\n")
		switch {
		case text == "end of trees" || strings.HasPrefix(text, "feature importances") || strings.HasPrefix(text, "feature_importances"):
			ended = true
		case strings.HasPrefix(text, "Tree="):
			if number := strings.TrimPrefix(text, "Tree="); number != strconv.Itoa(len(trees)) {
				return nil, nil, errorAt(line, "found Tree=%.20s, expected Tree=%d: the file is not whole", number, len(trees))
			}
			block = &keyed{line, map[string]keyedValue{}}
			trees = append(trees, block)
			continue
		case text == "":
			continue
		}
		if ended {
			break
		}
		key, value, _ := strings.Cut(text, "=")
		if _, ok := block.values[key]; ok {
			return nil, nil, errorAt(line, "found %s a second time, expected it once", key)
		}
		block.values[key] = keyedValue{value, line}
	}
	if !ended {
		return nil, nil, errorAt(line, `found no line "end of trees": the file is not whole`)
	}
	if _, after, ok := bytes.Cut(data, []byte("\nparameters:")); ok && !bytes.Contains(after, []byte("\nend of parameters")) {
		// a data frame's categories follow the parameters
		return nil, nil, errorAt(1+bytes.Count(data, []byte("\n")), `found no line "end of parameters": the file is not whole`)
	}
	if sizes, ok := header.values["tree_sizes"]; ok {
		if n := len(strings.Fields(sizes.text)); n != len(trees) {
			return nil, nil, errorAt(sizes.line, "found the sizes of %d trees, expected those of %d: the file is not whole", n, len(trees))
		}
	}
	return header, trees, nil
}

// errorOf returns an error in the line of a key, or in the block's first line if the key is missing.
func (b *keyed) errorOf(key, text string, args ...any) error {
	line := b.line
	if v, ok := b.values[key]; ok {
		line = v.line
	}
	return errorAt(line, text, args...)
}

// integer returns the whole number of a key, or otherwise if the key is missing.
func (b *keyed) integer(key string, otherwise int) (int, error) {
	v, ok := b.values[key]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(v.text))
	if err != nil {
		return 0, errorAt(v.line, "found %s=%.40s, expected a whole number", key, v.text)
	}
	return n, nil
}

// listOf returns the list of n numbers of a key. Any other length is an error.
func listOf[T any](b *keyed, key string, n int, parse func(string) (T, error)) ([]T, error) {
	v, ok := b.values[key]
	words := strings.Fields(v.text)
	if !ok || len(words) != n {
		return nil, b.errorOf(key, "found %d numbers of %s, expected %d", len(words), key, n)
	}
	list := make([]T, n)
	for i, w := range words {
		x, err := parse(w)
		if err != nil {
			return nil, errorAt(v.line, "found %.40q as number %d of %s, expected %s", w, i+1, key, kindOf(list))
		}
		list[i] = x
	}
	return list, nil
}

func kindOf[T any](list []T) string {
	if _, ok := any(list).([]float64); ok {
		return "a number"
	}
	return "a whole number"
}

// parseReal reads a number that may be infinite, but not NaN.
func parseReal(word string) (float64, error) {
	x, err := strconv.ParseFloat(word, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // infinite, as LightGBM reads it
	}
	if err == nil && math.IsNaN(x) {
		err = strconv.ErrSyntax
	}
	return x, err
}

func parseWord(word string) (uint32, error) {
	x, err := strconv.ParseUint(word, 10, 32)
	return uint32(x), err
}

// lgbmFrame sets the categories of a model that learned from a data frame of pandas. infos are the
// columns' feature_infos. In such a model, LightGBM replaces categories by their indices in lists,
// which the file contains after the trees. There is a list for each column of pandas' type category, in
// the order of the columns. The file does not name these columns. Its feature_infos show only the
// columns that LightGBM divided by categories, so they do not show columns of ordered categories.
func (e *ensemble) lgbmFrame(data []byte, infos []string) error {
	const key = "\npandas_categorical:"
	at := bytes.LastIndex(data, []byte(key))
	if at < 0 {
		return nil
	}
	line := 2 + bytes.Count(data[:at], []byte("\n"))
	text, _, _ := bytes.Cut(data[at+len(key):], []byte("\n"))
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" || string(text) == "[]" {
		return nil
	}
	if err := strictjson.Check(text); err != nil {
		return errorAt(line, "found what is not JSON as pandas_categorical, expected the lists of categories: %w", err)
	}
	lists, err := elementsOf(strictjson.Whole(text), "pandas_categorical")
	if err != nil {
		return errorAt(line, "%w", err)
	}
	sets := make([]*dataset.Categories, len(lists))
	for k, v := range lists {
		if sets[k], err = readCategories(v); err != nil {
			return errorAt(line, "list %d of pandas_categorical: %w", k+1, err)
		}
	}
	if len(infos) != e.features {
		return errorAt(line, "found pandas_categorical without feature_infos, expected these to say which columns have categories")
	}
	places, ok := placeLists(sets, infos, lgbmDeclared(data))
	if !ok {
		return errorAt(line, "found %d lists of categories in pandas_categorical that do not tell their columns, expected one for each column of categories (with pandas_categorical:null data have the codes)", len(sets))
	}
	e.categories = make([]*dataset.Categories, e.features)
	for k, column := range places {
		e.categories[column] = sets[k]
	}
	return nil
}

var lgbmCategoricalLine = regexp.MustCompile(`(?m)^\[categorical_feature: ([0-9,]*)\]\r?$`)

// lgbmDeclared returns the columns that the training parameters in a file declare categorical.
func lgbmDeclared(data []byte) map[int]bool {
	found := lgbmCategoricalLine.FindSubmatch(data)
	if found == nil {
		return nil
	}
	declared := make(map[int]bool)
	for word := range strings.SplitSeq(string(found[1]), ",") {
		if column, err := strconv.Atoi(word); err == nil {
			declared[column] = true
		}
	}
	return declared
}

// placeLists returns the column of each list of categories, in ascending order. The feature_infos
// entry of a column must allow its list. placeLists first requires that every declared column and
// every column with categories gets a list. If there is not exactly one solution, placeLists tries
// again without this requirement. ok is false unless one of the attempts has exactly one solution.
func placeLists(sets []*dataset.Categories, infos []string, declared map[int]bool) (places []int, ok bool) {
	needed := make([]bool, len(infos))
	for c, info := range infos {
		needed[c] = declared[c] || info != "none" && !strings.HasPrefix(info, "[")
	}
	fits := func(k, c int) bool {
		return infoAllows(infos[c], len(sets[k].Texts)+len(sets[k].Numbers))
	}
	if len(sets)*len(infos) > mostPlaces {
		return nil, false
	}
	if places, ok = placeOnce(len(sets), needed, fits); ok {
		return places, true
	}
	return placeOnce(len(sets), make([]bool, len(infos)), fits)
}

// mostPlaces limits the memory of placeOnce.
const mostPlaces = 1 << 26

// placeOnce assigns a column to each list, in ascending order of columns, such that each list fits
// its column and all needed columns get a list. ok is false unless there is exactly one such
// assignment.
func placeOnce(lists int, needed []bool, fits func(list, column int) bool) (places []int, ok bool) {
	// ways[c][k] is the number of ways to assign the lists from k on to the columns from c on; 2 means
	// two or more.
	columns := len(needed)
	ways := make([][]uint8, columns+1)
	ways[columns] = make([]uint8, lists+1)
	ways[columns][lists] = 1
	for c, n := range slices.Backward(needed) {
		ways[c] = make([]uint8, lists+1)
		for k := range ways[c] {
			if !n {
				ways[c][k] = ways[c+1][k]
			}
			if k < lists && fits(k, c) {
				ways[c][k] = min(2, ways[c][k]+ways[c+1][k+1])
			}
		}
	}
	if ways[0][0] != 1 {
		return nil, false
	}
	for c, k := 0, 0; k < lists; c++ {
		if fits(k, c) && ways[c+1][k+1] == 1 {
			places = append(places, c)
			k++
		}
	}
	return places, true
}

// infoAllows reports whether a column with the feature_infos entry info can have n categories,
// which is so if all codes in the entry are below n. The entry lists codes of categories, as in
// 3:1:-1:2, or the range of an ordered column, as in [0:3]. "none" allows any number of categories.
func infoAllows(info string, n int) bool {
	if info == "none" {
		return true
	}
	least := -1 // the code of a missing category
	if bounds, ok := strings.CutPrefix(info, "["); ok {
		info, least = strings.TrimSuffix(bounds, "]"), 0
	}
	for word := range strings.SplitSeq(info, ":") {
		if v, err := strconv.Atoi(word); err != nil || v < least || v >= n {
			return false
		}
	}
	return true
}
