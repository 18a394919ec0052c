package ensemble

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model/fuse"
)

func fusionRules() []fuse.Rule {
	return []fuse.Rule{
		{Kind: fuse.RRF, K: 60}, {Kind: fuse.RRF}, {Kind: fuse.Borda}, {Kind: fuse.CombSUM}, {Kind: fuse.CombSUM, Scale: fuse.ZScore},
		{Kind: fuse.CombSUM, Scale: fuse.Sum}, {Kind: fuse.CombMNZ}, {Kind: fuse.CombMNZ, Scale: fuse.Sum},
	}
}

// Tuned weights are proper ones, and nearly nothing goes to the system that is
// against the grades. Without draws they are at least as good on their data as equal
// ones and as a grid, within what a climb stops at; with draws, almost so.
func TestWeights(t *testing.T) {
	d, systems := datatest.Systems(t, 40)
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	m := measure.MustParse("map", measure.LETOR3)
	for _, r := range fusionRules() {
		of := func(w ...float64) float64 {
			v, _ := ranker.Mean(d, r.Scores(d, systems, w), m)
			return v
		}
		best := of(fuse.Equal(3)...)
		for a := range 11 {
			for b := range 11 - a {
				best = max(best, of(float64(a)/10, float64(b)/10, float64(10-a-b)/10))
			}
		}
		for draws, slack := range map[int]float64{0: 0.01, 10: 0.02} {
			tuning := Tuning{Measure: m, Draws: draws, Seed: 1}
			w, value, err := tuning.Weights(context.Background(), r, d, systems)
			if err != nil {
				t.Fatal(err)
			}
			if sum := w[0] + w[1] + w[2]; math.Abs(sum-1) > 1e-12 || slices.Min(w) < 0 || w[2] > 0.2 {
				t.Errorf("%+v, %d draws: weights are %v", r, draws, w)
			}
			if math.Abs(value-of(w...)) > 1e-12 || value < best-slack {
				t.Errorf("%+v, %d draws: value is %v, of the weights %v, best of a grid %v", r, draws, value, of(w...), best)
			}
			again, _, _ := tuning.Weights(context.Background(), r, d, systems)
			if !slices.Equal(again, w) {
				t.Errorf("%+v: weights are %v and then %v", r, w, again)
			}
		}
	}
}

// Averaging over draws leaves none out of systems that say the same, and nearly all
// to them together.
func TestDrawsShareAmongEquals(t *testing.T) {
	d, systems := datatest.Systems(t, 60)
	copies := [][]float64{systems[0], systems[0], systems[0], systems[2]}
	w, _, err := Tuning{Measure: measure.MustParse("map", measure.LETOR3), Draws: 30, Seed: 1}.Weights(context.Background(), fuse.Rule{Kind: fuse.Borda}, d, copies)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Min(w[:3]) < 0.1 || w[3] > 0.1 {
		t.Errorf("weights are %v", w)
	}
}

// Data without
// an order to choose, and a cancelled context, are errors.
func TestWeightsErrors(t *testing.T) {
	d := datatest.Queries(t, datatest.Query{Grades: []float64{0, 0}, X: []float32{1, 2}})
	tuning := Tuning{Measure: measure.MustParse("map", measure.LETOR3)}
	if _, _, err := tuning.Weights(context.Background(), fuse.Rule{Kind: fuse.Borda}, d, [][]float64{{1, 2}, {2, 1}}); err == nil {
		t.Error("data that teach nothing were accepted")
	}
	d, systems := datatest.Systems(t, 20)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := tuning.Weights(ctx, fuse.Rule{Kind: fuse.Borda}, d, systems); err == nil {
		t.Error("a cancelled context was ignored")
	}
}

// withoutTies is a measure that has no expected value under ties.
type withoutTies struct{}

func (withoutTies) Name() string                    { return "own" }
func (withoutTies) Value([]float64) (float64, bool) { return 0, true }

// Weights are chosen by tie-neutral values: a measure that has none is an error.
func TestWeightsNeedAverager(t *testing.T) {
	d := datatest.Queries(t, datatest.Query{Grades: []float64{0, 1, 2}, X: []float32{1, 2, 3}})
	scores := [][]float64{make([]float64, d.Docs())}
	_, _, err := Tuning{Measure: withoutTies{}}.Weights(context.Background(), fuse.Rule{Kind: fuse.CombSUM}, d, scores)
	if err == nil || !strings.Contains(err.Error(), "found the measure own, expected one that has an expected value under ties") {
		t.Errorf("error is %v", err)
	}
}

// Weights of systems are chosen by the mean over queries by their weights: those of weight 0 are
// as left out, and the value is that of the weighted mean.
func TestWeightsOfWeightedQueries(t *testing.T) {
	d, systems := datatest.Systems(t, 40)
	m := measure.MustParse("map", measure.LETOR3)
	weights := make([]float64, len(d.Queries))
	var kept []int
	parts := make([][]float64, len(systems))
	for i := range weights {
		if weights[i] = float64(i % 3); weights[i] > 0 {
			kept = append(kept, i)
			q := &d.Queries[i]
			for s := range systems {
				parts[s] = append(parts[s], systems[s][q.Start:q.Start+q.Len()]...)
			}
		}
	}
	all := d.Clone()
	if err := all.Weigh(weights, nil); err != nil {
		t.Fatal(err)
	}
	for _, draws := range []int{0, 5} {
		tuning := Tuning{Measure: m, Draws: draws, Seed: 1}
		r := fuse.Rule{Kind: fuse.CombSUM}
		got, value, err := tuning.Weights(context.Background(), r, all, systems)
		if err != nil {
			t.Fatal(err)
		}
		want, wantValue, err := tuning.Weights(context.Background(), r, all.Subset(kept), parts)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || math.Abs(value-wantValue) > 1e-12 {
			t.Errorf("%d draws: weights %v of value %v, without queries of weight 0 %v of %v", draws, got, value, want, wantValue)
		}
	}
}
