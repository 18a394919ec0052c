package interchange

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// message is a protobuf message by the numbers of its fields: varints and fixed numbers as
// uint64, everything else as bytes.
type message struct {
	numbers map[protowire.Number][]uint64
	bytes   map[protowire.Number][][]byte
}

func readMessage(t *testing.T, b []byte) message {
	t.Helper()
	m := message{map[protowire.Number][]uint64{}, map[protowire.Number][][]byte{}}
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
			m.numbers[field] = append(m.numbers[field], v)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(b)
			m.numbers[field] = append(m.numbers[field], uint64(bits))
		case protowire.BytesType:
			var text []byte
			text, n = protowire.ConsumeBytes(b)
			m.bytes[field] = append(m.bytes[field], text)
		default:
			t.Fatalf("found the wire type %d", kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
	}
	return m
}

func (m message) text(field protowire.Number) string {
	if len(m.bytes[field]) == 0 {
		return ""
	}
	return string(m.bytes[field][0])
}

// floats reads packed float32s.
func floats(b []byte) (list []float32) {
	for len(b) > 0 {
		bits, n := protowire.ConsumeFixed32(b)
		list, b = append(list, math.Float32frombits(bits)), b[n:]
	}
	return list
}

// ints reads packed varints.
func ints(b []byte) (list []int64) {
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		list, b = append(list, int64(v)), b[n:]
	}
	return list
}

// onnxRun evaluates a graph for one document, in double, by the definitions of its operators.
type onnxRun struct {
	t      *testing.T
	graph  message
	values map[string][]float64
}

func newONNXRun(t *testing.T, file string) *onnxRun {
	t.Helper()
	graph := readMessage(t, readMessage(t, []byte(file)).bytes[7][0])
	r := &onnxRun{t: t, graph: graph}
	return r
}

func (r *onnxRun) score(x []float32) float64 {
	r.values = map[string][]float64{"features": nil}
	for _, v := range x {
		r.values["features"] = append(r.values["features"], float64(v))
	}
	for _, init := range r.graph.bytes[5] {
		tensor := readMessage(r.t, init)
		list := []float64{}
		for _, v := range floats(tensor.bytes[9][0]) {
			list = append(list, float64(v))
		}
		r.values[tensor.text(8)] = list
	}
	for _, b := range r.graph.bytes[1] {
		node := readMessage(r.t, b)
		var in [][]float64
		for _, name := range node.bytes[1] {
			v, ok := r.values[string(name)]
			if !ok {
				r.t.Fatalf("node %s takes %s, which is not there", node.text(4), name)
			}
			in = append(in, v)
		}
		r.values[node.text(2)] = r.operator(node, in)
	}
	return r.values["scores"][0]
}

// element applies a function to the elements of lists, of which those of one element count for all.
func element(in [][]float64, f func(v []float64) float64) []float64 {
	n := 0
	for _, list := range in {
		n = max(n, len(list))
	}
	out, v := make([]float64, n), make([]float64, len(in))
	for j := range out {
		for i, list := range in {
			v[i] = list[j%len(list)]
		}
		out[j] = f(v)
	}
	return out
}

// onnxElements are the operators on elements.
var onnxElements = map[string]func(v []float64) float64{
	"IsNaN": func(v []float64) float64 { return truth(v[0] != v[0]) },
	"Where": func(v []float64) float64 {
		if v[0] != 0 {
			return v[1]
		}
		return v[2]
	},
	"Cast": func(v []float64) float64 { return truth(v[0] != 0) },
	"Max":  func(v []float64) float64 { return max(v[0], v[1]) },
	"Min":  func(v []float64) float64 { return min(v[0], v[1]) },
	"Add":  func(v []float64) float64 { return v[0] + v[1] },
	"Sub":  func(v []float64) float64 { return v[0] - v[1] },
	"Mul":  func(v []float64) float64 { return v[0] * v[1] },
	"Abs":  func(v []float64) float64 { return math.Abs(v[0]) },
	"Log":  func(v []float64) float64 { return math.Log(v[0]) },
	"Sign": func(v []float64) float64 {
		switch {
		case v[0] > 0:
			return 1
		case v[0] < 0:
			return -1
		}
		return v[0]
	},
	"Tanh":      func(v []float64) float64 { return unitOf("tanh", v[0]) },
	"Sigmoid":   func(v []float64) float64 { return unitOf("sigmoid", v[0]) },
	"Relu":      func(v []float64) float64 { return unitOf("relu", v[0]) },
	"Softplus":  func(v []float64) float64 { return unitOf("softplus", v[0]) },
	"Elu":       func(v []float64) float64 { return unitOf("elu", v[0]) },
	"LeakyRelu": func(v []float64) float64 { return unitOf("leakyrelu", v[0]) },
}

