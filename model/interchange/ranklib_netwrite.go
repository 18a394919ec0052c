package interchange

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// steepest is how large the sums before the output's logistic function may become: beyond it
// the function is flat, and documents would tie.
const steepest = 4

// network writes RankNet. Its output is logistic, so that scores are the logistic function of
// the model's, divided by a power of two where they are large; the order is the same.
func (b *rankLibWriter) network(m *model.Model, scores Scores) error {
	layers, notes, err := networkOf(m)
	if err != nil {
		return err
	}
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

// neurons writes the weights that go out from each, those to the output divided by scale.
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

// largestSum bounds what a layer of one unit sums up, of inputs between 0 and 1.
func largestSum(l layer) float64 {
	sum := math.Abs(l.biases[0])
	for _, w := range l.weights[0] {
		sum += math.Abs(w)
	}
	return sum
}
