package interchange

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// solr is the JSON of Solr's learning-to-rank module, which computes in float32. LinearModel has
// no bias; MultipleAdditiveTreesModel sends a document left if x ≤ threshold + 10⁻⁶, the sum
// rounded to float32.
var solr = format{
	name: "solr", title: "Solr LTR (LinearModel, MultipleAdditiveTreesModel, NeuralNetworkModel)",
	is:   func(head []byte) bool { return bytes.Contains(head, []byte(`"org.apache.solr.ltr.model.`)) },
	read: readSolr, write: writeSolr,
}

// solrSlack is added to thresholds.
const solrSlack = float32(1e-6)

const (
	solrModels = "org.apache.solr.ltr.model."
	solrNorms  = "org.apache.solr.ltr.norm."
)

// solrModel is a model that is read.
type solrModel struct {
	names  []string
	index  map[string]int // of a feature by its name
	params strictjson.Object
	at     strictjson.Value
}

func readSolr(data []byte, opts ReadOptions) (*model.Model, []string, error) {
	if err := strictjson.Check(data); err != nil {
		return nil, nil, err
	}
	whole := strictjson.Whole(data)
	o, err := solrOf(whole, opts.Name)
	if err != nil {
		return nil, nil, err
	}
	class, err := textOf(member(o, "class"), `"class"`)
	if err != nil {
		return nil, nil, err
	}
	s := solrModel{index: map[string]int{}, at: whole}
	norms, err := s.readFeatures(member(o, "features"))
	if err != nil {
		return nil, nil, err
	}
	if s.params, err = objectOf(member(o, "params"), `"params"`); err != nil {
		return nil, nil, err
	}
	origin := map[string]any{"class": class[strings.LastIndexByte(class, '.')+1:]}
	m, err := s.read(class, origin, member(o, "class"))
	if err != nil {
		return nil, nil, err
	}
	if err := standardised(m, norms); err != nil {
		return nil, nil, wrong(member(o, "features"), "%w", err)
	}
	return m, []string{"missing values count as 0, as in Solr"}, nil
}

// solrOf returns the model of a file: an object, a list of such, as may be uploaded, or what a model
// store answers, whose "models" are one.
func solrOf(v strictjson.Value, name string) (strictjson.Object, error) {
	if v.Text[0] != '[' {
		o, err := objectOf(v, "the model")
		if err != nil {
			return nil, err
		}
		models := member(o, "models")
		if models.Text == nil {
			return o, nil
		}
		v = models
	}
	list, err := elementsOf(v, `"models"`)
	if err != nil {
		return nil, err
	}
	one, err := modelNamed(v, list, name, nameIn)
	if err != nil {
		return nil, err
	}
	return objectOf(one, "the model")
}

// nameIn returns the "name" of an object, empty if there is none.
func nameIn(v strictjson.Value) string {
	o, err := objectOf(v, "")
	if err != nil {
		return ""
	}
	name, _ := textOf(member(o, "name"), "")
	return name
}

func (s *solrModel) read(class string, origin map[string]any, at strictjson.Value) (*model.Model, error) {
	switch strings.TrimPrefix(class, solrModels) {
	case "LinearModel":
		return s.linear(origin)
	case "MultipleAdditiveTreesModel":
		return s.trees(origin)
	case "NeuralNetworkModel":
		return s.network(origin)
	}
	return nil, wrong(at, "found the class %q, expected %sLinearModel, MultipleAdditiveTreesModel or NeuralNetworkModel", class, solrModels)
}

// readFeatures reads names and norms: one a feature, those without being the identity.
func (s *solrModel) readFeatures(v strictjson.Value) (map[int]transform.Standard, error) {
	list, err := elementsOf(v, `"features"`)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, wrong(v, `found no "features", expected at least one`)
	}
	norms := map[int]transform.Standard{}
	for j, e := range list {
		o, err := objectOf(e, fmt.Sprintf("feature %d", j+1))
		if err != nil {
			return nil, err
		}
		name, err := textOf(member(o, "name"), fmt.Sprintf("the name of feature %d", j+1))
		if err != nil {
			return nil, err
		}
		if _, twice := s.index[name]; twice {
			return nil, wrong(e, "found the feature %q a second time", name)
		}
		s.names, s.index[name] = append(s.names, name), j
		if norm := member(o, "norm"); norm.Text != nil {
			own, ok, err := readSolrNorm(norm, name)
			if err != nil {
				return nil, err
			}
			if ok {
				norms[j] = own
			}
		}
	}
	return norms, nil
}

