package interchange

import (
	"fmt"
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// plainJSON is a model as JSON that is easy to evaluate in any language. docs/interchange.md describes
// its schema.
var plainJSON = format{name: "json", title: "plain JSON, for evaluation in your own code", write: writeJSON}

func writeJSON(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	names := must(engineNames(m, o))
	b := jsonWriter{names: names}
	kind := must(b.model(m, o))
	scores := "raw"
	if o.Scores == LogisticScores {
		scores = "logistic"
	}
	text := fmt.Appendf(nil, `{"name":%s,"features":[`, quoted(o.Name))
	for j, name := range names {
		text = separate(text, j)
		text = append(text, quoted(name)...)
	}
	missing := map[dataset.Missing]string{dataset.MissingZero: "zero", dataset.MissingKeep: "missing"}[m.Missing]
	if missing == "" {
		missing = "error"
	}
	text = fmt.Appendf(text, `],"missing":"%s"`, missing)
	text = fmt.Appendf(text, `,"scores":"%s","type":"%s"%s}`, scores, kind, b.text)
	return nil, strictjson.Indent(w, text)
}

// jsonWriter collects the keys that depend on the kind of model.
type jsonWriter struct {
	names []string
	text  []byte
}

func (b *jsonWriter) model(m *model.Model, o WriteOptions) (kind string, err error) {
	defer catch(&err)
	switch m.Scorer.(type) {
	case *scorer.Trees, *scorer.Stumps:
		e := must(treesOf(m))
		if o.Scores == ShiftedScores {
			e.shift()
		}
		b.text = fmt.Appendf(b.text, `,"constant":%s,"trees":[`, decimal(e.constant))
		for k, t := range e.trees {
			b.text = separate(b.text, k)
			if err := b.node(t, 0, 0); err != nil {
				return "", fmt.Errorf("tree %d: %w", k+1, err)
			}
		}
		b.text = append(b.text, ']')
		return "trees", nil
	}
	if o.Scores == ShiftedScores {
		return "", errNoLeastScore
	}
	bare := *m
	bare.Transforms = nil
	b.transforms(m)
	if sum, err := linearOf(&bare); err == nil {
		b.text = fmt.Appendf(b.text, `,"constant":%s,"weights":{`, decimal(sum.constant))
		for j, v := range sum.weights {
			b.text = separate(b.text, j)
			b.text = fmt.Appendf(b.text, "%s:%s", quoted(b.names[j]), decimal(v))
		}
		b.text = append(b.text, '}')
		return "linear", nil
	}
	layers := must(bareNetworkOf(m))
	b.text = append(b.text, `,"layers":[`...)
	for l, own := range layers {
		b.text = separate(b.text, l)
		b.text = fmt.Appendf(b.text, `{"activation":"%v","units":[`, own.activation)
		for u, row := range own.weights {
			b.text = separate(b.text, u)
			b.text = fmt.Appendf(b.text, `{"bias":%s}`, decimal(own.biases[u]))
			b.text = strictjson.AppendNumbers(b.text, "weights", row)
		}
		b.text = append(b.text, "]}"...)
	}
	b.text = append(b.text, ']')
	return "network", nil
}

// transforms appends the transforms of features. Trees do not need them, since their thresholds include
// the transforms.
func (b *jsonWriter) transforms(m *model.Model) {
	if m.Transforms == nil {
		return
	}
	b.text = append(b.text, `,"transforms":{`...)
	for i, j := range m.Transforms.Features() {
		b.text = separate(b.text, i)
		b.text = fmt.Appendf(b.text, "%s:[", quoted(b.names[j]))
		for k, step := range m.Transforms.Chain(j) {
			b.text = separate(b.text, k)
			b.text = fmt.Appendf(b.text, `{"step":"%s"`, step.Name())
			switch s := step.(type) {
			case transform.Clip:
				b.text = fmt.Appendf(b.text, `,"low":%s,"high":%s`, decimal(s.Low), decimal(s.High))
			case transform.Standard:
				b.text = fmt.Appendf(b.text, `,"mean":%s,"deviation":%s`, decimal(s.Mean), decimal(s.Deviation))
			case transform.Fill:
				b.text = fmt.Appendf(b.text, `,"value":%s`, decimal(s.Value))
			}
			b.text = append(b.text, '}')
		}
		b.text = append(b.text, ']')
	}
	b.text = append(b.text, '}')
}

// node appends a node and the nodes below.
func (b *jsonWriter) node(t tree, at, depth int) (err error) {
	defer catch(&err)
	if depth > deepest {
		return fmt.Errorf("found a tree deeper than %d levels, expected fewer in nested JSON", deepest)
	}
	if at < 0 || len(t.nodes) == 0 {
		b.text = fmt.Appendf(b.text, `{"value":%s}`, decimal(t.values[max(0, -1-at)]))
		return nil
	}
	n := t.nodes[at]
	b.text = fmt.Appendf(b.text, `{"feature":%s,`, quoted(b.names[n.Feature]))
	if n.Categories == nil {
		b.text = fmt.Appendf(b.text, `"at_most":%s`, decimal(doubleThreshold(n.Threshold)))
	} else {
		b.text = append(b.text, `"among":[`...)
		for i, c := range n.Categories {
			b.text = separate(b.text, i)
			b.text = append(b.text, decimal(float64(c))...)
		}
		b.text = append(b.text, ']')
	}
	b.text = fmt.Appendf(b.text, `,"missing":"%s","yes":`, map[bool]string{true: "yes", false: "no"}[n.MissingLeft])
	check(b.node(t, n.Left, depth+1))
	b.text = append(b.text, `,"no":`...)
	check(b.node(t, n.Right, depth+1))
	b.text = append(b.text, '}')
	return nil
}
