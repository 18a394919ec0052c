package interchange

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// readRankLibNetwork reads models of RankNet, LambdaRank and ListNet. They are networks with any
// number of layers. All units, including the output unit, are logistic.
func readRankLibNetwork(t *rankLibText) (_ *model.Model, err error) {
	defer catch(&err)
	n := rankLibNetwork{lines: t.lines}
	layers := must(n.read(t.features))
	m, err := networkModel(layers, nil, "ranklib", t.origin())
	if err != nil {
		return nil, errorAt(t.lines[0].number, "%w", err)
	}
	return m, nil
}

// rankLibNetwork reads the lines of a network: the features, the number of hidden layers, and the
// number of neurons in each. The remaining lines are "layer neuron weights…", with the weights from a
// neuron to the next layer. The last neuron of layer 0 has the constant output 1, and its weights are
// the biases of all layers.
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

// count reads a line with a single whole number.
func (n *rankLibNetwork) count(what string, least, most int) (_ int, err error) {
	defer catch(&err)
	l, fields := must2(n.next())
	if len(fields) == 1 {
		if v, err := strconv.Atoi(fields[0]); err == nil && v >= least && v <= most {
			return v, nil
		}
	}
	return 0, errorAt(l.number, "found %.40q, expected %s, a number from %d to %d", l.text, what, least, most)
}

// read reads the layers. stated is the number of features in the file's comment, or 0.
func (n *rankLibNetwork) read(stated int) (_ []layer, err error) {
	defer catch(&err)
	first := n.lines[0].number
	check(n.readFeatures())
	if stated > 0 && stated != len(n.features) {
		return nil, errorAt(first, "found %d features, expected %d, as the number of features says", len(n.features), stated)
	}
	hidden := must(n.count("the number of hidden layers", 0, 100))
	inputs, size := 0, 0.0
	for _, f := range n.features {
		inputs = max(inputs, f)
	}
	neurons := make([]int, hidden+1)
	for l := range neurons {
		neurons[l] = 1
		if l < hidden {
			neurons[l] = must(n.count("the number of neurons of a layer", 1, 1<<20))
		}
		size += float64(float64(inputs) * float64(neurons[l]))
		inputs = neurons[l]
	}
	// The file contains every weight, except weights of unused features.
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

func (n *rankLibNetwork) readFeatures() (err error) {
	defer catch(&err)
	l, fields := must2(n.next())
	for _, text := range fields {
		f, err := featureNumber(text)
		if err != nil {
			return errorAt(l.number, "%w", err)
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

// readWeights reads the lines of all neurons. Each neuron must have exactly one line.
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

// put stores the weights from a neuron to the next layer.
func (n *rankLibNetwork) put(at, neuron int, fields []string) (err error) {
	defer catch(&err)
	k := 0
	number := func() (float64, error) {
		v, err := javaFloat(fields[k], 64)
		k++
		return v, err
	}
	if at == 0 && neuron == len(n.features) {
		for l := range n.layers {
			for u := range n.layers[l].biases {
				v := must(number())
				n.layers[l].biases[u] = v
			}
		}
		return nil
	}
	if at == 0 {
		neuron = n.features[neuron] - 1
	}
	for u := range n.layers[at].weights {
		v := must(number())
		n.layers[at].weights[u][neuron] += v
	}
	return nil
}

// steepest is the largest sum that network allows as argument of the output's logistic function.
// For larger sums the function is so flat that documents would tie.
const steepest = 4

// network writes a network as RankNet. The output unit of RankNet is logistic, so RankLib's scores
// are the logistic function of the model's scores, which preserves the order. Large scores are
// first divided by a power of two, so that the logistic function distinguishes them.
func (b *rankLibWriter) network(m *model.Model, scores Scores) (err error) {
	defer catch(&err)
	layers, notes := must2(networkOf(m))
	b.notes = append(b.notes, notes...)
	last := len(layers) - 1
	for l := range layers[:last] {
		if f := layers[l].activation; f != scorer.Sigmoid {
			return fmt.Errorf("found the activation %v, expected sigmoid: all units of RankLib's networks are logistic", f)
		}
	}
	scale := 1.0
	switch f := layers[last].activation; f {
	case scorer.Sigmoid:
	case scorer.Identity:
		if scores == RawScores && last > 0 {
			for largest := largestSum(layers[last]); largest/scale > steepest && scale < 0x1p1000; {
				scale *= 2
			}
		}
		note := "RankLib's scores are 1/(1+exp(−s)) of the model's scores s: RankNet's output is logistic"
		if scale > 1 {
			note = fmt.Sprintf("RankLib's scores are 1/(1+exp(−s/%g)) of the model's scores s: RankNet's output is logistic, and flat for large ones", scale)
		}
		b.notes = append(b.notes, note)
	default:
		return fmt.Errorf("found the activation %v of the output, expected identity or sigmoid", f)
	}
	b.head("RankNet")
	b.printf("## No. of hidden layers = %d\n", last)
	for j := range layers[0].weights[0] {
		if j > 0 {
			b.printf(" ")
		}
		b.printf("%d", j+1)
	}
	b.printf("\n%d\n", last)
	for _, l := range layers[:last] {
		b.printf("%d\n", len(l.biases))
	}
	b.neurons(layers, scale)
	return nil
}

// neurons writes the weights from each neuron to the next layer. Weights to the output are divided by
// scale.
func (b *rankLibWriter) neurons(layers []layer, scale float64) {
	last := len(layers) - 1
	divisor := func(l int) float64 {
		if l == last {
			return scale
		}
		return 1
	}
	for l, to := range layers {
		for j := range to.weights[0] {
			b.printf("%d %d", l, j)
			for _, row := range to.weights {
				b.printf(" %s", decimal(row[j]/divisor(l)))
			}
			b.printf("\n")
		}
		if l > 0 {
			continue
		}
		b.printf("0 %d", len(to.weights[0]))
		for l, of := range layers {
			for _, bias := range of.biases {
				b.printf(" %s", decimal(bias/divisor(l)))
			}
		}
		b.printf("\n")
	}
}

// largestSum returns an upper bound of the sum in a layer with one unit whose inputs are between 0 and
// 1.
func largestSum(l layer) float64 {
	sum := math.Abs(l.biases[0])
	for _, w := range l.weights[0] {
		sum += math.Abs(w)
	}
	return sum
}
