package paper

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/optimize"
	"github.com/listwise/listwise/scorer"
)

// layers are the paper's two kinds of nets, with their published gain.
type layers struct {
	name   string
	scorer func(features int) scorer.Scorer
}

var (
	oneLayer  = layers{"one layer", func(features int) scorer.Scorer { return scorer.Linear{Features: features} }}
	twoLayers = layers{"two layers, 10 hidden", func(features int) scorer.Scorer { return scorer.Network{Features: features, Hidden: 10} }}
)

// race is one net and one set of data, trained by both forms of RankNet from the
// same start.
type race struct {
	v1, v2 optimize.Terms
	start  []float64
}

// newRace uses all queries for V2 and only the given number of first queries for V1.
func newRace(d *dataset.Dataset, l layers, first int, seed uint64) (*race, error) {
	s := l.scorer(d.Features)
	few := d
	if first < len(d.Queries) {
		few = d.Subset(upTo(first))
	}
	v1, err := objective.NewPairByPair(few, s, loss.RankNet{})
	if err != nil {
		return nil, err
	}
	v2, err := objective.New(d, s, loss.RankNet{}, objective.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	r := &race{v1: v1, v2: v2, start: make([]float64, s.NumParams())}
	s.Init(r.start, random.Stream(seed, "init", l.name))
	return r, nil
}

// upTo returns 0 … n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// speedupRate is small enough for every net and length of list here; no time
// depends on it.
const speedupRate = 1e-6

// epoch makes one pass over the queries, with an update after each, and returns
// where it ended and how long it took.
func (r *race) epoch(ctx context.Context, terms optimize.Terms) (x []float64, took time.Duration, err error) {
	descent := optimize.Descent{Rule: optimize.Plain, Rate: speedupRate, MaxEpochs: 1, Workers: 1}
	began := cpuTime()
	end, err := descent.Minimize(ctx, terms, r.start)
	took = cpuTime() - began
	if err != nil {
		return nil, 0, err
	}
	return end.X, took, nil
}

// lap is what one race took: nanoseconds a query, each the median of its epochs.
type lap struct {
	v1, v2    float64
	ratio     float64 // the median of the ratios of neighbouring epochs
	ratios    []float64
	disagreed float64 // the largest difference of a weight after an epoch, in terms of the largest step; NaN if the queries differ
}

// run times epochs of V2, V1, V2, V1, … so that anything that slows the machine down
// affects both. Before the first ones that count each has been run once.
func (r *race) run(ctx context.Context, times int) (lap, error) {
	var v1, v2, ratios []float64
	l := lap{disagreed: math.NaN()}
	for i := range times + 1 {
		runtime.GC() // not within an epoch
		b, tookV2, err := r.repeat(ctx, r.v2)
		if err != nil {
			return l, err
		}
		a, tookV1, err := r.repeat(ctx, r.v1)
		if err != nil {
			return l, err
		}
		if i == 0 {
			if r.v1.Terms() == r.v2.Terms() {
				l.disagreed = largestDifference(a, b) / largestDifference(b, r.start)
			}
			continue
		}
		v1, v2, ratios = append(v1, tookV1), append(v2, tookV2), append(ratios, tookV1/tookV2)
	}
	l.v1, l.v2, l.ratio, l.ratios = median(v1), median(v2), median(ratios), ratios
	return l, nil
}

// shortest is the time below which one epoch is too little to be timed.
const shortest = 20 * time.Millisecond

// repeat runs as many epochs as take a while and returns the weights after one and
// the nanoseconds a query.
func (r *race) repeat(ctx context.Context, terms optimize.Terms) (x []float64, perQuery float64, err error) {
	var all time.Duration
	epochs := 0
	for all < shortest {
		end, took, err := r.epoch(ctx, terms)
		if err != nil {
			return nil, 0, err
		}
		x, all = end, all+took
		epochs++
	}
	return x, float64(all.Nanoseconds()) / float64(epochs*terms.Terms()), nil
}

var processStart = time.Now()

func largestDifference(a, b []float64) float64 {
	most := 0.0
	for i, v := range a {
		most = max(most, math.Abs(v-b[i]))
	}
	return most
}

// median returns the middle of x, or the mean of the two there.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
