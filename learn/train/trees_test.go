package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// curved returns queries whose grades depend on how near a feature is to 0, which no linear
// function sees, beside others that say nothing.
func curved(t testing.TB, queries int, seed uint64) *dataset.Dataset {
	t.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant, o.Seed = queries, 25, 6, 8, seed
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		for k := range q.Len() {
			row := q.Row(k)
			row[3] = row[3]*2 - 1
			q.Grades[k] = math.Floor(2.99 * (1 - math.Abs(float64(row[3]))))
			q.Grades[k] = min(2, max(0, q.Grades[k]))
		}
	}
	return d
}

func trained(t *testing.T, p *Problem) (scores []float64, trees *scorer.Trees) {
	t.Helper()
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if scores, err = m.Score(p.Data); err != nil {
		t.Fatal(err)
	}
	return scores, m.Scorer.(*scorer.Trees)
}

// Least squares go down with every tree, and the scores of the model are those that were
// boosted: the objective is that of the scores.
func TestTreesDescend(t *testing.T) {
	d := curved(t, 20, 1)
	for _, l := range []loss.Loss{loss.SquaredError{}, loss.RankNet{}, loss.ListNet{}, loss.XENDCG{}} {
		var objectives []float64
		learner := Trees{Rounds: 30, Rate: 0.05, Options: tree.Options{Leaves: 6, L2: 1e-3}}
		p := &Problem{Data: d, Loss: l, Learner: learner, Seed: 2, Observe: func(it Iteration) { objectives = append(objectives, it.Objective) }}
		scores, trees := trained(t, p)
		if len(objectives) != 30 || len(trees.Trees()) != 30 {
			t.Fatalf("%T: %d rounds, %d trees", l, len(objectives), len(trees.Trees()))
		}
		for i, v := range objectives[1:] {
			if v >= objectives[i] {
				t.Errorf("%T: the objective goes from %v to %v in round %d", l, objectives[i], v, i+2)
			}
		}
		if _, ok := l.(loss.SquaredError); !ok {
			continue
		}
		var sum float64
		for i, g := range d.Grades() {
			sum += (scores[i] - g) * (scores[i] - g) / 2
		}
		if last := objectives[29]; math.Abs(sum-last) > 1e-9*last {
			t.Errorf("the objective is %v, that of the model's scores %v", last, sum)
		}
	}
}

