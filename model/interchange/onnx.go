package interchange

import (
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// onnx is an ONNX graph of one input, "features" (documents × features, float32, NaN where
// missing), and one output, "scores" (documents × 1, float32): a Gemm a layer for linear models
// and networks, a TreeEnsembleRegressor for trees and stumps. Feature names are in the metadata.
var onnx = format{name: "onnx", title: "ONNX (opset 17, ai.onnx.ml 3)", write: writeONNX}

// The versions of what a file uses.
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

func writeONNX(w io.Writer, m *model.Model, o WriteOptions) ([]string, error) {
	names, err := engineNames(m, o)
	if err != nil {
		return nil, err
	}
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
	// The last node gives the output its name.
	g.nodes[len(g.nodes)-1].output = "scores"
	list, err := strictjson.Marshal(names)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(g.model(o.Name, len(names), string(list)))
	return nil, err
}

// onnxGraph collects the nodes of a graph; at is the value that the next one takes.
type onnxGraph struct {
	nodes []onnxNode
	init  []byte // of the graph, with its tags
	at    string
}

// onnxNode is a node before its output may be renamed.
type onnxNode struct {
	kind, domain, output string
	inputs               []string
	attributes           []byte // with their tags
}

// add adds a node that takes the value at hand and some more, whose output is the next value.
func (g *onnxGraph) add(kind, domain string, attributes []byte, more ...string) {
	output := fmt.Sprintf("v%d", len(g.nodes)+1)
	g.nodes = append(g.nodes, onnxNode{kind, domain, output, append([]string{g.at}, more...), attributes})
	g.at = output
}

// tensor adds a constant of float32 numbers and returns its name.
func (g *onnxGraph) tensor(values []float64, dims ...int) (string, error) {
	name := fmt.Sprintf("c%d", len(g.init))
	var t, raw []byte
	for _, d := range dims {
		t = appendVarint(t, onnxTensorDims, uint64(d))
	}
	for _, v := range values {
		f, err := single("the weight", v)
		if err != nil {
			return "", err
		}
		raw = protowire.AppendFixed32(raw, math.Float32bits(f))
	}
	t = appendVarint(t, onnxTensorType, onnxTensorFloat)
	t = appendText(t, onnxTensorName, name)
	t = appendBytes(t, onnxTensorRaw, raw)
	g.init = appendBytes(g.init, onnxGraphInit, t)
	return name, nil
}

// fill replaces missing values by one for all columns, or one each.
func (g *onnxGraph) fill(by []float64) error {
	values, err := g.tensor(by, len(by))
	if err != nil {
		return err
	}
	features := g.at
	g.add("IsNaN", "", nil)
	g.add("Where", "", nil, values, features)
	return nil
}

// onnxUnits are the operators of activations, with attributes.
var onnxUnits = map[scorer.Activation]struct {
	kind       string
	attributes []byte
}{
	scorer.Tanh: {kind: "Tanh"}, scorer.Sigmoid: {kind: "Sigmoid"}, scorer.ReLU: {kind: "Relu"}, scorer.Softplus: {kind: "Softplus"},
	scorer.ELU: {kind: "Elu"}, scorer.LeakyReLU: {"LeakyRelu", floatAttribute("alpha", 0.01)},
}

func (g *onnxGraph) layers(m *model.Model, scores Scores) error {
	if scores == ShiftedScores {
		return errNoLeastScore
	}
	layers, err := bareNetworkOf(m)
	if err != nil {
		return err
	}
	if m.Missing == dataset.MissingZero {
		if err := g.fill([]float64{0}); err != nil {
			return err
		}
	}
	if err := g.transforms(m); err != nil {
		return err
	}
	for _, l := range layers {
		var weights []float64
		for _, row := range l.weights {
			weights = append(weights, row...)
		}
		w, err := g.tensor(weights, len(l.weights), len(l.weights[0]))
		if err != nil {
			return err
		}
		b, err := g.tensor(l.biases, len(l.biases))
		if err != nil {
			return err
		}
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

// trees adds a TreeEnsembleRegressor, whose rule x ≤ value, on float32, is that of our trees.
func (g *onnxGraph) trees(m *model.Model, scores Scores) error {
	e, err := treesOf(m)
	if err == nil {
		err = e.needThresholds()
	}
	if err != nil {
		return err
	}
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
	base, err := single("the constant", e.constant)
	if err != nil {
		return err
	}
	g.add("TreeEnsembleRegressor", "ai.onnx.ml", a.attributes(base))
	if scores == LogisticScores {
		g.add("Sigmoid", "", nil)
	}
	return nil
}

// onnxTrees are the lists of TreeEnsembleRegressor, an element a node or a leaf.
type onnxTrees struct {
	trees, ids, features, yes, no, missing, targetTrees, targetIDs []int64
	modes                                                          []string
	thresholds, weights                                            []float32
}

// add appends a tree: its nodes have their numbers, and its leaves those behind.
func (a *onnxTrees) add(k int, t tree) error {
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
		f, err := single("the value", v)
		if err != nil {
			return err
		}
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

// model returns the file.
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

// onnxMatrix returns a ValueInfoProto: a float32 matrix of any number of documents.
func onnxMatrix(name string, columns int) []byte {
	rows := appendBytes(nil, 1, appendText(nil, 2, "documents"))
	shape := appendBytes(rows, 1, appendVarint(nil, 1, uint64(columns)))
	tensor := appendBytes(appendVarint(nil, 1, onnxTensorFloat), 2, shape)
	return appendBytes(appendText(nil, 1, name), 2, appendBytes(nil, 1, tensor))
}