func (r *onnxRun) operator(node message, in [][]float64) []float64 {
	kind := node.text(4)
	switch {
	case onnxElements[kind] != nil:
		return element(in, onnxElements[kind])
	case kind == "Gemm": // transB: rows of B are units
		inputs := len(in[0])
		out := slices.Clone(in[2])
		for u := range out {
			for j, v := range in[0] {
				out[u] += v * in[1][u*inputs+j]
			}
		}
		return out
	case kind == "TreeEnsembleRegressor" && node.text(7) == "ai.onnx.ml":
		return []float64{r.trees(node, in[0])}
	}
	r.t.Fatalf("found the operator %q", kind)
	return nil
}

func (r *onnxRun) trees(node message, x []float64) float64 {
	lists, numbers, modes := map[string][]int64{}, map[string][]float32{}, []string{}
	for _, b := range node.bytes[5] {
		a := readMessage(r.t, b)
		switch name := a.text(1); {
		case name == "nodes_modes":
			for _, mode := range a.bytes[9] {
				modes = append(modes, string(mode))
			}
		case len(a.bytes[8]) > 0:
			lists[name] = ints(a.bytes[8][0])
		case len(a.bytes[7]) > 0:
			numbers[name] = floats(a.bytes[7][0])
		}
	}
	type id struct{ tree, node int64 }
	at, weights := map[id]int{}, map[id]float64{}
	for i, tree := range lists["nodes_treeids"] {
		at[id{tree, lists["nodes_nodeids"][i]}] = i
	}
	for i, tree := range lists["target_treeids"] {
		weights[id{tree, lists["target_nodeids"][i]}] += float64(numbers["target_weights"][i])
	}
	score := float64(numbers["base_values"][0])
	for tree := range lists["nodes_treeids"][len(lists["nodes_treeids"])-1] + 1 {
		own := id{tree, 0}
		for modes[at[own]] == "BRANCH_LEQ" {
			i := at[own]
			v := x[lists["nodes_featureids"][i]]
			next := lists["nodes_falsenodeids"][i]
			if v <= float64(numbers["nodes_values"][i]) || v != v && lists["nodes_missing_value_tracks_true"][i] == 1 {
				next = lists["nodes_truenodeids"][i]
			}
			own = id{tree, next}
		}
		score += weights[own]
	}
	return score
}

// Claim: an ONNX graph, evaluated by the definitions of its operators, gives the model's scores,
// up to the rounding of weights, and of transformed features, to float32.
func TestONNX(t *testing.T) {
	for seed := range uint64(1000) {
		m, d := drawAny(t, seed, 40)
		if seed%3 == 0 {
			rng := rand.New(rand.NewPCG(seed, 41))
			m, d = drawTransformed(t, rng, int(seed/3)%drawnKinds, true, everyActivation...)
		}
		if e, err := treesOf(m); err == nil && e.needThresholds() != nil {
			continue // categories
		}
		r := newONNXRun(t, written(t, m, "onnx", WriteOptions{}))
		checkScores(t, m, d, 1e-5, r.score)
	}
	m := &model.Model{Scorer: scorer.Linear{Features: 2}, Params: []float64{1, 2}}
	r := newONNXRun(t, written(t, m, "onnx", WriteOptions{Scores: LogisticScores}))
	if got, want := r.score([]float32{1, 0.5}), 1/(1+math.Exp(-2)); math.Abs(got-want) > 1e-12 {
		t.Errorf("the logistic score is %v, expected %v", got, want)
	}
}
