package train

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/optimize"
	"github.com/listwise/listwise/scorer"
)

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
			if after := runtime.NumGoroutine(); after > before {
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
