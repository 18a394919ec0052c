package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// byKind returns queries whose grades depend on feature 3, one of twelve kinds, in no order.
func byKind(t *testing.T, queries int, seed uint64) *dataset.Dataset {
	d := curved(t, queries, seed)
	rng := rand.New(rand.NewPCG(seed, 4))
	grade := []float64{0, 2, 1, 0, 1, 2, 0, 0, 2, 1, 0, 2}
	for i := range d.Queries {
		q := &d.Queries[i]
		for k := range q.Len() {
			kind := rng.IntN(12)
			q.Row(k)[2], q.Grades[k] = float32(kind), grade[kind]
		}
	}
	return d
}

// A tree of three leaves tells grades by categories in no order apart, which takes one of numbers
// many more; the model scores as it was boosted, and does so when it comes back from its file.
func TestTreesDivideByCategories(t *testing.T) {
	d := byKind(t, 20, 1)
	fit := func(l Trees) (float64, *model.Model) {
		l.Rounds, l.Rate, l.Options = 60, 0.3, tree.Options{Leaves: 3}
		m, err := Run(t.Context(), &Problem{Data: d, Loss: loss.SquaredError{}, Learner: l, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for i, g := range d.Grades() {
			sum += (scores[i] - g) * (scores[i] - g) / 2
		}
		if boosted := m.Training.Objective; math.Abs(sum-boosted) > 1e-9*(1+sum) {
			t.Errorf("the scores have the objective %v, the boosted sum %v", sum, boosted)
		}
		return sum, m
	}
	third := []bool{false, false, true, false, false, false}
	fit(Trees{Categorical: third, Sum: DARTTrees, Dropout: Dropout{Rate: 0.3}})
	with, m := fit(Trees{Categorical: third})
	if without, _ := fit(Trees{}); with > 1e-12 || without < 0.01 {
		t.Errorf("the squares are %v with categories, %v without", with, without)
	}
	raw, err := scorer.Encode(m.Scorer, m.Params)
	if err != nil {
		t.Fatal(err)
	}
	back, params, err := scorer.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	want, got := make([]float64, d.Docs()), make([]float64, d.Docs())
	m.Scorer.Score(want, m.Params, d.X(), nil)
	if back.Score(got, params, d.X(), nil); !slices.Equal(got, want) {
		t.Error("the model from the file scores otherwise")
	}
}
