package interchange

import (
	"fmt"
	"io"
	"math"

	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

func writeSolr(w io.Writer, m *model.Model, o WriteOptions) ([]string, error) {
	b := solrWriter{o: o}
	names, err := engineNames(m, o)
	if err != nil {
		return nil, err
	}
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
	}
	text = strictjson.AppendMember(text, "features", b.features())
	text = strictjson.AppendMember(text, "params", params)
	return b.notes, strictjson.Indent(w, text)
}

// quoted returns a JSON string.
func quoted(text string) []byte {
	q, err := strictjson.Marshal(text)
	if err != nil {
		panic(err) // strings are JSON
	}
	return q
}

// solrWriter holds what parts of a model's JSON need.
type solrWriter struct {
	o     WriteOptions
	names []string
	norms map[int]transform.Standard
	notes []string
}

func (b *solrWriter) features() []byte {
	text := []byte{'['}
	for j, name := range b.names {
		if j > 0 {
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

// sums writes a LinearModel, or a network of what that cannot express.
func (b *solrWriter) sums(m *model.Model) (string, []byte, error) {
	if b.o.Scores == ShiftedScores {
		return "", nil, errNoLeastScore
	}
	var err error
	if m, b.norms, err = divideStandards(m); err != nil {
		return "", nil, err
	}
	if sum, err := linearOf(m); err == nil && sum.constant == 0 && b.o.Scores == RawScores {
		b.notes = append(b.notes, sum.notes...)
		text := []byte(`{"weights":{`)
		for j, w := range sum.weights {
			f, err := single("the weight", w)
			if err != nil {
				return "", nil, err
			}
			if j > 0 {
				text = append(text, ',')
			}
			text = fmt.Appendf(text, "%s:%s", quoted(b.names[j]), decimal32(f))
		}
		return "LinearModel", append(text, "}}"...), nil
	}
	layers, notes, err := networkOf(m)
	if err != nil {
		return "", nil, err
	}
	b.notes = append(b.notes, notes...)
	if b.o.Scores == LogisticScores {
		layers = append(layers[:len(layers):len(layers)], layer{[][]float64{{1}}, []float64{0}, scorer.Sigmoid})
	}
	params, err := solrLayers(layers)
	return "NeuralNetworkModel", params, err
}

func solrLayers(layers []layer) ([]byte, error) {
	text := []byte(`{"layers":[`)
	for l, own := range layers {
		if own.activation == scorer.Softplus || own.activation == scorer.ELU {
			return nil, fmt.Errorf("found the activation %v, expected one that Solr has: tanh, sigmoid, relu, leakyrelu or identity", own.activation)
		}
		if l > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"matrix":[`...)
		for u, row := range own.weights {
			if u > 0 {
				text = append(text, ',')
			}
			var err error
			if text, err = appendSingles(text, row); err != nil {
				return nil, err
			}
		}
		var err error
		if text, err = appendSingles(append(text, `],"bias":`...), own.biases); err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, `,"activation":"%v"}`, own.activation)
	}
	return append(text, "]}"...), nil
}

// appendSingles appends a list of float32 numbers, each with a point: Solr takes no whole ones.
func appendSingles(text []byte, numbers []float64) ([]byte, error) {
	text = append(text, '[')
	for j, v := range numbers {
		f, err := single("the weight", v)
		if err != nil {
			return nil, err
		}
		if j > 0 {
			text = append(text, ',')
		}
		text = append(text, decimal32(f)...)
	}
	return append(text, ']'), nil
}

func (b *solrWriter) trees(m *model.Model) ([]byte, error) {
	if b.o.Scores == LogisticScores {
		return nil, fmt.Errorf("found logistic scores of trees, expected raw or shifted ones: Solr has no logistic function of trees")
	}
	e, err := treesOf(m)
	if err == nil {
		err = e.needThresholds()
	}
	if err != nil {
		return nil, err
	}
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
	text := []byte(`{"trees":[`)
	for k, t := range e.trees {
		if k > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"weight":"1","root":`...)
		root := 0
		if len(t.nodes) == 0 {
			root = -1
		}
		if text, err = b.node(text, t, root, missing, 0); err != nil {
			return nil, fmt.Errorf("tree %d: %w", k+1, err)
		}
		text = append(text, '}')
	}
	return append(text, "]}"...), nil
}

// deepest is how deep a nested JSON tree may be, so that our reader takes it, too.
const deepest = strictjson.MaxDepth - 8

// node appends a node with all below it. Numbers are strings, which all versions of Solr take.
func (b *solrWriter) node(text []byte, t tree, at int, missing bool, depth int) ([]byte, error) {
	if depth > deepest {
		return nil, fmt.Errorf("found a tree deeper than %d levels, expected fewer in nested JSON", deepest)
	}
	if at < 0 {
		v, err := single("the value", t.values[-1-at])
		if err != nil {
			return nil, err
		}
		return fmt.Appendf(text, `{"value":"%s"}`, decimal32(v)), nil
	}
	n := t.nodes[at]
	threshold, ok := solrThreshold(n.Threshold)
	if !ok {
		return nil, fmt.Errorf("found the threshold %v of feature %d: Solr adds 10⁻⁶ to thresholds, in float32, and of no float32 number does that make this one; rescale the feature", n.Threshold, n.Feature+1)
	}
	text = fmt.Appendf(text, `{"feature":%s,"threshold":"%s"`, quoted(b.names[n.Feature]), decimal32(threshold))
	if missing {
		text = fmt.Appendf(text, `,"missing":"%s"`, side(n.MissingLeft))
	}
	text, err := b.node(append(text, `,"left":`...), t, n.Left, missing, depth+1)
	if err != nil {
		return nil, err
	}
	if text, err = b.node(append(text, `,"right":`...), t, n.Right, missing, depth+1); err != nil {
		return nil, err
	}
	return append(text, '}'), nil
}

// solrThreshold returns the float32 that becomes t when Solr adds its slack, so that no value is
// on another side than in the model.
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
