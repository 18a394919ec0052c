package interchange

import (
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// onnx is an ONNX graph with the input "features" (documents × features, float32, NaN for a missing
// value) and the output "scores" (documents × 1, float32). Linear models and networks become a Gemm
// node per layer, trees and stumps become a TreeEnsembleRegressor. The metadata contain the feature
// names.
var onnx = format{name: "onnx", title: "ONNX (opset 17, ai.onnx.ml 3)", write: writeONNX}

// The versions of the format and of the operator sets.
const (
	onnxIR      = 8
	onnxOpset   = 17
	onnxMLOpset = 3
)

// Fields of the messages of onnx.proto3.
const (
	onnxModelIR, onnxModelProducer, onnxModelGraph, onnxModelOpset, onnxModelMetadata = 1, 2, 7, 8, 14
	onnxGraphNode, onnxGraphName, onnxGraphInit, onnxGraphInput, onnxGraphOutput      = 1, 2, 5, 11, 12
	onnxNodeInput, onnxNodeOutput, onnxNodeType, onnxNodeAttribute, onnxNodeDomain    = 1, 2, 4, 5, 7
	onnxAttrName, onnxAttrF, onnxAttrI, onnxAttrS, onnxAttrFloats, onnxAttrInts       = 1, 2, 3, 4, 7, 8
	onnxAttrStrings, onnxAttrType                                                     = 9, 20
	onnxTensorDims, onnxTensorType, onnxTensorName, onnxTensorRaw                     = 1, 2, 8, 9
)

// Types of attributes and tensors.
const (
	onnxFloat, onnxInt, onnxString, onnxFloats, onnxInts, onnxStrings = 1, 2, 3, 6, 7, 8
	onnxTensorFloat, onnxTensorBool                                   = 1, 9
)

func writeONNX(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	names := must(engineNames(m, o))
	g := onnxGraph{at: "features"}
	switch m.Scorer.(type) {
	case *scorer.Trees, *scorer.Stumps:
		err = g.trees(m, o.Scores)
	case scorer.PairNetwork:
		return nil, fmt.Errorf("found the scorer %q, which scores a document by the others of its query: ONNX's graph is of single documents", m.Scorer.Kind())
	default:
		err = g.layers(m, o.Scores)
	}
	if err != nil {
		return nil, err
	}
	// The output of the last node is the output of the graph.
	g.nodes[len(g.nodes)-1].output = "scores"
	list := must(strictjson.Marshal(names))
	_, err = w.Write(g.model(o.Name, len(names), string(list)))
	return nil, err
}

// onnxGraph builds a graph, node by node. at is the name of the current value, which is the input
// of the next node. Usually it is the output of the last node.
type onnxGraph struct {
	nodes []onnxNode
	init  []byte // encoded initializers (constants), with their field tags
	at    string
}

// onnxNode is a node before encoding, so that its output can still be renamed.
type onnxNode struct {
	kind, domain, output string
	inputs               []string
	attributes           []byte // encoded, with their field tags
}

// add adds a node. Its inputs are the current value, followed by the values named in more. Its output
// becomes the current value.
func (g *onnxGraph) add(kind, domain string, attributes []byte, more ...string) {
	output := fmt.Sprintf("v%d", len(g.nodes)+1)
	g.nodes = append(g.nodes, onnxNode{kind, domain, output, append([]string{g.at}, more...), attributes})
	g.at = output
}

// tensor adds a constant with float32 numbers and returns its name.
func (g *onnxGraph) tensor(values []float64, dims ...int) (_ string, err error) {
	defer catch(&err)
	name := fmt.Sprintf("c%d", len(g.init))
	var t, raw []byte
	for _, d := range dims {
		t = appendVarint(t, onnxTensorDims, uint64(d))
	}
	for _, v := range values {
		f := must(single("the weight", v))
		raw = protowire.AppendFixed32(raw, math.Float32bits(f))
	}
	t = appendVarint(t, onnxTensorType, onnxTensorFloat)
	t = appendText(t, onnxTensorName, name)
	t = appendBytes(t, onnxTensorRaw, raw)
	g.init = appendBytes(g.init, onnxGraphInit, t)
	return name, nil
}

// fill adds nodes that replace missing values by the numbers in by. by has one number for all
// columns, or one for each column.
func (g *onnxGraph) fill(by []float64) (err error) {
	defer catch(&err)
	values := must(g.tensor(by, len(by)))
	features := g.at
	g.add("IsNaN", "", nil)
	g.add("Where", "", nil, values, features)
	return nil
}

// onnxUnits are the ONNX operators of the activations, with their attributes.
var onnxUnits = map[scorer.Activation]struct {
	kind       string
	attributes []byte
}{
	scorer.Tanh: {kind: "Tanh"}, scorer.Sigmoid: {kind: "Sigmoid"}, scorer.ReLU: {kind: "Relu"}, scorer.Softplus: {kind: "Softplus"},
	scorer.ELU: {kind: "Elu"}, scorer.LeakyReLU: {"LeakyRelu", floatAttribute("alpha", 0.01)},
}

func (g *onnxGraph) layers(m *model.Model, scores Scores) (err error) {
	defer catch(&err)
	if scores == ShiftedScores {
		return errNoLeastScore
	}
	layers := must(bareNetworkOf(m))
	if m.Missing == dataset.MissingZero {
		check(g.fill([]float64{0}))
	}
	check(g.transforms(m))
	for _, l := range layers {
		var weights []float64
		for _, row := range l.weights {
			weights = append(weights, row...)
		}
		w := must(g.tensor(weights, len(l.weights), len(l.weights[0])))
		b := must(g.tensor(l.biases, len(l.biases)))
		g.add("Gemm", "", intAttribute("transB", 1), w, b)
		if unit, ok := onnxUnits[l.activation]; ok {
			g.add(unit.kind, "", unit.attributes)
		}
	}
	if scores == LogisticScores {
		g.add("Sigmoid", "", nil)
	}
	return nil
}

// trees adds a TreeEnsembleRegressor. Like [scorer.Trees], it sends a document left if x ≤
// threshold in float32.
func (g *onnxGraph) trees(m *model.Model, scores Scores) (err error) {
	defer catch(&err)
	e := must(treesOf(m))
	check(e.needThresholds())
	if scores == ShiftedScores {
		e.shiftSingle()
	}
	if len(e.trees) == 0 {
		e.trees = []tree{{values: []float64{0}}}
	}
	var a onnxTrees
	for k, t := range e.trees {
		if err := a.add(k, t); err != nil {
			return fmt.Errorf("tree %d: %w", k+1, err)
		}
	}
	base := must(single("the constant", e.constant))
	g.add("TreeEnsembleRegressor", "ai.onnx.ml", a.attributes(base))
	if scores == LogisticScores {
		g.add("Sigmoid", "", nil)
	}
	return nil
}

// onnxTrees are the attributes of TreeEnsembleRegressor: lists with an element for each node or leaf.
type onnxTrees struct {
	trees, ids, features, yes, no, missing, targetTrees, targetIDs []int64
	modes                                                          []string
	thresholds, weights                                            []float32
}

// add appends the k-th tree. Inner nodes keep their indices as ids. The ids of the leaves follow.
func (a *onnxTrees) add(k int, t tree) (err error) {
	defer catch(&err)
	id := func(c int) int64 {
		if c < 0 {
			return int64(len(t.nodes) - 1 - c)
		}
		return int64(c)
	}
	put := func(own, feature, yes, no, missing int64, mode string, threshold float32) {
		a.trees, a.ids, a.features = append(a.trees, int64(k)), append(a.ids, own), append(a.features, feature)
		a.yes, a.no, a.missing = append(a.yes, yes), append(a.no, no), append(a.missing, missing)
		a.modes, a.thresholds = append(a.modes, mode), append(a.thresholds, threshold)
	}
	for i, n := range t.nodes {
		missing := int64(0)
		if n.MissingLeft {
			missing = 1
		}
		put(int64(i), int64(n.Feature), id(n.Left), id(n.Right), missing, "BRANCH_LEQ", n.Threshold)
	}
	for l, v := range t.values {
		f := must(single("the value", v))
		put(id(-1-l), 0, 0, 0, 0, "LEAF", 0)
		a.targetTrees, a.targetIDs, a.weights = append(a.targetTrees, int64(k)), append(a.targetIDs, id(-1-l)), append(a.weights, f)
	}
	return nil
}

func (a *onnxTrees) attributes(base float32) []byte {
	b := stringAttribute("aggregate_function", "SUM")
	b = append(b, stringAttribute("post_transform", "NONE")...)
	b = append(b, intAttribute("n_targets", 1)...)
	b = append(b, floatsAttribute("base_values", []float32{base})...)
	for _, list := range []struct {
		name   string
		values []int64
	}{
		{"nodes_treeids", a.trees}, {"nodes_nodeids", a.ids}, {"nodes_featureids", a.features},
		{"nodes_truenodeids", a.yes}, {"nodes_falsenodeids", a.no}, {"nodes_missing_value_tracks_true", a.missing},
		{"target_treeids", a.targetTrees}, {"target_nodeids", a.targetIDs}, {"target_ids", make([]int64, len(a.weights))},
	} {
		b = append(b, intsAttribute(list.name, list.values)...)
	}
	b = append(b, stringsAttribute("nodes_modes", a.modes)...)
	b = append(b, floatsAttribute("nodes_values", a.thresholds)...)
	return append(b, floatsAttribute("target_weights", a.weights)...)
}

// model returns the content of the ONNX file.
func (g *onnxGraph) model(name string, features int, names string) []byte {
	var graph []byte
	for i := range g.nodes {
		n := &g.nodes[i]
		var b []byte
		for _, input := range n.inputs {
			b = appendText(b, onnxNodeInput, input)
		}
		b = appendText(b, onnxNodeOutput, n.output)
		b = appendText(b, onnxNodeType, n.kind)
		b = append(b, n.attributes...)
		if n.domain != "" {
			b = appendText(b, onnxNodeDomain, n.domain)
		}
		graph = appendBytes(graph, onnxGraphNode, b)
	}
	graph = appendText(graph, onnxGraphName, name)
	graph = append(graph, g.init...)
	graph = appendBytes(graph, onnxGraphInput, onnxMatrix("features", features))
	graph = appendBytes(graph, onnxGraphOutput, onnxMatrix("scores", 1))

	file := appendVarint(nil, onnxModelIR, onnxIR)
	file = appendText(file, onnxModelProducer, "listwise")
	file = appendBytes(file, onnxModelGraph, graph)
	file = appendBytes(file, onnxModelOpset, appendVarint(appendText(nil, 1, ""), 2, onnxOpset))
	file = appendBytes(file, onnxModelOpset, appendVarint(appendText(nil, 1, "ai.onnx.ml"), 2, onnxMLOpset))
	return appendBytes(file, onnxModelMetadata, appendText(appendText(nil, 1, "features"), 2, names))
}

// onnxMatrix returns a ValueInfoProto that describes a float32 matrix with any number of documents.
func onnxMatrix(name string, columns int) []byte {
	rows := appendBytes(nil, 1, appendText(nil, 2, "documents"))
	shape := appendBytes(rows, 1, appendVarint(nil, 1, uint64(columns)))
	tensor := appendBytes(appendVarint(nil, 1, onnxTensorFloat), 2, shape)
	return appendBytes(appendText(nil, 1, name), 2, appendBytes(nil, 1, tensor))
}

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendText(b []byte, field protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// onnxAttribute returns an AttributeProto, with its field tag in a node.
func onnxAttribute(name string, kind uint64, value []byte) []byte {
	a := append(appendText(nil, onnxAttrName, name), value...)
	return appendBytes(nil, onnxNodeAttribute, appendVarint(a, onnxAttrType, kind))
}

func intAttribute(name string, v uint64) []byte {
	return onnxAttribute(name, onnxInt, appendVarint(nil, onnxAttrI, v))
}

func floatAttribute(name string, v float32) []byte {
	value := protowire.AppendFixed32(protowire.AppendTag(nil, onnxAttrF, protowire.Fixed32Type), math.Float32bits(v))
	return onnxAttribute(name, onnxFloat, value)
}

func stringAttribute(name, v string) []byte {
	return onnxAttribute(name, onnxString, appendText(nil, onnxAttrS, v))
}

func intsAttribute(name string, list []int64) []byte {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	return onnxAttribute(name, onnxInts, appendBytes(nil, onnxAttrInts, packed))
}

func floatsAttribute(name string, list []float32) []byte {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendFixed32(packed, math.Float32bits(v))
	}
	return onnxAttribute(name, onnxFloats, appendBytes(nil, onnxAttrFloats, packed))
}

func stringsAttribute(name string, list []string) []byte {
	var value []byte
	for _, v := range list {
		value = appendText(value, onnxAttrStrings, v)
	}
	return onnxAttribute(name, onnxStrings, value)
}

// transforms adds nodes for the model's transforms of features. A node processes all features at
// once: the nodes for the first step of every feature come first, then the nodes for the second
// steps, and so on. The constants of a node are chosen so that it does not change features whose
// step is of another type.
func (g *onnxGraph) transforms(m *model.Model) (err error) {
	defer catch(&err)
	most := 0
	for _, j := range m.Transforms.Features() {
		most = max(most, len(m.Transforms.Chain(j)))
	}
	n := m.Scorer.NumFeatures()
	for k := range most {
		steps := make([]transform.Step, n)
		for _, j := range m.Transforms.Features() {
			if chain := m.Transforms.Chain(j); k < len(chain) {
				steps[j] = chain[k]
			}
		}
		for _, do := range []func([]transform.Step) error{g.clips, g.logarithms, g.standards} {
			check(do(steps))
		}
		if m.Missing != dataset.MissingKeep {
			continue
		}
		check(g.fills(steps))
	}
	return nil
}

// columns returns a number for every feature: number(step) if its step is of type S, otherwise neutral.
// found is false if no step is of type S.
func columns[S transform.Step](steps []transform.Step, neutral float64, number func(S) float64) (numbers []float64, found bool) {
	numbers = make([]float64, len(steps))
	for j, s := range steps {
		numbers[j] = neutral
		if own, ok := s.(S); ok {
			numbers[j], found = number(own), true
		}
	}
	return numbers, found
}

// with adds a binary operator. Its inputs are the current value and a constant with one number for
// every feature.
func (g *onnxGraph) with(kind string, numbers []float64) (err error) {
	defer catch(&err)
	c := must(g.tensor(numbers, len(numbers)))
	g.add(kind, "", nil, c)
	return nil
}

func (g *onnxGraph) clips(steps []transform.Step) error {
	low, found := columns(steps, -math.MaxFloat32, func(s transform.Clip) float64 { return s.Low })
	if !found {
		return nil
	}
	high, _ := columns(steps, math.MaxFloat32, func(s transform.Clip) float64 { return s.High })
	if err := g.with("Max", low); err != nil {
		return err
	}
	return g.with("Min", high)
}

// logarithms adds nodes that replace x by sign(x)·log(1 + |x|) in features with a Log1p step.
func (g *onnxGraph) logarithms(steps []transform.Step) (err error) {
	defer catch(&err)
	mask, found := columns(steps, 0, func(transform.Log1p) float64 { return 1 })
	if !found {
		return nil
	}
	x := g.at
	one := must(g.tensor([]float64{1}, 1))
	g.add("Sign", "", nil)
	sign := g.at
	g.at = x
	g.add("Abs", "", nil)
	g.add("Add", "", nil, one)
	g.add("Log", "", nil)
	g.add("Mul", "", nil, sign)
	return g.choose(mask, g.at, x)
}

// choose adds nodes that select the value yes for features with a mask other than 0, and the value no
// for other features.
func (g *onnxGraph) choose(mask []float64, yes, no string) (err error) {
	defer catch(&err)
	c := must(g.tensor(mask, len(mask)))
	g.at = c
	g.add("Cast", "", intAttribute("to", onnxTensorBool))
	g.add("Where", "", nil, yes, no)
	return nil
}

func (g *onnxGraph) standards(steps []transform.Step) error {
	mean, found := columns(steps, 0, func(s transform.Standard) float64 { return s.Mean })
	if !found {
		return nil
	}
	// If the deviation is 0, the factor of x − mean is 0, so that the result is always 0.
	factor, _ := columns(steps, 1, func(s transform.Standard) float64 {
		if s.Deviation == 0 {
			return 0
		}
		return 1 / s.Deviation
	})
	if err := g.with("Sub", mean); err != nil {
		return err
	}
	return g.with("Mul", factor)
}

func (g *onnxGraph) fills(steps []transform.Step) error {
	by, found := columns(steps, 0, func(s transform.Fill) float64 { return s.Value })
	if !found {
		return nil
	}
	mask, _ := columns(steps, 0, func(transform.Fill) float64 { return 1 })
	x := g.at
	if err := g.fill(by); err != nil {
		return err
	}
	return g.choose(mask, g.at, x)
}
