package train

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
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
