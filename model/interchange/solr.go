package interchange

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// solr is the JSON format of Solr's learning-to-rank module, which computes in float32. LinearModel has
// no bias. MultipleAdditiveTreesModel sends a document left if x ≤ threshold + 10⁻⁶, with the sum
// rounded to float32.
var solr = format{
	name: "solr", title: "Solr LTR (LinearModel, MultipleAdditiveTreesModel, NeuralNetworkModel)",
	is:   func(head []byte) bool { return bytes.Contains(head, []byte(`"org.apache.solr.ltr.model.`)) },
	read: readSolr, write: writeSolr,
}

// solrSlack is the number that Solr adds to thresholds.
const solrSlack = float32(1e-6)

const (
	solrModels = "org.apache.solr.ltr.model."
	solrNorms  = "org.apache.solr.ltr.norm."
)

// solrModel is the state of reading a model.
type solrModel struct {
	names  []string
	index  map[string]int // index of each feature by its name
	params strictjson.Object
	at     strictjson.Value
}

func readSolr(data []byte, opts ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	check(strictjson.Check(data))
	whole := strictjson.Whole(data)
	o := must(solrOf(whole, opts.Name))
	class := must(textOf(member(o, "class"), `"class"`))
	s := solrModel{index: map[string]int{}, at: whole}
	norms := must(s.readFeatures(member(o, "features")))
	s.params = must(objectOf(member(o, "params"), `"params"`))
	origin := map[string]any{"class": class[strings.LastIndexByte(class, '.')+1:]}
	m := must(s.read(class, origin, member(o, "class")))
	if err := standardised(m, norms); err != nil {
		return nil, nil, wrong(member(o, "features"), "%w", err)
	}
	return m, []string{"missing values count as 0, as in Solr"}, nil
}

// solrOf returns the JSON object of a model in a file. The file is the model, a list of models as
// in an upload, or a response of Solr's model store, which has a list under "models". name selects
// a model of a list.
func solrOf(v strictjson.Value, name string) (_ strictjson.Object, err error) {
	defer catch(&err)
	if v.Text[0] != '[' {
		o := must(objectOf(v, "the model"))
		models := member(o, "models")
		if models.Text == nil {
			return o, nil
		}
		v = models
	}
	list := must(elementsOf(v, `"models"`))
	one := must(modelNamed(v, list, name, nameIn))
	return objectOf(one, "the model")
}

// nameIn returns the "name" of an object, or "".
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

// readFeatures reads the names of the features into s. It returns the norms (Solr's word for
// normalisers) by feature, without norms that are the identity.
func (s *solrModel) readFeatures(v strictjson.Value) (_ map[int]transform.Standard, err error) {
	defer catch(&err)
	list := must(elementsOf(v, `"features"`))
	if len(list) == 0 {
		return nil, wrong(v, `found no "features", expected at least one`)
	}
	norms := map[int]transform.Standard{}
	for j, e := range list {
		o := must(objectOf(e, fmt.Sprintf("feature %d", j+1)))
		name := must(textOf(member(o, "name"), fmt.Sprintf("the name of feature %d", j+1)))
		if _, twice := s.index[name]; twice {
			return nil, wrong(e, "found the feature %q a second time", name)
		}
		s.names, s.index[name] = append(s.names, name), j
		if norm := member(o, "norm"); norm.Text != nil {
			own, ok := must2(readSolrNorm(norm, name))
			if ok {
				norms[j] = own
			}
		}
	}
	return norms, nil
}

// readSolrNorm reads a norm. ok is false if the norm is the identity.
func readSolrNorm(v strictjson.Value, feature string) (norm transform.Standard, ok bool, err error) {
	defer catch(&err)
	o := must(objectOf(v, fmt.Sprintf("the norm of %q", feature)))
	class := must(textOf(member(o, "class"), fmt.Sprintf(`the "class" of the norm of %q`, feature)))
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
	params := must(objectOf(member(o, "params"), fmt.Sprintf(`the "params" of the norm of %q`, feature)))
	norm, err = readNorm(v, params, feature, keys)
	return norm, true, err
}

// readNorm reads a normaliser. keys are the keys of its mean and deviation, or of its minimum and
// maximum.
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

func (s *solrModel) linear(origin map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	weights := must(objectOf(member(s.params, "weights"), `"weights"`))
	sum := linear{names: s.names, weights: make([]float64, len(s.names))}
	for j, name := range s.names {
		w := must(javaNumberOf(member(weights, name), fmt.Sprintf("the weight of %q", name)))
		sum.weights[j] = float64(w)
	}
	return sum.model("solr", origin)
}

