package logrank

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// benchmarkShapes are good and bad documents of OHSUMED's and of .gov's queries.
var benchmarkShapes = [][2]int{{45, 107}, {1, 1000}, {10, 1000}}

// BenchmarkLogRank evaluates value and gradient of one query and reports the time
// a pair (a document for the shell). Floors on a core of about 3 GHz: a division,
// and with it MLE, about 1 ns a pair; a lattice cell an exponential, a sum
// forwards and one backwards, about 4 ns, and sorting comes on top, which is most
// of the time of a single good among a thousand bads (twice for L3); a pair of
// E[NDCG@10] 10 cells forwards twice and backwards once, about 25 ns if the chains
// of multiplications were vectorised, some 65 ns as they are.
func BenchmarkLogRank(b *testing.B) {
	for _, c := range []struct {
		name, gain string
		loss       func(Options) loss.Loss
		form       Form
	}{
		{"mle/factored", "auc", func(c Options) loss.Loss { return MLE{c} }, Factored},
		{"expgain/factored/auc", "auc", func(c Options) loss.Loss { return ExpGain{c} }, Factored},
		{"expgain/factored/ndcg@10", "ndcg@10", func(c Options) loss.Loss { return ExpGain{c} }, Factored},
		{"expgain/factored/map", "map", func(c Options) loss.Loss { return ExpGain{c} }, Factored},
		{"convexloss/lattice/ndcg@10", "ndcg@10", func(c Options) loss.Loss { return ConvexLoss{c} }, Lattice},
		{"convexloss/lattice/map", "map", func(c Options) loss.Loss { return ConvexLoss{c} }, Lattice},
		{"l3/lattice/ndcg@10", "ndcg@10", func(c Options) loss.Loss { return L3{c} }, Lattice},
		{"convexloss/shell", "ndcg@10", func(c Options) loss.Loss { return ConvexLoss{c} }, Shell},
	} {
		for _, shape := range benchmarkShapes {
			if c.gain == "map" && c.form == Factored && shape[1] > 200 {
				continue // cubic: a matter of 10 ms
			}
			b.Run(fmt.Sprintf("%s/%dx%d", c.name, shape[0], shape[1]), func(b *testing.B) {
				benchmarkLoss(b, c.loss(Options{Form: c.form, Gain: additive(b, c.gain)}), shape, c.form == Shell)
			})
		}
	}
}

func benchmarkLoss(b *testing.B, l loss.Loss, shape [2]int, perDocument bool) {
	docs := mixed(shape[0], shape[1], 2)
	grades := make([]float64, docs.Docs())
	for _, g := range docs.Good {
		grades[g] = 1
	}
	bound, err := l.Bind(grades, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		b.Fatal(err)
	}
	s := normals(rand.New(rand.NewPCG(3, 4)), len(grades), 0.5)
	lambda := make([]float64, len(s))
	var scratch loss.Scratch
	bound.Eval(s, lambda, &scratch)
	b.ReportAllocs()
	for b.Loop() {
		bound.Eval(s, lambda, &scratch)
	}
	unit, name := docs.Pairs(), "ns/pair"
	if perDocument {
		unit, name = docs.Docs(), "ns/doc"
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(unit), name)
}
