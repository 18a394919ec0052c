package train

import (
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/tree"
)

// Boosted models keep the order of constrained features exactly: of 100,000 pairs of documents
// that differ in one such feature alone none has its scores in the wrong order, whatever the
// growth and sampling; without the constraints many have.
func TestMonotoneModels(t *testing.T) {
	d := curved(t, 60, 7)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	signs := []int8{0, -1, 0, 1, 0, 1}
	wrong := func(learner Trees, l loss.Loss, pairs int) (wrong, equal int) {
		learner.Rounds, learner.Leaves, learner.L2 = 40, 16, 0.1
		_, s := trained(t, &Problem{Data: d, Loss: l, Measure: ndcg, Learner: learner, Seed: 5})
		m, err := Run(t.Context(), &Problem{Data: d, Loss: l, Measure: ndcg, Learner: learner, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 8))
		x, scores := make([]float32, 2*d.Features), make([]float64, 2)
		for range pairs {
			q := d.Queries[rng.IntN(len(d.Queries))]
			copy(x, q.Row(rng.IntN(q.Len())))
			copy(x[d.Features:], x[:d.Features])
			f := []int{1, 3, 3, 5}[rng.IntN(4)]
			// Values of other documents, so that all thresholds are met.
			other := d.Queries[rng.IntN(len(d.Queries))]
			x[d.Features+f] = other.Row(rng.IntN(other.Len()))[f]
			s.Score(scores, m.Params, x, nil)
			if rise := scores[1] - scores[0]; rise == 0 {
				equal++
			} else if (rise > 0) != ((x[d.Features+f]-x[f])*float32(signs[f]) > 0) {
				wrong++
			}
		}
		return wrong, equal
	}
	lambda := loss.LambdaRank{Measure: ndcg}
	constrained := tree.Options{Monotone: signs}
	if n, equal := wrong(Trees{Options: constrained}, lambda, 100_000); n > 0 || equal > 85_000 {
		t.Errorf("of 100,000 pairs %d are in the wrong order, and %d scores are equal", n, equal)
	}
	if n, _ := wrong(Trees{}, lambda, 10_000); n < 150 {
		t.Errorf("without constraints of 10,000 pairs %d are in the wrong order", n)
	}
	byLevels, byDepth, drawn := constrained, constrained, constrained
	byLevels.Growth, byDepth.Growth, drawn.RandomThresholds = tree.Symmetric, tree.DepthWise, true
	for _, l := range []Trees{{Options: byLevels}, {Options: constrained, Exact: true}, {Options: constrained, Sum: DARTTrees, Dropout: Dropout{Rate: 0.5}}, {Options: constrained, Sum: ForestTrees}, {Options: byDepth, DocumentFraction: 0.5}, {Options: drawn, GOSSTop: 0.2, GOSSRest: 0.2}} {
		if n, equal := wrong(l, loss.SquaredError{}, 10_000); n > 0 || equal > 8500 {
			t.Errorf("%+v: of 10,000 pairs %d are in the wrong order, and %d scores are equal", l, n, equal)
		}
	}
	// A loss whose step is searched along the gradient.
	if n, equal := wrong(Trees{Options: constrained}, loss.ApproxNDCG{}, 10_000); n > 0 || equal > 8500 {
		t.Errorf("by line searches of 10,000 pairs %d are in the wrong order, and %d scores are equal", n, equal)
	}
}