// readSolrNorm reads a norm; ok is false if it is the identity.
func readSolrNorm(v strictjson.Value, feature string) (norm transform.Standard, ok bool, err error) {
	o, err := objectOf(v, fmt.Sprintf("the norm of %q", feature))
	if err != nil {
		return norm, false, err
	}
	class, err := textOf(member(o, "class"), fmt.Sprintf(`the "class" of the norm of %q`, feature))
	if err != nil {
		return norm, false, err
	}
	var keys [2]string
	switch strings.TrimPrefix(class, solrNorms) {
	case "IdentityNormalizer":
		return norm, false, nil
	case "StandardNormalizer":
		keys = [2]string{"avg", "std"}
	case "MinMaxNormalizer":
		keys = [2]string{"min", "max"}
	default:
		return norm, false, wrong(v, "found the norm %q of %q, expected StandardNormalizer, MinMaxNormalizer or IdentityNormalizer", class, feature)
	}
	params, err := objectOf(member(o, "params"), fmt.Sprintf(`the "params" of the norm of %q`, feature))
	if err != nil {
		return norm, false, err
	}
	norm, err = readNorm(v, params, feature, keys)
	return norm, true, err
}

// readNorm reads a normaliser from the keys of mean and deviation, or of minimum and maximum.
func readNorm(at strictjson.Value, params strictjson.Object, feature string, keys [2]string) (norm transform.Standard, err error) {
	var values [2]float32
	for i, key := range keys {
		if values[i], err = javaNumberOf(member(params, key), fmt.Sprintf("%q of the norm of %q", key, feature)); err != nil {
			return norm, err
		}
	}
	if strings.HasPrefix(keys[0], "min") {
		values[1] -= values[0]
	}
	if norm, err = standardOf(feature, values[0], values[1]); err != nil {
		return norm, wrong(at, "%w", err)
	}
	return norm, nil
}

func (s *solrModel) linear(origin map[string]any) (*model.Model, error) {
	weights, err := objectOf(member(s.params, "weights"), `"weights"`)
	if err != nil {
		return nil, err
	}
	sum := linear{names: s.names, weights: make([]float64, len(s.names))}
	for j, name := range s.names {
		w, err := javaNumberOf(member(weights, name), fmt.Sprintf("the weight of %q", name))
		if err != nil {
			return nil, err
		}
		sum.weights[j] = float64(w)
	}
	return sum.model("solr", origin)
}

func (s *solrModel) network(origin map[string]any) (*model.Model, error) {
	list, err := elementsOf(member(s.params, "layers"), `"layers"`)
	if err != nil {
		return nil, err
	}
	layers := make([]layer, len(list))
	inputs := len(s.names)
	for l, v := range list {
		if layers[l], err = readSolrLayer(v, l, inputs); err != nil {
			return nil, err
		}
		inputs = len(layers[l].biases)
	}
	if inputs != 1 || len(layers) == 0 {
		return nil, wrong(s.at, "found %d layers, the last of %d units, expected one unit", len(layers), inputs)
	}
	return networkModel(layers, s.names, "solr", origin)
}

func readSolrLayer(v strictjson.Value, l, inputs int) (layer, error) {
	what := func(part string) string { return fmt.Sprintf("the %s of layer %d", part, l+1) }
	o, err := objectOf(v, fmt.Sprintf("layer %d", l+1))
	if err != nil {
		return layer{}, err
	}
	name, err := textOf(member(o, "activation"), what("activation"))
	if err != nil {
		return layer{}, err
	}
	own := layer{}
	if own.activation, err = scorer.ParseActivation(name); err != nil || own.activation == scorer.Softplus || own.activation == scorer.ELU {
		return layer{}, wrong(v, "found the activation %q of layer %d, expected identity, relu, leakyrelu, sigmoid or tanh", name, l+1)
	}
	rows, err := elementsOf(member(o, "matrix"), what("matrix"))
	if err != nil {
		return layer{}, err
	}
	for u, row := range rows {
		weights, err := numbersOf(row, fmt.Sprintf("row %d of %s", u+1, what("matrix")))
		if err != nil {
			return layer{}, err
		}
		if len(weights) != inputs {
			return layer{}, wrong(row, "found %d numbers in row %d of %s, expected %d", len(weights), u+1, what("matrix"), inputs)
		}
		own.weights = append(own.weights, weights)
	}
	if own.biases, err = numbersOf(member(o, "bias"), what("bias")); err != nil {
		return layer{}, err
	}
	if len(own.biases) != len(rows) || len(rows) == 0 {
		return layer{}, wrong(v, "found %d rows and %d biases in layer %d, expected as many of both and at least one", len(rows), len(own.biases), l+1)
	}
	for _, list := range append(own.weights, own.biases) {
		for i, w := range list {
			f, err := single("a weight", w)
			if err != nil {
				return layer{}, wrong(v, "%w", err)
			}
			list[i] = float64(f)
		}
	}
	return own, nil
}

