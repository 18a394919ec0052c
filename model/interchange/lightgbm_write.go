package interchange

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// writeLightGBM writes version 4 of the format. Every node has the missing type NaN (2) and its own
// default direction. A constant becomes a tree with one leaf.
func writeLightGBM(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	e := must(treesOf(m))
	objective := "lambdarank"
	switch o.Scores {
	case ShiftedScores:
		e.shiftLeaves()
	case LogisticScores:
		objective = "binary sigmoid:1"
	case RawScores:
	}
	if e.constant != 0 || len(e.trees) == 0 {
		e.trees = slices.Insert(e.trees, 0, tree{values: []float64{e.constant}})
	}
	first := 0
	if o.FirstFeature == ColumnsFromOne {
		first = 1
	}
	names, notes := must2(e.lgbmNames(first))
	blocks, sizes := make([][]byte, len(e.trees)), make([]string, len(e.trees))
	categories := false
	for k, t := range e.trees {
		b := lgbmWriter{first: first}
		if blocks[k], err = b.block(k, t); err != nil {
			return nil, fmt.Errorf("tree %d: %w", k+1, err)
		}
		categories = categories || b.sets > 0
		sizes[k] = strconv.Itoa(len(blocks[k]))
	}
	if categories {
		notes = append(notes, "LightGBM cuts a category's decimals off, where this module takes 2.5 as no category")
	}
	infos := slices.Repeat([]string{"[-1:1]"}, len(names)) // "none" marks a column that was never used
	frame, declared := must2(lgbmFrameOf(m, infos, first))
	if first == 1 {
		infos[0] = "none"
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=%d\nobjective=%s\n", len(names)-1, objective)
	fmt.Fprintf(out, "feature_names=%s\nfeature_infos=%s\ntree_sizes=%s\n\n", strings.Join(names, " "), strings.Join(infos, " "), strings.Join(sizes, " "))
	for _, b := range blocks {
		_, _ = out.Write(b) // Flush returns the error
	}
	fmt.Fprintf(out, "end of trees\n\nfeature_importances:\n\nparameters:\n[boosting: gbdt]\n[objective: %s]\n%send of parameters\n\npandas_categorical:%s\n", strings.Fields(objective)[0], declared, frame)
	return notes, out.Flush()
}

// lgbmFrameOf returns the model's categories as the JSON lists that LightGBM writes for a data
// frame. It also returns the training parameter that names the categorical columns, and sets the
// elements of infos for these columns to the codes of their categories.
func lgbmFrameOf(m *model.Model, infos []string, first int) (frame, parameter string, err error) {
	defer catch(&err)
	var lists, numbers []string
	for j, c := range m.Categories {
		if c == nil || c.Unused() {
			continue
		}
		var list any = c.Numbers
		if c.Texts != nil {
			list = c.Texts
		}
		text := must(strictjson.Marshal(list))
		codes := make([]string, len(c.Texts)+len(c.Numbers))
		for code := range codes {
			codes[code] = strconv.Itoa(code)
		}
		infos[j+first] = strings.Join(codes, ":")
		lists, numbers = append(lists, string(text)), append(numbers, strconv.Itoa(j+first))
	}
	if lists == nil {
		return "null", "", nil
	}
	return "[" + strings.Join(lists, ", ") + "]", "[categorical_feature: " + strings.Join(numbers, ",") + "]\n", nil
}

// lgbmNames returns the names of all columns. It replaces white space and the punctuation of JSON,
// which LightGBM does not accept in names, and returns notes on changed names.
func (e *ensemble) lgbmNames(first int) (names, notes []string, err error) {
	column := func(number int) string { return "Column_" + strconv.Itoa(number-1+first) }
	names, notes = renamed(e.featureNames(column), "LightGBM", func(r rune) bool { return r <= ' ' || strings.ContainsRune(`",:[]{}`, r) })
	if first == 1 {
		names = slices.Insert(names, 0, "Column_0")
	}
	return names, notes, checkRenamed(names)
}

// renamed returns the names with "_" in place of every character that a program does not accept. If a
// name changes, it also returns a note.
func renamed(names []string, program string, bad func(r rune) bool) (clean, notes []string) {
	clean = slices.Clone(names)
	for j, name := range names {
		clean[j] = strings.Map(func(r rune) rune {
			if bad(r) {
				return '_'
			}
			return r
		}, name)
		if clean[j] != name && notes == nil {
			notes = append(notes, fmt.Sprintf("%s has no names such as %q: they are written as %q", program, name, clean[j]))
		}
	}
	return clean, notes
}

// checkRenamed returns an error if two names became equal or a name is empty.
func checkRenamed(names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] || name == "" {
			return fmt.Errorf("found the feature name %q a second time or empty, as the program's rules write it, expected different ones", name)
		}
		seen[name] = true
	}
	return nil
}

