package interchange

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// plain is a model as docs/interchange.md describes its JSON, read without the package's code.
type plain struct {
	Features []string           `json:"features"`
	Missing  string             `json:"missing"`
	Type     string             `json:"type"`
	Constant float64            `json:"constant"`
	Weights  map[string]float64 `json:"weights"`
	Trees    []plainNode        `json:"trees"`
	Steps    map[string][]struct {
		Step                              string
		Low, High, Mean, Deviation, Value float64
	} `json:"transforms"`
	Layers []struct {
		Activation string
		Units      []struct {
			Bias    float64
			Weights []float64
		}
	} `json:"layers"`
}

type plainNode struct {
	Feature string     `json:"feature"`
	AtMost  *float64   `json:"at_most"`
	Among   []float64  `json:"among"`
	Missing string     `json:"missing"`
	Yes     *plainNode `json:"yes"`
	No      *plainNode `json:"no"`
	Value   float64    `json:"value"`
}

func (n *plainNode) value(doc map[string]float64) float64 {
	if n.Yes == nil {
		return n.Value
	}
	v := doc[n.Feature]
	yes := n.AtMost != nil && v <= *n.AtMost || slices.Contains(n.Among, v)
	if math.IsNaN(v) {
		yes = n.Missing == "yes"
	}
	if yes {
		return n.Yes.value(doc)
	}
	return n.No.value(doc)
}

func (p *plain) score(x []float32) float64 {
	doc, in := map[string]float64{}, []float64{}
	for j, name := range p.Features {
		v := float64(x[j])
		if math.IsNaN(v) && p.Missing == "zero" {
			v = 0
		}
		for _, s := range p.Steps[name] {
			switch {
			case s.Step == "fill" && math.IsNaN(v):
				v = s.Value
			case s.Step == "clip" && v == v:
				v = min(max(v, s.Low), s.High)
			case s.Step == "log1p":
				v = math.Copysign(math.Log1p(math.Abs(v)), v)
			case s.Step == "standard" && s.Deviation == 0 && v == v:
				v = 0
			case s.Step == "standard":
				v = (v - s.Mean) / s.Deviation
			}
		}
		doc[name] = v
		in = append(in, v)
	}
	s := p.Constant
	for _, t := range p.Trees {
		s += t.value(doc)
	}
	for name, w := range p.Weights {
		s += w * doc[name]
	}
	if p.Type != "network" {
		return s
	}
	for _, l := range p.Layers {
		var out []float64
		for _, u := range l.Units {
			z := u.Bias
			for j, w := range u.Weights {
				z += w * in[j]
			}
			out = append(out, unitOf(l.Activation, z))
		}
		in = out
	}
	return in[0]
}

// unitOf is an activation by its definition.
func unitOf(name string, z float64) float64 {
	switch name {
	case "tanh":
		return math.Tanh(z)
	case "sigmoid":
		return 1 / (1 + math.Exp(-z))
	case "relu":
		return max(z, 0)
	case "softplus":
		return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	case "elu":
		return max(z, 0) + math.Expm1(min(z, 0))
	case "leakyrelu":
		return max(z, z/100)
	case "identity":
		return z
	}
	panic(name)
}

// Claim: plain JSON, evaluated by its description alone, gives the model's scores.
func TestPlainJSON(t *testing.T) {
	for seed := range uint64(1000) {
		m, d := drawAny(t, seed, 10)
		var p plain
		if err := json.Unmarshal([]byte(written(t, m, "json", WriteOptions{})), &p); err != nil {
			t.Fatal(err)
		}
		checkScores(t, m, d, 1e-13, p.score)
	}
}