func (s *solrModel) network(origin map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	list := must(elementsOf(member(s.params, "layers"), `"layers"`))
	layers := make([]layer, len(list))
	inputs := len(s.names)
	for l, v := range list {
		layers[l] = must(readSolrLayer(v, l, inputs))
		inputs = len(layers[l].biases)
	}
	if inputs != 1 || len(layers) == 0 {
		return nil, wrong(s.at, "found %d layers, the last of %d units, expected one unit", len(layers), inputs)
	}
	return networkModel(layers, s.names, "solr", origin)
}

func readSolrLayer(v strictjson.Value, l, inputs int) (_ layer, err error) {
	defer catch(&err)
	what := func(part string) string { return fmt.Sprintf("the %s of layer %d", part, l+1) }
	o := must(objectOf(v, fmt.Sprintf("layer %d", l+1)))
	name := must(textOf(member(o, "activation"), what("activation")))
	own := layer{}
	if own.activation, err = scorer.ParseActivation(name); err != nil || own.activation == scorer.Softplus || own.activation == scorer.ELU {
		return layer{}, wrong(v, "found the activation %q of layer %d, expected identity, relu, leakyrelu, sigmoid or tanh", name, l+1)
	}
	rows := must(elementsOf(member(o, "matrix"), what("matrix")))
	for u, row := range rows {
		weights := must(numbersOf(row, fmt.Sprintf("row %d of %s", u+1, what("matrix"))))
		if len(weights) != inputs {
			return layer{}, wrong(row, "found %d numbers in row %d of %s, expected %d", len(weights), u+1, what("matrix"), inputs)
		}
		own.weights = append(own.weights, weights)
	}
	own.biases = must(numbersOf(member(o, "bias"), what("bias")))
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

func (s *solrModel) trees(origin map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	list := must(elementsOf(member(s.params, "trees"), `"trees"`))
	e := &ensemble{features: len(s.names), names: s.names}
	branches := false
	for k, v := range list {
		o := must(objectOf(v, fmt.Sprintf("tree %d", k+1)))
		r := solrTree{s: s}
		r.weight = must(javaNumberOf(member(o, "weight"), fmt.Sprintf("the weight of tree %d", k+1)))
		_ = must(r.node(member(o, "root")))
		e.trees = append(e.trees, r.tree)
		branches = branches || r.branches
	}
	if !branches {
		check(e.foldFeatures(&model.Model{Missing: dataset.MissingZero}))
	}
	m, err := e.model("solr", origin)
	if err == nil && !branches {
		m.Missing = dataset.MissingZero
	}
	return m, err
}

// solrTree is the state of reading a tree. branches reports whether any node has the key "missing",
// a direction for missing values.
type solrTree struct {
	s        *solrModel
	tree     tree
	weight   float32
	branches bool
}

// node reads a node and all nodes below it. It returns the node's number in the encoding of
// TreeNode.Left. The reader of JSON limits the nesting depth, and so the recursion. A node for an
// unknown feature becomes a leaf with the value 0.
func (r *solrTree) node(v strictjson.Value) (_ int, err error) {
	defer catch(&err)
	o := must(objectOf(v, "a node of a tree"))
	feature := member(o, "feature")
	if feature.Text == nil {
		value := float32(0)
		if text := member(o, "value"); text.Text != nil {
			value = must(javaNumberOf(text, `the "value" of a leaf`))
		} else if len(o) > 0 {
			return 0, wrong(v, `found a node with neither "feature" nor "value", expected one of them`)
		}
		return r.leaf(value * r.weight), nil
	}
	name := must(textOf(feature, `"feature"`))
	threshold := must(javaNumberOf(member(o, "threshold"), fmt.Sprintf("a threshold of %q", name)))
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
	left := must(r.node(member(o, "left")))
	right := must(r.node(member(o, "right")))
	r.tree.nodes[own].Left, r.tree.nodes[own].Right = left, right
	return own, nil
}

func (r *solrTree) leaf(value float32) int {
	r.tree.values = append(r.tree.values, float64(value))
	return -len(r.tree.values)
}

func writeSolr(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	b := solrWriter{o: o}
	names := must(engineNames(m, o))
	b.names = names
	var class string
	var params []byte
	switch m.Scorer.(type) {
	case *scorer.Trees, *scorer.Stumps:
		class = "MultipleAdditiveTreesModel"
		params, err = b.trees(m)
	default:
		class, params, err = b.sums(m)
	}
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, `{"class":%s,"name":%s}`, quoted(solrModels+class), quoted(o.Name))
	if o.FeatureSet != "" {
		text = strictjson.AppendMember(text, "store", quoted(o.FeatureSet))
	} else {
		b.notes = append(b.notes, "the features are those of Solr's feature store _DEFAULT_ (--featureset names another)")
	}
	text = strictjson.AppendMember(text, "features", b.features())
	text = strictjson.AppendMember(text, "params", params)
	return b.notes, strictjson.Indent(w, text)
}