// lgbmWriter writes a tree.
type lgbmWriter struct {
	first          int // column of feature 1
	out            bytes.Buffer
	sets           int
	bounds, bitset []byte
	words          int
}

// maxCategory is the largest category that can be written. A set has a bit for each category up to its
// largest.
const maxCategory = 1<<20 - 1

func (b *lgbmWriter) block(number int, t tree) ([]byte, error) {
	features, thresholds, decisions := make([]int, len(t.nodes)), make([]float64, len(t.nodes)), make([]int, len(t.nodes))
	lefts, rights, zeros := make([]int, len(t.nodes)), make([]int, len(t.nodes)), make([]int, len(t.nodes))
	b.bounds = append(b.bounds, '0')
	for i, n := range t.nodes {
		features[i], lefts[i], rights[i] = n.Feature+b.first, n.Left, n.Right
		decisions[i] = lgbmMissingNaN
		if n.Categories != nil {
			decisions[i] |= lgbmCategorical
			thresholds[i] = float64(b.sets)
			if err := b.addSet(n); err != nil {
				return nil, err
			}
			continue
		}
		thresholds[i] = float64(n.Threshold)
		if n.MissingLeft {
			decisions[i] |= lgbmDefaultLeft
		}
	}
	fmt.Fprintf(&b.out, "Tree=%d\nnum_leaves=%d\nnum_cat=%d\n", number, len(t.values), b.sets)
	writeList(b, "split_feature", features, integerText)
	writeList(b, "split_gain", zeros, integerText)
	writeList(b, "threshold", thresholds, realText)
	writeList(b, "decision_type", decisions, integerText)
	writeList(b, "left_child", lefts, integerText)
	writeList(b, "right_child", rights, integerText)
	writeList(b, "leaf_value", t.values, realText)
	writeList(b, "leaf_weight", make([]int, len(t.values)), integerText)
	writeList(b, "leaf_count", make([]int, len(t.values)), integerText)
	for _, key := range []string{"internal_value", "internal_weight", "internal_count"} {
		writeList(b, key, zeros, integerText)
	}
	if b.sets > 0 {
		fmt.Fprintf(&b.out, "cat_boundaries=%s\ncat_threshold=%s\n", b.bounds, bytes.TrimSpace(b.bitset))
	}
	fmt.Fprint(&b.out, "is_linear=0\nshrinkage=1\n\n\n")
	return b.out.Bytes(), nil
}

// addSet adds the set of a node's categories.
func (b *lgbmWriter) addSet(n scorer.TreeNode) error {
	var words []uint32
	for _, c := range n.Categories {
		if c < 0 || c > maxCategory || c != float32(math.Trunc(float64(c))) {
			return fmt.Errorf("found the category %v of feature %d, expected whole numbers from 0 to %d", c, n.Feature+1, maxCategory)
		}
		k := int(c)
		words = append(words, make([]uint32, max(0, k/32+1-len(words)))...)
		words[k/32] |= 1 << (k % 32)
	}
	for _, w := range words {
		b.bitset = append(strconv.AppendUint(b.bitset, uint64(w), 10), ' ')
	}
	b.words += len(words)
	b.bounds = strconv.AppendInt(append(b.bounds, ' '), int64(b.words), 10)
	b.sets++
	return nil
}

func integerText(text []byte, x int) []byte  { return strconv.AppendInt(text, int64(x), 10) }
func realText(text []byte, x float64) []byte { return strconv.AppendFloat(text, x, 'g', -1, 64) }

func writeList[T any](b *lgbmWriter, key string, list []T, form func([]byte, T) []byte) {
	text := append([]byte(key), '=')
	for i, x := range list {
		if i > 0 {
			text = append(text, ' ')
		}
		text = form(text, x)
	}
	_, _ = b.out.Write(append(text, '\n'))
}