func (s *solrModel) trees(origin map[string]any) (*model.Model, error) {
	list, err := elementsOf(member(s.params, "trees"), `"trees"`)
	if err != nil {
		return nil, err
	}
	e := &ensemble{features: len(s.names), names: s.names}
	branches := false
	for k, v := range list {
		o, err := objectOf(v, fmt.Sprintf("tree %d", k+1))
		if err != nil {
			return nil, err
		}
		r := solrTree{s: s}
		if r.weight, err = javaNumberOf(member(o, "weight"), fmt.Sprintf("the weight of tree %d", k+1)); err != nil {
			return nil, err
		}
		if _, err = r.node(member(o, "root")); err != nil {
			return nil, err
		}
		e.trees = append(e.trees, r.tree)
		branches = branches || r.branches
	}
	if !branches {
		if err := e.foldFeatures(&model.Model{Missing: dataset.MissingZero}); err != nil {
			return nil, err
		}
	}
	m, err := e.model("solr", origin)
	if err == nil && !branches {
		m.Missing = dataset.MissingZero
	}
	return m, err
}

// solrTree reads a tree; branches tells whether any node says where missing values go.
type solrTree struct {
	s        *solrModel
	tree     tree
	weight   float32
	branches bool
}

// node reads a node with all below it, whose depth the JSON's nesting bounds, and returns its
// number as in TreeNode.Left. A node of a feature that the model has not is a leaf of 0.
func (r *solrTree) node(v strictjson.Value) (int, error) {
	o, err := objectOf(v, "a node of a tree")
	if err != nil {
		return 0, err
	}
	feature := member(o, "feature")
	if feature.Text == nil {
		value := float32(0)
		if text := member(o, "value"); text.Text != nil {
			if value, err = javaNumberOf(text, `the "value" of a leaf`); err != nil {
				return 0, err
			}
		} else if len(o) > 0 {
			return 0, wrong(v, `found a node with neither "feature" nor "value", expected one of them`)
		}
		return r.leaf(value * r.weight), nil
	}
	name, err := textOf(feature, `"feature"`)
	if err != nil {
		return 0, err
	}
	threshold, err := javaNumberOf(member(o, "threshold"), fmt.Sprintf("a threshold of %q", name))
	if err != nil {
		return 0, err
	}
	j, known := r.s.index[name]
	if !known {
		return r.leaf(0), nil
	}
	own := len(r.tree.nodes)
	n := scorer.TreeNode{Feature: j, Threshold: min(threshold+solrSlack, math.MaxFloat32)}
	if missing := member(o, "missing"); missing.Text != nil {
		direction, err := textOf(missing, `"missing"`)
		if err != nil || direction != "left" && direction != "right" {
			return 0, wrong(missing, `found "missing": %s, expected "left" or "right"`, shown(missing))
		}
		r.branches, n.MissingLeft = true, direction == "left"
	}
	r.tree.nodes = append(r.tree.nodes, n)
	left, err := r.node(member(o, "left"))
	if err != nil {
		return 0, err
	}
	right, err := r.node(member(o, "right"))
	if err != nil {
		return 0, err
	}
	r.tree.nodes[own].Left, r.tree.nodes[own].Right = left, right
	return own, nil
}

func (r *solrTree) leaf(value float32) int {
	r.tree.values = append(r.tree.values, float64(value))
	return -len(r.tree.values)
}
