package train

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: the bag's terms are the sums of its members', each with the gradient of
// its own part, and the average's scores are the means of the members' scores. The
// first member starts where a training without a bag does, the others elsewhere.
func TestBagIsItsMembers(t *testing.T) {
	for _, architecture := range []Architecture{Network(3, scorer.Tanh), PairNetwork(3, 2, scorer.Tanh)} {
		task := &Task{Problem: &Problem{Data: smallData(t), Seed: 1}}
		s := architecture(task.Data.Features)
		kind := s.Kind()
		risk, err := task.Risk(s, loss.RankNet{Sigma: 1}, 10)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBag(risk, s, 3)
		if err != nil {
			t.Fatal(err)
		}
		x, grad, own := make([]float64, b.Dim()), make([]float64, b.Dim()), make([]float64, risk.Dim())
		b.setStart(x, 1, 0)
		first := make([]float64, risk.Dim())
		s.Init(first, random.Stream(1, "init", "0"))
		if !slices.Equal(b.member(x, 0), first) || slices.Equal(b.member(x, 1), first) {
			t.Error("the first member starts elsewhere than without a bag, or all start alike")
		}
		for i := range b.Terms() {
			clear(grad)
			got, want := b.EvalTerm(i, x, grad), 0.0
			for k := range 3 {
				clear(own)
				want += risk.EvalTerm(i, b.member(x, k), own)
				if !slices.Equal(own, b.member(grad, k)) {
					t.Fatalf("%s, term %d: member %d has another gradient", kind, i, k)
				}
			}
			if math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s, term %d: value %v, the members' sum is %v", kind, i, got, want)
			}
		}
		want := make([]float64, task.Data.Docs())
		for k := range 3 {
			for i, v := range scoresOf(t, s, b.member(x, k), task.Data) {
				want[i] += v / 3
			}
		}
		average, params := b.average(x)
		for i, v := range scoresOf(t, average, params, task.Data) {
			if math.Abs(v-want[i]) > 1e-12*(1+math.Abs(v)) {
				t.Fatalf("%s: document %d scores %v, the members' mean is %v", kind, i, v, want[i])
			}
		}
	}
}

func scoresOf(t testing.TB, s scorer.Scorer, params []float64, d *dataset.Dataset) []float64 {
	t.Helper()
	scores, err := (&model.Model{Scorer: s, Params: params}).Score(d)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// Claim: a network trained by descent has the same parameters for any number of workers, whether its queries are
// divided among them or not, alone and in a bag; and no goroutine is left.
func TestDescentOnCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs = 60, 150
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, bag := range []int{1, 2} {
		var want []float64
		for _, workers := range []int{1, 2, 7} {
			learner := Descent{Architecture: Network(10, scorer.Tanh), C: 100, Rule: optimize.Adam, Rate: 0.01, Epochs: 4, Bag: bag}
			p := &Problem{Data: d, Loss: loss.RankNet{}, Learner: learner, Seed: 1, Workers: workers}
			before := runtime.NumGoroutine()
			m, err := Run(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			if after := goroutinesLeft(before); after > before {
				t.Errorf("%d goroutines before training with %d workers, %d after", before, workers, after)
			}
			if want == nil {
				want = m.Params
			} else if !slices.Equal(m.Params, want) {
				t.Errorf("bag of %d: %d workers give other parameters than one", bag, workers)
			}
			task := &Task{Problem: &Problem{Data: d, Workers: workers}}
			team := newTeam(scorer.Network{Features: d.Features, Hidden: 10}, task)
			if got := team.Parts(); got != min(workers, 4) {
				t.Errorf("%d workers on 4 processors: %d parts, expected %d", workers, got, min(workers, 4))
			}
			team.Close()
		}
	}
}

// goroutinesLeft returns the number of goroutines, as soon as there are no more than before or after ten seconds: one
// that has told its WaitGroup that it is done ends a moment later.
func goroutinesLeft(before int) int {
	for range 1000 {
		if n := runtime.NumGoroutine(); n <= before {
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	return runtime.NumGoroutine()
}

// What the second core is worth to descent, whose steps follow one another: a query of 120 documents takes
// some 20 microseconds. The features (66 MB) do not fit the caches. One worker and two take turns, 40
// queries at a time. The fastest twentieth of these times counts, because other processes disturb the rest.
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
