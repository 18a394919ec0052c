package interchange

import (
	"bufio"
	"bytes"
	"errors"
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

// xgboostDump is the JSON of XGBoost's get_dump, a list of nested trees. It is also the definition
// of a model/xgboost+json in the learning-to-rank plugins of Elasticsearch and OpenSearch. There
// the list may also be "splits" in an object with an objective. In both cases, base_score is
// missing.
var xgboostDump = format{
	name: "xgboost-dump", title: "XGBoost JSON dump, as in model/xgboost+json",
	is: isXGBoostDump, read: readXGBoostDump, write: writeXGBoostDump,
}

func isXGBoostDump(head []byte) bool {
	text := bytes.TrimSpace(head)
	isNode := bytes.Contains(text, []byte(`"leaf"`)) && bytes.Contains(text, []byte(`"nodeid"`))
	return isNode && (bytes.HasPrefix(text, []byte("[")) || firstKey(text) == "objective" || firstKey(text) == "splits")
}

// dumpReader is the state of reading nested trees.
type dumpReader struct {
	numbers map[string]int // features by name, numbered in the order of their first use
	names   []string
	nodes   []scorer.TreeNode // of the current tree
	values  []float64
}

func readXGBoostDump(data []byte, o ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	check(strictjson.Check(data))
	trees, objective := strictjson.Whole(data), ""
	if trees.Text[0] == '{' {
		var f struct {
			Objective string           `json:"objective"`
			Splits    strictjson.Value `json:"splits"`
		}
		check(decodeJSON(data, &f))
		if trees, objective = f.Splits, f.Objective; trees.Text == nil {
			return nil, nil, errors.New(`found no "splits", expected a list of trees`)
		}
	}
	list := must(strictjson.Elements(trees))
	r, e := dumpReader{numbers: map[string]int{}}, &ensemble{}
	for _, v := range list {
		r.nodes, r.values = nil, nil
		if _, err := r.node(v); err != nil {
			return nil, nil, err
		}
		t, err := grow(r.nodes, r.values)
		if err != nil {
			return nil, nil, wrong(v, "%w", err)
		}
		e.trees = append(e.trees, t)
	}
	notes := must(r.settleFeatures(e, o))
	for _, t := range e.trees {
		if slices.ContainsFunc(t.nodes, func(n scorer.TreeNode) bool { return n.Categories != nil }) {
			notes = append(notes, "categories are XGBoost's codes from 0, since a dump does not keep the values of a data frame; save_model does")
			break
		}
	}
	m, err := e.model("xgboost-dump", map[string]any{"objective": objective})
	return m, append(notes, "a dump has no base_score: scores may differ from XGBoost's by a constant"), err
}

// dumpNode is a node of a dump.
type dumpNode struct {
	ID        *int             `json:"nodeid"`
	Split     *string          `json:"split"`
	Condition strictjson.Value `json:"split_condition"`
	Yes       *int             `json:"yes"`
	No        *int             `json:"no"`
	Missing   *int             `json:"missing"`
	Children  strictjson.Value `json:"children"`
	Leaf      *float32         `json:"leaf"`
}

// node adds a node and all nodes below it. It returns the node's number in the encoding of
// TreeNode.Left: an index of nodes, or −1 − l for leaf l.
func (r *dumpReader) node(v strictjson.Value) (_ int, err error) {
	defer catch(&err)
	o := must(objectOf(v, "a node"))
	var d dumpNode
	check(o.Decode(&d))
	if d.Leaf != nil {
		r.values = append(r.values, float64(*d.Leaf))
		return -len(r.values), nil
	}
	if d.Split == nil || d.Yes == nil || d.No == nil || d.Children.Text == nil {
		return 0, wrong(v, `found a node without "leaf" that lacks "split", "yes", "no" or "children", expected all of them`)
	}
	children := must(strictjson.Elements(d.Children))
	if len(children) != 2 {
		return 0, wrong(d.Children, "found %d children, expected 2", len(children))
	}
	own := len(r.nodes)
	r.nodes = append(r.nodes, scorer.TreeNode{Feature: r.feature(*d.Split)})
	var at [2]int // the children's numbers: yes, no
	for _, child := range children {
		id := must(nodeID(child))
		place, err := r.node(child)
		switch {
		case err != nil:
			return 0, err
		case id == *d.Yes:
			at[0] = place
		case id == *d.No && id != *d.Yes:
			at[1] = place
		default:
			return 0, wrong(child, `found the child %d, expected %d and %d, as "yes" and "no" say`, id, *d.Yes, *d.No)
		}
	}
	if at[0] == 0 || at[1] == 0 {
		return 0, wrong(d.Children, `found one child twice, expected %d and %d, as "yes" and "no" say`, *d.Yes, *d.No)
	}
	n := &r.nodes[own]
	n.Left, n.Right = at[0], at[1]
	return own, d.divide(n, v)
}

func nodeID(v strictjson.Value) (_ int, err error) {
	defer catch(&err)
	o := must(objectOf(v, "a node"))
	var d struct {
		ID *int `json:"nodeid"`
	}
	check(o.Decode(&d))
	if d.ID == nil {
		return 0, wrong(v, `found a node without "nodeid", expected its number`)
	}
	return *d.ID, nil
}

// divide sets the test of a node. Values of the feature below the condition go to the child "yes".
// If the condition is a list of categories, documents with one of these categories go to the child
// "yes".
func (d *dumpNode) divide(n *scorer.TreeNode, v strictjson.Value) error {
	if d.Missing != nil && *d.Missing != *d.Yes && *d.Missing != *d.No {
		return wrong(v, `found %d as "missing", expected %d or %d, as "yes" and "no" say`, *d.Missing, *d.Yes, *d.No)
	}
	n.MissingLeft = d.Missing != nil && *d.Missing == *d.Yes
	switch text := d.Condition.Text; {
	case text == nil:
		return wrong(v, `found no "split_condition", expected a number: indicator features are not read`)
	case text[0] == '[':
		var f struct {
			Set strictjson.Integers `json:"split_condition"`
		}
		if err := (strictjson.Object{{Key: "split_condition", Value: d.Condition}}).Decode(&f); err != nil {
			return err
		}
		set, err := categorySet(f.Set)
		if err != nil {
			return wrong(d.Condition, "%w", err)
		}
		n.Categories = set
		return nil
	}
	condition, err := strconv.ParseFloat(string(d.Condition.Text), 32)
	if err != nil {
		return wrong(d.Condition, `found %.40s as "split_condition", expected a number within the range of float32`, d.Condition.Text)
	}
	n.Threshold = before(float32(condition))
	return nil
}

// feature returns the number of the named feature. Features are numbered in the order of their first
// use.
func (r *dumpReader) feature(name string) int {
	number, ok := r.numbers[name]
	if !ok {
		number = len(r.names)
		r.numbers[name], r.names = number, append(r.names, name)
	}
	return number
}

// settleFeatures orders the features. It uses o.Names if given. Otherwise it uses the numbers in names
// such as f0 and f1 (XGBoost's names of unnamed columns) or feature_1 and feature_2 (this module's).
// For other names, the order is that of first use.
func (r *dumpReader) settleFeatures(e *ensemble, o ReadOptions) ([]string, error) {
	if o.Names != nil {
		numbers := make([]int, len(r.names))
		for i, name := range r.names {
			if numbers[i] = slices.Index(o.Names, name); numbers[i] < 0 {
				return nil, fmt.Errorf("found the feature %q, expected one of those given", name)
			}
		}
		e.features, e.names = len(o.Names), o.Names
		e.renumber(numbers)
		return nil, nil
	}
	numbers, ok := r.numbered("f")
	if !ok {
		if numbers, ok = r.numbered("feature_"); ok {
			for i := range numbers {
				if numbers[i]--; numbers[i] < 0 {
					return nil, errors.New(`found the feature "feature_0", expected names that count from 1`)
				}
			}
			o.FirstFeature = ColumnsFromZero
		}
	}
	if !ok {
		e.features, e.names = max(1, len(r.names)), r.names
		return []string{"a dump does not tell the order of features: they are in that in which its trees use them"}, nil
	}
	e.features = 1
	for _, n := range numbers {
		e.features = max(e.features, n+1)
	}
	e.renumber(numbers)
	return e.number(o, true, false)
}

// renumber replaces each feature's number j by numbers[j].
func (e *ensemble) renumber(numbers []int) {
	for _, t := range e.trees {
		for i := range t.nodes {
			t.nodes[i].Feature = numbers[t.nodes[i].Feature]
		}
	}
}

// numbered returns the numbers in the names of the features if every name is prefix followed by a
// number. Otherwise it returns false.
func (r *dumpReader) numbered(prefix string) ([]int, bool) {
	numbers := make([]int, len(r.names))
	for i, name := range r.names {
		text, ok := strings.CutPrefix(name, prefix)
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 0 || n >= math.MaxInt32 || strconv.Itoa(n) != text {
			return nil, false
		}
		numbers[i] = n
	}
	return numbers, true
}

func writeXGBoostDump(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	text, notes := must2(xgboostDefinition(m, o))
	out := bufio.NewWriter(w)
	_, _ = out.Write(append(text, '\n')) // Flush returns the error
	return notes, out.Flush()
}

// xgboostDefinition returns the text of a dump.
func xgboostDefinition(m *model.Model, o WriteOptions) (text []byte, notes []string, err error) {
	defer catch(&err)
	f, notes := must2(xgbForestOf(m, o))
	check(f.needThresholds())
	names := must(engineNames(m, o))
	d := dumpWriter{forest: f}
	for _, name := range names {
		quoted := must(strictjson.Marshal(name))
		d.names = append(d.names, quoted)
	}
	if o.Scores == LogisticScores {
		d.text = append(d.text, `{"objective":"binary:logistic","splits":`...)
	}
	d.text = append(d.text, '[')
	for k, nodes := range f.trees {
		d.text = separate(d.text, k, ",\n")
		d.node(nodes, 0, 0)
	}
	d.text = append(d.text, ']')
	if o.Scores == LogisticScores {
		d.text = append(d.text, '}')
	}
	return d.text, notes, nil
}

// needThresholds returns an error if a tree has nodes with categories.
func (f *xgbForest) needThresholds() error {
	if j := slices.Index(f.categories, true); j >= 0 {
		return fmt.Errorf("found categories of feature %d, expected thresholds alone: the plugins have none", j+1)
	}
	return nil
}

// dumpWriter writes nested trees. It writes float32 numbers with the digits of float64. So a parser
// that reads a float64 and converts it gets the same float32.
type dumpWriter struct {
	forest *xgbForest
	names  [][]byte // in quotes
	text   []byte
}

func (d *dumpWriter) node(nodes []xgbNode, at, depth int) {
	n := &nodes[at]
	number := func(key string, value int) {
		d.text = append(strconv.AppendInt(append(d.text, key...), int64(value), 10), ',')
	}
	number(`{"nodeid":`, at)
	if n.left == 0 {
		d.text = append(strconv.AppendFloat(append(d.text, `"leaf":`...), float64(n.value), 'g', -1, 64), '}')
		return
	}
	missing := n.left + 1
	if n.missingLeft {
		missing = n.left
	}
	number(`"depth":`, depth)
	d.text = append(append(d.text, `"split":`...), d.names[n.feature]...)
	d.text = append(strconv.AppendFloat(append(d.text, `,"split_condition":`...), float64(n.value), 'g', -1, 64), ',')
	number(`"yes":`, n.left)
	number(`"no":`, n.left+1)
	number(`"missing":`, missing)
	d.text = append(d.text, `"children":[`...)
	d.node(nodes, n.left, depth+1)
	d.text = append(d.text, ',')
	d.node(nodes, n.left+1, depth+1)
	d.text = append(d.text, "]}"...)
}
