package interchange

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// readRankLibNetwork reads RankNet, LambdaRank and ListNet: networks of any number of layers
// whose units, that of the output too, are all logistic.
func readRankLibNetwork(t *rankLibText) (*model.Model, error) {
	n := rankLibNetwork{lines: t.lines}
	layers, err := n.read(t.features)
	if err != nil {
		return nil, err
	}
	m, err := networkModel(layers, nil, "ranklib", t.origin())
	if err != nil {
		return nil, errorAt(t.lines[0].number, "%w", err)
	}
	return m, nil
}

// rankLibNetwork reads the lines of a network: features, number of hidden layers, neurons of each,
// and then "layer neuron weights…" for the weights that go out from a neuron. The last neuron of
// layer 0 is 1, and its weights are the biases of all layers.
type rankLibNetwork struct {
	lines    []textLine
	features []int
	layers   []layer
}

func (n *rankLibNetwork) next() (textLine, []string, error) {
	if len(n.lines) == 0 {
		return textLine{}, nil, fmt.Errorf("found the end of the file, expected more lines of a network")
	}
	l := n.lines[0]
	n.lines = n.lines[1:]
	return l, strings.Fields(l.text), nil
}

// count reads a line that holds a whole number alone.
func (n *rankLibNetwork) count(what string, least, most int) (int, error) {
	l, fields, err := n.next()
	if err != nil {
		return 0, err
	}
	if len(fields) == 1 {
		if v, err := strconv.Atoi(fields[0]); err == nil && v >= least && v <= most {
			return v, nil
		}
	}
	return 0, errorAt(l.number, "found %.40q, expected %s, a number from %d to %d", l.text, what, least, most)
}

// read reads the layers; stated is the number of features that a comment states, 0 if there is none.
func (n *rankLibNetwork) read(stated int) ([]layer, error) {
	first := n.lines[0].number
	if err := n.readFeatures(); err != nil {
		return nil, err
	}
	if stated > 0 && stated != len(n.features) {
		return nil, errorAt(first, "found %d features, expected %d, as the number of features says", len(n.features), stated)
	}
	hidden, err := n.count("the number of hidden layers", 0, 100)
	if err != nil {
		return nil, err
	}
	inputs, size := 0, 0.0
	for _, f := range n.features {
		inputs = max(inputs, f)
	}
	neurons := make([]int, hidden+1)
	for l := range neurons {
		neurons[l] = 1
		if l < hidden {
			if neurons[l], err = n.count("the number of neurons of a layer", 1, 1<<20); err != nil {
				return nil, err
			}
		}
		size += float64(float64(inputs) * float64(neurons[l]))
		inputs = neurons[l]
	}
	// Every weight stands in the file; only features between those used may be missing.
	if most := float64(64*float64(textBytes(n.lines))) + 2*mostFeatures; size > most {
		return nil, errorAt(n.lines[0].number, "found a network of %.0f weights, expected one whose weights are in the file", size)
	}
	n.makeLayers(neurons)
	return n.layers, n.readWeights(neurons)
}

func textBytes(lines []textLine) (sum int) {
	for _, l := range lines {
		sum += len(l.text)
	}
	return sum
}

func (n *rankLibNetwork) readFeatures() error {
	l, fields, err := n.next()
	if err != nil {
		return err
	}
	for _, text := range fields {
		f, err := strconv.Atoi(text)
		if err == nil {
			err = numbered(f)
		}
		if err != nil {
			return errorAt(l.number, "found the feature %.40q, expected a number from 1 to %d", text, mostFeatures)
		}
		n.features = append(n.features, f)
	}
	if len(n.lines) == 0 {
		return errorAt(l.number, "found the end of the file, expected the number of hidden layers")
	}
	return nil
}

func (n *rankLibNetwork) makeLayers(neurons []int) {
	inputs := 0
	for _, f := range n.features {
		inputs = max(inputs, f)
	}
	for _, units := range neurons {
		l := layer{biases: make([]float64, units), activation: scorer.Sigmoid}
		for range units {
			l.weights = append(l.weights, make([]float64, inputs))
		}
		n.layers = append(n.layers, l)
		inputs = units
	}
}

// readWeights reads the lines of all neurons, each of which must be there once.
func (n *rankLibNetwork) readWeights(neurons []int) error {
	seen := map[[2]int]bool{}
	total := len(n.features) + 1
	biases := 0
	for l, units := range neurons {
		biases += units
		if l < len(neurons)-1 {
			total += units
		}
	}
	for len(n.lines) > 0 {
		l, fields, _ := n.next()
		if len(fields) < 2 {
			return errorAt(l.number, "found %.40q, expected LAYER NEURON WEIGHT …", l.text)
		}
		at, err := strconv.Atoi(fields[0])
		neuron, err2 := strconv.Atoi(fields[1])
		if err != nil || err2 != nil || at < 0 || at >= len(neurons) || neuron < 0 || at == 0 && neuron > len(n.features) || at > 0 && neuron >= neurons[at-1] {
			return errorAt(l.number, "found layer %.20q and neuron %.20q, expected one that the network has", fields[0], fields[1])
		}
		if seen[[2]int{at, neuron}] {
			return errorAt(l.number, "found neuron %d of layer %d a second time", neuron, at)
		}
		seen[[2]int{at, neuron}] = true
		want := neurons[at]
		if at == 0 && neuron == len(n.features) {
			want = biases
		}
		if len(fields)-2 != want {
			return errorAt(l.number, "found %d weights of neuron %d of layer %d, expected %d", len(fields)-2, neuron, at, want)
		}
		if err := n.put(at, neuron, fields[2:]); err != nil {
			return errorAt(l.number, "%w", err)
		}
	}
	if len(seen) != total {
		return fmt.Errorf("found the weights of %d neurons, expected those of %d", len(seen), total)
	}
	return nil
}

// put stores the weights that go out from a neuron.
func (n *rankLibNetwork) put(at, neuron int, fields []string) error {
	k := 0
	number := func() (float64, error) {
		v, err := javaFloat(fields[k], 64)
		k++
		return v, err
	}
	if at == 0 && neuron == len(n.features) {
		for l := range n.layers {
			for u := range n.layers[l].biases {
				v, err := number()
				if err != nil {
					return err
				}
				n.layers[l].biases[u] = v
			}
		}
		return nil
	}
	if at == 0 {
		neuron = n.features[neuron] - 1
	}
	for u := range n.layers[at].weights {
		v, err := number()
		if err != nil {
			return err
		}
		n.layers[at].weights[u][neuron] += v
	}
	return nil
}