// solrWriter contains the data that all parts of a model's JSON share.
type solrWriter struct {
	o      WriteOptions
	names  []string
	listed []bool // for each feature, whether the file lists it
	norms  map[int]transform.Standard
	notes  []string
}

// list decides which features the file lists.
func (b *solrWriter) list(used []bool) {
	var notes []string
	b.listed, notes = b.o.listed(used)
	b.notes = append(b.notes, notes...)
}

func (b *solrWriter) features() []byte {
	text := []byte{'['}
	for j, name := range b.names {
		if !b.listed[j] {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `{"name":%s`, quoted(name))
		if n, ok := b.norms[j]; ok {
			text = fmt.Appendf(text, `,"norm":{"class":"%sStandardNormalizer","params":{"avg":"%s","std":"%s"}}`,
				solrNorms, decimal32(float32(n.Mean)), decimal32(float32(n.Deviation)))
		}
		text = append(text, '}')
	}
	return append(text, ']')
}

// sums returns the class and the params of a linear model or a network. It uses LinearModel if
// possible, and otherwise NeuralNetworkModel.
func (b *solrWriter) sums(m *model.Model) (_ string, _ []byte, err error) {
	defer catch(&err)
	if b.o.Scores == ShiftedScores {
		return "", nil, errNoLeastScore
	}

	m, b.norms = must2(divideStandards(m))
	if sum, err := linearOf(m); err == nil && sum.constant == 0 && b.o.Scores == RawScores {
		b.notes = append(b.notes, sum.notes...)
		used := make([]bool, len(b.names))
		for j, w := range sum.weights {
			f := must(single("the weight", w))
			used[j] = f != 0
		}
		b.list(used)
		names, text := only(b.names, b.listed), []byte(`{"weights":{`)
		for i, w := range only(sum.weights, b.listed) {
			text = separate(text, i)
			text = fmt.Appendf(text, "%s:%s", quoted(names[i]), decimal32(float32(w)))
		}
		return "LinearModel", append(text, "}}"...), nil
	}
	layers, notes := must2(networkOf(m))
	b.notes = append(b.notes, notes...)
	used := make([]bool, len(b.names))
	for _, row := range layers[0].weights {
		for j, w := range row {
			used[j] = used[j] || float32(w) != 0
		}
	}
	b.list(used)
	for u, row := range layers[0].weights {
		layers[0].weights[u] = only(row, b.listed)
	}
	if b.o.Scores == LogisticScores {
		layers = append(layers[:len(layers):len(layers)], layer{[][]float64{{1}}, []float64{0}, scorer.Sigmoid})
	}
	params, err := solrLayers(layers)
	return "NeuralNetworkModel", params, err
}

func solrLayers(layers []layer) (_ []byte, err error) {
	defer catch(&err)
	text := []byte(`{"layers":[`)
	for l, own := range layers {
		if own.activation == scorer.Softplus || own.activation == scorer.ELU {
			return nil, fmt.Errorf("found the activation %v, expected one that Solr has: tanh, sigmoid, relu, leakyrelu or identity", own.activation)
		}
		text = separate(text, l)
		text = append(text, `{"matrix":[`...)
		for u, row := range own.weights {
			text = separate(text, u)
			text = must(appendSingles(text, row))
		}
		text = must(appendSingles(append(text, `],"bias":`...), own.biases))
		text = fmt.Appendf(text, `,"activation":"%v"}`, own.activation)
	}
	return append(text, "]}"...), nil
}

// appendSingles appends a list of float32 numbers. Each has a decimal point, since Solr does not accept
// integers.
func appendSingles(text []byte, numbers []float64) (_ []byte, err error) {
	defer catch(&err)
	text = append(text, '[')
	for j, v := range numbers {
		f := must(single("the weight", v))
		text = separate(text, j)
		text = append(text, decimal32(f)...)
	}
	return append(text, ']'), nil
}

