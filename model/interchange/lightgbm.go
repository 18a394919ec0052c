package interchange

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// lightgbm is LightGBM's text format, versions 2 to 4: a header of lines KEY=VALUE, a block of
// such lines a tree, and an end. See Tree::ToString and GBDT::SaveModelToString in its sources.
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
	lgbmMissingNaN  = 2 << 2 // NaN goes the default way; with neither, NaN is 0
	lgbmMissing     = 3 << 2
)

// lgbmZero bounds what LightGBM takes as 0 where zeros are missing (kZeroThreshold).
const lgbmZero = float32(1e-35)

func readLightGBM(data []byte, o ReadOptions) (*model.Model, []string, error) {
	header, trees, err := lgbmBlocks(data)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range []string{"num_class", "num_tree_per_iteration"} {
		n, err := header.integer(key, 1)
		if err != nil {
			return nil, nil, err
		}
		if n != 1 {
			return nil, nil, header.errorOf(key, "found %s=%d, expected 1: a model of several classes gives a document no single score", key, n)
		}
	}
	largest, err := header.integer("max_feature_idx", -1)
	if err != nil {
		return nil, nil, err
	}
	if largest < 0 || largest >= math.MaxInt32 {
		return nil, nil, header.errorOf("max_feature_idx", "found max_feature_idx=%q, expected the number of the last column, from 0", header.values["max_feature_idx"].text)
	}
	e, m32 := &ensemble{features: largest + 1}, new(merged)
	for k := range trees {
		t, err := trees[k].lgbmTree(e.features, m32)
		if err != nil {
			return nil, nil, err
		}
		e.trees = append(e.trees, t)
	}
	if _, ok := header.values["average_output"]; ok {
		for _, t := range e.trees {
			for i := range t.values {
				t.values[i] /= float64(len(e.trees))
			}
		}
	}
	if err := e.lgbmFrame(data, strings.Fields(header.values["feature_infos"].text)); err != nil {
		return nil, nil, err
	}
	columns := e.features
	notes, err := e.lgbmColumns(header, o, m32)
	if err != nil {
		return nil, nil, err
	}
	monotone, err := header.lgbmMonotone(columns, 1+e.features-columns)
	if err != nil {
		return nil, nil, err
	}
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

// lgbmMonotone returns the monotone features as the hyperparameter of that name has them, "" if there
// are none. first is the number of the feature of the first column.
func (b *keyed) lgbmMonotone(columns, first int) (string, error) {
	signs := strings.Fields(b.values["monotone_constraints"].text)
	if len(signs) != 0 && len(signs) != columns {
		return "", b.errorOf("monotone_constraints", "found %d monotone_constraints, expected %d", len(signs), columns)
	}
	var features []string
	for j, sign := range signs {
		switch {
		case first+j < 1: // column 0, which is no feature and in no tree
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

// lgbmTree reads a tree.
func (b *keyed) lgbmTree(features int, m32 *merged) (tree, error) {
	leaves, err := b.integer("num_leaves", 0)
	if err != nil {
		return tree{}, err
	}
	if leaves < 1 || leaves > len(b.values["leaf_value"].text) {
		return tree{}, b.errorOf("num_leaves", "found num_leaves=%d, expected the number of leaf values", leaves)
	}
	linear, err := b.integer("is_linear", 0)
	if err != nil {
		return tree{}, err
	}
	if linear != 0 {
		return tree{}, b.errorOf("is_linear", "found is_linear=%d, expected 0: leaves with linear functions are not read", linear)
	}
	values, err := listOf(b, "leaf_value", leaves, parseReal)
	if err != nil {
		return tree{}, err
	}
	nodes, zeros, err := b.lgbmNodes(leaves-1, features, m32)
	if err != nil {
		return tree{}, err
	}
	if err := b.lgbmCounts(leaves); err != nil {
		return tree{}, err
	}
	t, err := growWith(nodes, values, zeros)
	if err != nil {
		return tree{}, errorAt(b.line, "%w", err)
	}
	return t, nil
}

// lgbmCounts checks the lengths of the lists that scores do not depend on.
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

// lgbmNodes reads n inner nodes.
func (b *keyed) lgbmNodes(n, features int, m32 *merged) (nodes []scorer.TreeNode, zeros map[int]bool, err error) {
	if n == 0 {
		return nil, nil, nil
	}
	feature, err := listOf(b, "split_feature", n, strconv.Atoi)
	if err != nil {
		return nil, nil, err
	}
	threshold, err := listOf(b, "threshold", n, parseReal)
	if err != nil {
		return nil, nil, err
	}
	decision, err := listOf(b, "decision_type", n, strconv.Atoi)
	if err != nil {
		return nil, nil, err
	}
	left, err := listOf(b, "left_child", n, strconv.Atoi)
	if err != nil {
		return nil, nil, err
	}
	right, err := listOf(b, "right_child", n, strconv.Atoi)
	if err != nil {
		return nil, nil, err
	}
	sets, err := b.lgbmSets()
	if err != nil {
		return nil, nil, err
	}
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

// lgbmThreshold returns the float32 that divides features, rounded to float32, as LightGBM
// divides them by t. Its thresholds are the middle of two values, or up to some units in the last
// place above. A middle of few digits is one of decimals, which other documents may have as their
// value: it goes left, so t is rounded as that value is. Any other is one of float32s or of long
// numbers, to which [below32] is exact, or as close as can be.
func lgbmThreshold(t float64) float32 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(t, 'g', 8, 64), 64)
	if size := math.Abs(t); err == nil && size >= 1e-12 && size <= math.MaxFloat32 && math.Abs(t-short) <= size*0x1p-50 {
		return float32(short)
	}
	return below32(t)
}

// lgbmDivide sets how a node with a threshold divides. LightGBM takes what is within lgbmZero of 0
// as 0. ways reports that zeros and missing values do not go where the threshold sends them.
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

// lgbmSets reads the sets of categories of a tree.
func (b *keyed) lgbmSets() ([][]float32, error) {
	n, err := b.integer("num_cat", 0)
	if err != nil || n == 0 {
		return nil, err
	}
	if n < 0 || n > len(b.values["cat_boundaries"].text) {
		return nil, b.errorOf("num_cat", "found num_cat=%d, expected the number of sets of categories", n)
	}
	bounds, err := listOf(b, "cat_boundaries", n+1, strconv.Atoi)
	if err != nil {
		return nil, err
	}
	if bounds[0] != 0 || !slices.IsSorted(bounds) || bounds[n] > len(b.values["cat_threshold"].text) {
		return nil, b.errorOf("cat_boundaries", "found %.60s as the bounds of %d sets of categories, expected ascending numbers from 0 on", b.values["cat_boundaries"].text, n)
	}
	words, err := listOf(b, "cat_threshold", bounds[n], parseWord)
	if err != nil {
		return nil, err
	}
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

// lgbmTake returns the set that a node names as its threshold, which no other may.
func (b *keyed) lgbmTake(sets [][]float32, number float64, at int) ([]float32, error) {
	k := int(number)
	if float64(k) != number || k < 0 || k >= len(sets) || sets[k] == nil {
		return nil, b.errorOf("threshold", "found %v as the set of categories of node %d, expected one of the %d, each once", number, at, len(sets))
	}
	set := sets[k]
	sets[k] = nil
	return set, nil
}

// lgbmColumns settles the names of features and which of them stands in column 0, and says what
// becomes of numbers that float32 does not tell apart.
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
