package fuse

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
)

func parse(t testing.TB, name string) measure.Measure {
	t.Helper()
	m, err := measure.Parse(name, measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// judged returns data and the scores of three systems: one that knows the grades
// well, one a little, and one that is against them.
func judged(t testing.TB, queries int) (*dataset.Dataset, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b dataset.Builder
	systems := make([][]float64, 3)
	for q := range queries {
		grades, x := make([]float64, 12), make([]float32, 12)
		for i := range grades {
			grades[i] = float64(rng.IntN(3))
			for s, knowledge := range []float64{1, 0.4, -1} {
				systems[s] = append(systems[s], knowledge*grades[i]+rng.NormFloat64())
			}
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset(), systems
}

// Tuned weights are proper ones, at least as good on their data as equal ones, as any
// system alone and as a grid of weights within what a climb stops at; nothing goes to
// the system that is against the grades.
func TestWeights(t *testing.T) {
	d, systems := judged(t, 40)
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	for _, r := range rules() {
		m := parse(t, "map")
		tuning := Tuning{Measure: m, Restarts: 3, Seed: 1}
		w, value, err := tuning.Weights(context.Background(), r, d, systems)
		if err != nil {
			t.Fatal(err)
		}
		of := func(w ...float64) float64 {
			v, _ := ranker.Mean(d, r.Scores(d, systems, w), m)
			return v
		}
		if sum := w[0] + w[1] + w[2]; math.Abs(sum-1) > 1e-12 || slices.Min(w) < 0 || w[2] > 0.2 {
			t.Errorf("%+v: weights are %v", r, w)
		}
		if math.Abs(value-of(w...)) > 1e-12 || value < of(Equal(3)...) {
			t.Errorf("%+v: value is %v, of the weights %v, of equal ones %v", r, value, of(w...), of(Equal(3)...))
		}
		for a := range 11 {
			for b := range 11 - a {
				if grid := of(float64(a)/10, float64(b)/10, float64(10-a-b)/10); grid > value+0.01 {
					t.Errorf("%+v: weights %d, %d, %d are worth %v, those found %v", r, a, b, 10-a-b, grid, value)
				}
			}
		}
		again, _, _ := tuning.Weights(context.Background(), r, d, systems)
		if !slices.Equal(again, w) {
			t.Errorf("%+v: weights are %v and then %v", r, w, again)
		}
	}
}

// Fused scores are the weighted sum of the votes, query by query.
func TestScores(t *testing.T) {
	d, systems := judged(t, 5)
	for _, r := range rules() {
		got := r.Scores(d, systems, []float64{1, 2, 3})
		for i := range d.Queries {
			q := &d.Queries[i]
			votes := make([][]float64, 3)
			for s := range votes {
				votes[s] = slices.Clone(systems[s][q.Start : q.Start+q.Len()])
			}
			r.Votes(votes)
			for k := range q.Len() {
				if want := votes[0][k] + 2*votes[1][k] + 3*votes[2][k]; math.Abs(got[q.Start+k]-want) > 1e-12 {
					t.Fatalf("%+v: score is %v, want %v", r, got[q.Start+k], want)
				}
			}
		}
	}
}

// Data without
// an order to choose, and a cancelled context, are errors.
func TestWeightsErrors(t *testing.T) {
	var b dataset.Builder
	if err := b.Add("a", []float64{0, 0}, []float32{1, 2}, nil); err != nil {
		t.Fatal(err)
	}
	tuning := Tuning{Measure: parse(t, "map")}
	if _, _, err := tuning.Weights(context.Background(), Rule{Kind: Borda}, b.Dataset(), [][]float64{{1, 2}, {2, 1}}); err == nil {
		t.Error("data that teach nothing were accepted")
	}
	d, systems := judged(t, 20)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := tuning.Weights(ctx, Rule{Kind: Borda}, d, systems); err == nil {
		t.Error("a cancelled context was ignored")
	}
	if n := pairs(d); n != 20*12*12 {
		t.Errorf("%d pairs, want %d", n, 20*12*12)
	}
}
