package logrank

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/testing/numtest"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
)

// BenchmarkSampledConvexLoss measures value and gradient of the sampled
// ConvexLoss of a linear scorer, features to weights, against the floor of any
// such evaluation: scoring the documents, returning λ to the weights, and one
// exponential a sample. x-floor is the ratio of the two; x-exp that of the loss
// alone to the exponentials. All are medians of measurements that alternate. The
// last shape's walks have 50 steps and start at either end.
//
// Measured x-floor: 1.6, 1.2, 1.2 and 1.8 with AVX-512; up to 0.2 more while a neighbour keeps the
// other thread of the core busy, which loads suffer more from than exponentials.
func BenchmarkSampledConvexLoss(b *testing.B) {
	short, long := sample.DefaultOptions(), sample.DefaultOptions()
	long.Steps, long.Mix = 50, 0.9
	for _, shape := range []struct {
		name                string
		good, bad, features int
		options             sample.Options
	}{
		{"ohsumed", 45, 107, 45, short}, {"gov-1", 1, 1000, 64, short}, {"gov-10", 10, 1000, 64, short},
		{"ohsumed-50", 45, 107, 45, long},
	} {
		b.Run(shape.name, func(b *testing.B) {
			pairs := mixedQuery(shape.good, shape.bad)
			l, err := newSampledLaw(pairs, additive(b, "ndcg@10"), 1, shape.options, rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				b.Fatal(err)
			}
			e := newLinearEval(l, pairs.Docs(), shape.features)
			e.full()
			b.ReportAllocs()
			var full, floor, lossOnly, exp []float64
			for b.Loop() {
				full = append(full, numtest.Timed(e.full))
				floor = append(floor, numtest.Timed(e.floor))
				lossOnly = append(lossOnly, numtest.Timed(e.loss))
				exp = append(exp, numtest.Timed(e.exp))
			}
			b.ReportMetric(numtest.Median(full), "ns/full")
			b.ReportMetric(numtest.Median(full)/numtest.Median(floor), "x-floor")
			b.ReportMetric(numtest.Median(lossOnly)/numtest.Median(exp), "x-exp")
		})
	}
}

// linearEval is one query under a linear scorer.
type linearEval struct {
	law     law
	x       []float32
	w, back []float64
	scores  []float64
	lambda  []float64
	exps    []float64
	powers  []float64
	scratch loss.Scratch
}

func newLinearEval(l *sampledLaw, docs, features int) *linearEval {
	rng := rand.New(rand.NewPCG(3, 4))
	e := &linearEval{
		law: l, x: make([]float32, docs*features),
		w: make([]float64, features), back: make([]float64, features),
		scores: make([]float64, docs), lambda: make([]float64, docs),
		exps: make([]float64, l.set.Len()), powers: make([]float64, l.set.Len()),
	}
	for i := range e.x {
		e.x[i] = rng.Float32()
	}
	for i := range e.w {
		e.w[i] = rng.NormFloat64()
	}
	for i := range e.powers {
		e.powers[i] = -rng.Float64() * 20
	}
	return e
}

func (e *linearEval) loss() {
	e.scratch.Reset()
	e.law.logPartition(1, e.scores, e.lambda, &e.scratch)
}

func (e *linearEval) full() {
	kernel.Gemv(e.scores, e.x, e.w)
	e.loss()
	kernel.GemvT(e.back, e.x, e.lambda)
}

func (e *linearEval) floor() {
	kernel.Gemv(e.scores, e.x, e.w)
	kernel.GemvT(e.back, e.x, e.lambda)
	e.exp()
}

func (e *linearEval) exp() { kernel.Exp(e.exps, e.powers) }

// BenchmarkSampledBind measures drawing the sample.
func BenchmarkSampledBind(b *testing.B) {
	for _, n := range [][2]int{{45, 107}, {1, 1000}, {10, 1000}} {
		b.Run(fmt.Sprintf("%d-%d", n[0], n[1]), func(b *testing.B) {
			pairs, gain := mixedQuery(n[0], n[1]), additive(b, "ndcg@10")
			rng := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				if _, err := newSampledLaw(pairs, gain, 1, sample.DefaultOptions(), rng); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