// LambdaMART learns what no linear function can. (The perfect ranking has .92: some queries have
// no relevant documents.)
func TestLambdaMARTLearnsACurve(t *testing.T) {
	d, test := curved(t, 60, 1), curved(t, 60, 2)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	of := func(learner Learner, l loss.Loss) float64 {
		m, err := Run(context.Background(), &Problem{Data: d, Loss: l, Learner: learner, Measure: ndcg, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Score(test)
		if err != nil {
			t.Fatal(err)
		}
		result, err := measure.Evaluate(test, scores, []measure.Measure{ndcg}, measure.TiesAverage)
		if err != nil {
			t.Fatal(err)
		}
		return result.Mean(ndcg)
	}
	trees := of(Trees{Rounds: 50, Options: tree.Options{Leaves: 8, LeafDocuments: 10, LeafCurvature: 1e-3}}, loss.LambdaRank{Measure: ndcg})
	linear := of(LBFGS{C: 1}, loss.RankNet{})
	if trees < 0.9 || trees < linear+0.2 {
		t.Errorf("NDCG@10 is %.4f with trees, %.4f with a linear function", trees, linear)
	}
}

// Same problem, same bits, for any number of workers, where queries and features are drawn,
// too; another seed draws others.
func TestTreesAreDeterministic(t *testing.T) {
	d := curved(t, 40, 3)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	half := Trees{QueryFraction: 0.5, FeatureFraction: 0.5, Options: tree.Options{Leaves: 8, LeafCurvature: 1e-3}}
	run := func(learner Trees, workers int, seed uint64) []float64 {
		learner.Rounds = 10
		scores, _ := trained(t, &Problem{Data: d, Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Learner: learner, Seed: seed, Workers: workers})
		return scores
	}
	documents, goss, random := half, half, half
	documents.DocumentFraction = 0.7
	goss.GOSSTop, goss.GOSSRest = 0.2, 0.3
	random.QueryFraction, random.FeatureFraction, random.RandomThresholds = 0, 0, true
	exact := half
	exact.Exact, exact.RandomThresholds = true, true
	for _, l := range []Trees{half, documents, goss, random, exact} {
		first := run(l, 1, 1)
		for _, workers := range []int{2, 8} {
			if !slices.Equal(first, run(l, workers, 1)) {
				t.Errorf("%+v: %d workers learn another model", l, workers)
			}
		}
		if slices.Equal(first, run(l, 1, 2)) {
			t.Errorf("%+v: another seed learns the same model", l)
		}
	}
}

// Training ends once the validation data have seen no better round for long, and keeps the
// best; a model of that many rounds without validation data is the same.
func TestTreesStopEarly(t *testing.T) {
	d, valid := curved(t, 20, 4), curved(t, 20, 5)
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	learner := Trees{Rounds: 400, Rate: 0.3, Patience: 15, Options: tree.Options{Leaves: 15, LeafCurvature: 1e-3}}
	best, round, values := math.Inf(-1), 0, 0
	p := &Problem{Data: d, Valid: valid, Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Learner: learner, Seed: 1, Observe: func(it Iteration) {
		values++
		if it.Validation > best {
			best, round = it.Validation, it.Number
		}
	}}
	kept, trees := trained(t, p)
	if values != round+15 || len(trees.Trees()) != round {
		t.Fatalf("%d rounds were made and %d kept, the best was %d", values, len(trees.Trees()), round)
	}
	learner.Rounds, learner.Patience = round, 0
	again, _ := trained(t, &Problem{Data: d, Loss: p.Loss, Measure: ndcg, Learner: learner, Seed: 1})
	if !slices.Equal(kept, again) {
		t.Error("as many rounds without validation data are another model")
	}
}

// Fractions out of range and missing losses are refused.
func TestTreesRefuse(t *testing.T) {
	d := curved(t, 5, 6)
	leaves := tree.Options{Leaves: 4}
	for name, p := range map[string]Problem{
		"no loss":           {Learner: Trees{Options: leaves}},
		"leaves":            {Loss: loss.RankNet{}, Learner: Trees{Options: tree.Options{Leaves: 1}}},
		"bins":              {Loss: loss.RankNet{}, Learner: Trees{Bins: 256, Options: leaves}},
		"rate":              {Loss: loss.RankNet{}, Learner: Trees{Rate: 2, Options: leaves}},
		"query fraction":    {Loss: loss.RankNet{}, Learner: Trees{QueryFraction: -1, Options: leaves}},
		"feature fraction":  {Loss: loss.RankNet{}, Learner: Trees{FeatureFraction: math.NaN(), Options: leaves}},
		"document fraction": {Loss: loss.RankNet{}, Learner: Trees{DocumentFraction: 1.1, Options: leaves}},
		"top documents":     {Loss: loss.RankNet{}, Learner: Trees{GOSSTop: 0.6, GOSSRest: 0.5, Options: leaves}},
		"two samplings":     {Loss: loss.RankNet{}, Learner: Trees{GOSSTop: 0.2, GOSSRest: 0.1, DocumentFraction: 0.5, Options: leaves}},
	} {
		p.Data = d
		if _, err := Run(context.Background(), &p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Claim: where no tree can be grown, the objective told is that of the scores 0.
func TestObjectiveWithoutTrees(t *testing.T) {
	d := curved(t, 10, 1)
	m := run(t, &Problem{Data: d, Loss: loss.SquaredError{}, Learner: Trees{Rounds: 3, Options: tree.Options{Leaves: 4, LeafDocuments: d.Docs()}}})
	f, err := objective.NewFunctional(d, loss.SquaredError{}, 0, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := f.Eval(make([]float64, d.Docs()), nil)
	if len(m.Params) != 0 || m.Training.Iterations != 0 || m.Training.Objective != want || want == 0 {
		t.Errorf("%d leaves, %d rounds, the objective %v, want %v", len(m.Params), m.Training.Iterations, m.Training.Objective, want)
	}
}

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

// Claim: boosted models keep the order of constrained features exactly, for every growth and sampling. Of
// 100,000 pairs of documents that differ in one such feature, none has its scores in the wrong order.
// Without the constraints many have.
func TestMonotoneModels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector; other tests run the same goroutines")
	}
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
