package train

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// What the second core is worth to descent, whose steps follow one another: a query of 120 documents takes
// some 20 microseconds. The features (66 MB) do not fit the caches. Times are those of 40 queries in a
// row, of which the twentieth part that is fastest counts, with one worker and with two in turn: whatever else
// the machine does, now and then it does nothing else for a millisecond.
func BenchmarkDescentCores(b *testing.B) {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		b.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features = 1000, 120, 136
	d, err := shape.Generate(o)
	if err != nil {
		b.Fatal(err)
	}
	ndcg, err := measure.Parse("ndcg@10", measure.Convention{}, measure.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]loss.Loss{"ranknet": loss.RankNet{}, "lambdarank": loss.LambdaRank{Measure: ndcg}} {
		for kind, architecture := range map[string]Architecture{"linear": Linear, "net": Network(10, scorer.Tanh)} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				var clocks [3]clock
				for b.Loop() {
					for workers := 1; workers <= 2; workers++ {
						clocks[workers].descend(b, d, l, architecture, workers)
					}
				}
				one, two := clocks[1].fast()*float64(o.Docs), clocks[2].fast()*float64(o.Docs)
				b.ReportMetric(one, "ns/query-1")
				b.ReportMetric(two, "ns/query-2")
				b.ReportMetric(one/two, "x-second-core")
			})
		}
	}
}

// clock are terms that note how long it takes from one evaluation to another, some evaluations later.
type clock struct {
	*objective.Risk

	data        *dataset.Dataset
	begun       time.Time
	evaluations int
	docs        int
	times       []float64 // nanoseconds a document
}

// descend runs three epochs.
func (c *clock) descend(b *testing.B, d *dataset.Dataset, l loss.Loss, architecture Architecture, workers int) {
	task := &Task{Problem: &Problem{Data: d, Workers: workers, Seed: 1, LargestWork: DefaultLargestWork}}
	s := architecture.new(d.Features)
	var err error
	if c.Risk, err = task.Risk(s, l, 100); err != nil {
		b.Fatal(err)
	}
	team := newTeam(s, task)
	defer team.Close()
	c.InTurn(team)
	c.data, c.evaluations, c.docs = d, 0, 0
	x0 := make([]float64, s.NumParams())
	setStart(x0, s, 1, 0, 0)
	descent := optimize.Descent{Rule: optimize.Adam, Rate: 0.01, MaxEpochs: 3, Shuffle: func(epoch int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(epoch))) }}
	if _, err := descent.Minimize(context.Background(), c, x0); err != nil {
		b.Fatal(err)
	}
}

// EvalTerm implements optimize.Terms.
func (c *clock) EvalTerm(i int, x, grad []float64) float64 {
	if c.evaluations%40 == 0 {
		now := time.Now()
		if c.docs > 0 {
			c.times = append(c.times, float64(now.Sub(c.begun).Nanoseconds())/float64(c.docs))
		}
		c.begun, c.docs = now, 0
	}
	c.evaluations++
	c.docs += len(c.data.Queries[i].Grades)
	return c.Risk.EvalTerm(i, x, grad)
}

// fast returns the time that a twentieth part of all does not exceed.
func (c *clock) fast() float64 {
	slices.Sort(c.times)
	return c.times[len(c.times)/20]
}
