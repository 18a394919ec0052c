package interchange

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// expression writes a model as a single expression of a language, such as SQL. Its function fields
// are the parts in which languages differ.
type expression struct {
	language string
	value    func(feature int) string      // the feature without transforms
	filled   func(value, by string) string // value or, if value is missing, by
	step     func(value string, s transform.Step) string
	logistic func(s string) string
	unit     func(f scorer.Activation, z string) (string, error) // nil if networks are not supported
	// branch returns the value of a node, given the values of both sides.
	branch func(n scorer.TreeNode, left, right string) string
	// most is the largest number of parts in an expression.
	most int

	parts int
	model *model.Model
}

// of returns the expression for a model.
func (x *expression) of(m *model.Model, o WriteOptions) (_ string, err error) {
	defer catch(&err)
	x.model = m
	text := must(x.raw(m, o))
	if o.Scores == LogisticScores {
		text = x.logistic(text)
	}
	return text, nil
}

func (x *expression) raw(m *model.Model, o WriteOptions) (_ string, err error) {
	defer catch(&err)
	switch m.Scorer.(type) {
	case *scorer.Trees, *scorer.Stumps:
		return x.trees(m, o.Scores == ShiftedScores)
	}
	if o.Scores == ShiftedScores {
		return "", errNoLeastScore
	}
	layers := must(bareNetworkOf(m))
	if x.unit == nil && (len(layers) > 1 || layers[0].activation != scorer.Identity) {
		return "", fmt.Errorf("found the scorer %q, expected a linear one, trees or stumps", m.Scorer.Kind())
	}
	if len(layers) > 2 {
		return "", fmt.Errorf("found a network of %d layers, expected at most 2: in an expression every unit would repeat those before it; export to onnx", len(layers))
	}
	inputs := make([]string, len(layers[0].weights[0]))
	for j := range inputs {
		inputs[j] = must(x.feature(j))
	}
	for _, l := range layers {
		outputs := make([]string, len(l.biases))
		for u, bias := range l.biases {
			terms := make([]string, 0, len(inputs)+1)
			if bias != 0 {
				terms = append(terms, decimal(bias))
			}
			for j, in := range inputs {
				terms = append(terms, decimal(l.weights[u][j])+" * "+in)
			}
			if x.parts += len(terms); x.parts > x.most {
				return "", x.tooLarge()
			}
			outputs[u] = x.sum(terms)
			if l.activation != scorer.Identity {
				outputs[u] = must(x.unit(l.activation, outputs[u]))
			}
		}
		inputs = outputs
	}
	return inputs[0], nil
}

// longestFeature is the largest length of the text for a transformed feature. Some transforms repeat
// the text of their input.
const longestFeature = 1 << 16

// feature returns the text for feature j with its transforms and the rule for missing values.
func (x *expression) feature(j int) (string, error) {
	text := x.value(j)
	if x.model.Missing == dataset.MissingZero {
		text = x.filled(text, "0.0")
	}
	for _, s := range x.model.Transforms.Chain(j) {
		switch s := s.(type) {
		case transform.Fill:
			if x.model.Missing == dataset.MissingKeep {
				text = x.filled(text, decimal(s.Value))
			}
		case transform.Standard:
			value := text
			if text = fmt.Sprintf("((%s - %s) / %s)", value, decimal(s.Mean), decimal(s.Deviation)); s.Deviation == 0 {
				text = "(0.0 * " + value + ")" // 0.0 times a missing value is missing
			}
		default:
			text = x.step(text, s)
		}
		if len(text) > longestFeature {
			return "", fmt.Errorf("found many transforms of feature %d, expected fewer in an expression of %s", j+1, x.language)
		}
	}
	return text, nil
}

func (x *expression) tooLarge() error {
	return fmt.Errorf("found a model of more than %d parts, expected fewer in one expression of %s", x.most, x.language)
}

// group is the largest number of terms that are added without brackets. Parsers nest a sum as
// deeply as it has terms, and languages limit the depth.
const group = 100

// sum returns the sum of the terms, in brackets.
func (x *expression) sum(terms []string) string {
	if len(terms) == 0 {
		return "0.0"
	}
	return "(" + joined(terms, " + ") + ")"
}

// joined returns the terms with an operator between them. It groups long lists by brackets.
func joined(terms []string, operator string) string {
	for len(terms) > group {
		var groups []string
		for list := range slices.Chunk(terms, group) {
			groups = append(groups, "("+strings.Join(list, operator)+")")
		}
		terms = groups
	}
	return strings.Join(terms, operator)
}

func (x *expression) trees(m *model.Model, shifted bool) (_ string, err error) {
	defer catch(&err)
	e := must(treesOf(m))
	if shifted {
		e.shift()
	}
	var terms []string
	if e.constant != 0 {
		terms = append(terms, decimal(e.constant))
	}
	for _, t := range e.trees {
		if x.parts += len(t.values); x.parts > x.most {
			return "", x.tooLarge()
		}
		text := must(x.node(t, 0, 0))
		terms = append(terms, text)
	}
	return x.sum(terms), nil
}

func (x *expression) node(t tree, at, depth int) (_ string, err error) {
	defer catch(&err)
	if depth > deepest {
		return "", fmt.Errorf("found a tree deeper than %d levels, expected fewer in an expression of %s", deepest, x.language)
	}
	if at < 0 || len(t.nodes) == 0 {
		return decimal(t.values[max(0, -1-at)]), nil
	}
	n := t.nodes[at]
	left := must(x.node(t, n.Left, depth+1))
	right := must(x.node(t, n.Right, depth+1))
	return x.branch(n, left, right), nil
}

// doubleThreshold returns the largest float64 whose nearest float32 is at most t. For every float64
// x, x ≤ doubleThreshold(t) is equivalent to float32(x) ≤ t, which is the test of this module.
func doubleThreshold(t float32) float64 {
	next := float64(2*float64(t)) - float64(math.Nextafter32(t, float32(math.Inf(-1)))) // t plus the spacing below t
	if up := math.Nextafter32(t, float32(math.Inf(1))); !math.IsInf(float64(up), 0) {
		next = float64(up)
	}
	middle := float64(t) + float64((next-float64(t))/2)
	if math.Float32bits(t)&1 == 1 { // a tie rounds to the even neighbour, away from t
		return math.Nextafter(middle, math.Inf(-1))
	}
	return middle
}
