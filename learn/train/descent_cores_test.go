package train

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
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