func (b *solrWriter) trees(m *model.Model) (_ []byte, err error) {
	defer catch(&err)
	if b.o.Scores == LogisticScores {
		return nil, fmt.Errorf("found logistic scores of trees, expected raw or shifted ones: Solr has no logistic function of trees")
	}
	e := must(treesOf(m))
	check(e.needThresholds())
	missing := e.needZeroForMissing() != nil
	if missing {
		b.notes = append(b.notes, `the trees send missing values other ways than 0 and say so by "missing": this needs a Solr that knows that key, and features with "isNullSameAsZero": false`)
	}
	if b.o.Scores == ShiftedScores {
		e.shiftSingle()
	}
	if e.constant != 0 || len(e.trees) == 0 {
		e.trees = append([]tree{{values: []float64{e.constant}}}, e.trees...)
	}
	b.list(e.used())
	check(b.rescale(e))
	text := []byte(`{"trees":[`)
	for k, t := range e.trees {
		text = separate(text, k)
		text = append(text, `{"weight":"1","root":`...)
		if text, err = b.node(text, t, t.root(), missing, 0); err != nil {
			return nil, fmt.Errorf("tree %d: %w", k+1, err)
		}
		text = append(text, '}')
	}
	return append(text, "]}"...), nil
}

// deepest is the largest depth of a nested JSON tree that this module can read again.
const deepest = strictjson.MaxDepth - 8

// node appends a node and all nodes below it. It writes numbers as strings, which all versions of
// Solr accept.
func (b *solrWriter) node(text []byte, t tree, at int, missing bool, depth int) (_ []byte, err error) {
	defer catch(&err)
	if depth > deepest {
		return nil, fmt.Errorf("found a tree deeper than %d levels, expected fewer in nested JSON", deepest)
	}
	if at < 0 {
		v := must(single("the value", t.values[-1-at]))
		return fmt.Appendf(text, `{"value":"%s"}`, decimal32(v)), nil
	}
	n := t.nodes[at]
	t32 := n.Threshold
	if norm, ok := b.norms[n.Feature]; ok {
		t32 = float32(float64(t32) / norm.Deviation)
	}
	threshold, _ := solrThreshold(t32) // rescale checked that there is one
	text = fmt.Appendf(text, `{"feature":%s,"threshold":"%s"`, quoted(b.names[n.Feature]), decimal32(threshold))
	if missing {
		text = fmt.Appendf(text, `,"missing":"%s"`, side(n.MissingLeft))
	}
	text = must(b.node(append(text, `,"left":`...), t, n.Left, missing, depth+1))
	text = must(b.node(append(text, `,"right":`...), t, n.Right, missing, depth+1))
	return append(text, '}'), nil
}

// rescale sets normalizers for features with a threshold near 0 that no float32 becomes when Solr adds
// solrSlack. They divide by a power of two, which is exact, so that every document goes to the same
// side. It returns an error if no power of two is suitable for all thresholds of a feature.
func (b *solrWriter) rescale(e *ensemble) error {
	thresholds := make([][]float32, e.features)
	for _, t := range e.trees {
		for _, n := range t.nodes {
			thresholds[n.Feature] = append(thresholds[n.Feature], n.Threshold)
		}
	}
	b.norms = map[int]transform.Standard{}
	var rescaled []string
	for j, list := range thresholds {
		divisor, ok := solrDivisor(list)
		switch {
		case !ok:
			return fmt.Errorf("found thresholds of feature %d (%s) from %v to %v: Solr adds 10⁻⁶ to thresholds, in float32, and no scale of the feature keeps all of them apart; train with --transform clip on it", j+1, b.names[j], slices.Min(list), slices.Max(list))
		case divisor != 1:
			b.norms[j] = transform.Standard{Deviation: divisor}
			rescaled = append(rescaled, b.names[j])
		}
	}
	if len(rescaled) > 0 {
		b.notes = append(b.notes, fmt.Sprintf("a StandardNormalizer divides %s by a power of two, since Solr adds 10⁻⁶ to thresholds: documents go to the same side as in the model", strings.Join(rescaled, ", ")))
	}
	return nil
}

// solrDivisor returns the largest power of two, at most 1, so that Solr can have all thresholds of a
// feature divided by it.
func solrDivisor(thresholds []float32) (divisor float64, ok bool) {
	for divisor = 1; divisor >= math.SmallestNonzeroFloat32; divisor /= 2 {
		bad := func(t float32) bool {
			scaled := float64(t) / divisor
			_, ok := solrThreshold(float32(scaled))
			return !ok || divisor < 1 && math.Abs(scaled) >= math.MaxFloat32
		}
		if !slices.ContainsFunc(thresholds, bad) {
			return divisor, true
		}
	}
	return 0, false
}

// solrThreshold returns the float32 number to which Solr adds solrSlack to get t. So Solr sends
// every value to the same side as the model. The second result is false if there is no such number.
func solrThreshold(t float32) (float32, bool) {
	down, up := float32(math.Inf(-1)), float32(math.Inf(1))
	at := t - solrSlack
	for _, c := range []float32{at, math.Nextafter32(at, down), math.Nextafter32(at, up), t} {
		if c+solrSlack == t {
			return c, true
		}
	}
	return 0, false
}
