package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/model"
)

// hostile is a kind of data that is numerically hard: set changes a query's features, n
// documents in rows of the given width.
type hostile struct {
	name   string
	set    func(rng *rand.Rand, x []float32, n, features int)
	grade  func(rng *rand.Rand) float64 // nil: 0, 1 or 2
	counts []int                        // documents of the queries; nil: 2 to 8 in 5 queries
	hard   bool                         // cutting planes need seconds and do not end at the minimum
}

func scaled(by float32) func(*rand.Rand, []float32, int, int) {
	return func(_ *rand.Rand, x []float32, _, _ int) {
		for i := range x {
			x[i] *= by
		}
	}
}

// someColumns changes the values of some columns, chosen by lot.
func someColumns(change func(rng *rand.Rand, x []float32, j, features int)) func(*rand.Rand, []float32, int, int) {
	return func(rng *rand.Rand, x []float32, _, features int) {
		for j := range features {
			if j == 0 || rng.IntN(2) == 0 {
				change(rng, x, j, features)
			}
		}
	}
}

func setColumn(x []float32, j, features int, v float32) {
	for i := j; i < len(x); i += features {
		x[i] = v
	}
}

func hostileKinds() []hostile {
	none := func(*rand.Rand, []float32, int, int) {}
	equal := func(*rand.Rand) float64 { return 1 }
	kinds := []hostile{
		{name: "ordinary", set: none},
		{name: "all features constant", set: func(_ *rand.Rand, x []float32, _, _ int) {
			for i := range x {
				x[i] = 0.3
			}
		}},
		{name: "some features constant", set: someColumns(func(_ *rand.Rand, x []float32, j, features int) { setColumn(x, j, features, 0.7) })},
		{name: "features constant in a query", set: someColumns(func(rng *rand.Rand, x []float32, j, features int) {
			setColumn(x, j, features, float32(1e6*rng.NormFloat64()))
		})},
		{name: "all features constant in a query", set: func(rng *rand.Rand, x []float32, _, features int) {
			for j := range features {
				setColumn(x, j, features, float32(1e3*rng.NormFloat64()))
			}
		}},
		{name: "equal columns", set: func(_ *rand.Rand, x []float32, _, features int) {
			for i := range x {
				x[i] = x[i/features*features]
			}
		}},
		{name: "all features 0", set: scaled(0)},
		{name: "features of many scales", hard: true, set: func(_ *rand.Rand, x []float32, _, features int) {
			for i := range x {
				x[i] *= float32(math.Pow(10, 3*float64(i%features)))
			}
		}},
		{name: "a query", set: none, counts: []int{7}},
		{name: "a document", set: none, counts: []int{1}},
		{name: "queries of a document", set: none, counts: []int{1, 1, 1}},
		{name: "equal grades", set: none, grade: equal},
		{name: "grades 0", set: none, grade: func(*rand.Rand) float64 { return 0 }},
		{name: "grades in [0,1]", set: none, grade: func(rng *rand.Rand) float64 { return math.Round(rng.Float64()*100) / 100 }},
		{name: "grades 0 and 1e-3", set: none, grade: func(rng *rand.Rand) float64 { return 1e-3 * float64(rng.IntN(2)) }},
		{name: "grades up to 30", set: none, grade: func(rng *rand.Rand) float64 { return float64(rng.IntN(31)) }},
		{name: "grades of 1e6", set: none, grade: func(rng *rand.Rand) float64 { return 1e6 * float64(rng.IntN(2)) }},
	}
	for _, scale := range []float32{1e-44, 1e-38, 1e-30, 1e-20, 1e-10, 1e10, 1e19, 1e20, 1e30, 1e38} {
		kinds = append(kinds, hostile{name: fmt.Sprintf("features of %g", scale), set: scaled(scale), hard: scale > 1})
	}
	return kinds
}

// data draws a set of the kind.
func (h hostile) data(t testing.TB, seed uint64) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	counts := h.counts
	if counts == nil {
		counts = make([]int, 5)
		for i := range counts {
			counts[i] = 2 + rng.IntN(7)
		}
	}
	grade := h.grade
	if grade == nil {
		grade = func(rng *rand.Rand) float64 { return float64(rng.IntN(3)) }
	}
	const features = 4
	var b dataset.Builder
	for q, n := range counts {
		grades, x := make([]float64, n), make([]float32, n*features)
		for i := range grades {
			grades[i] = grade(rng)
		}
		for i := range x {
			x[i] = float32(min(3, max(-3, rng.NormFloat64())))
		}
		h.set(rng, x, n, features)
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// short are settings that make a training short.
func short(m *Method) []string {
	var set []string
	for name, value := range map[string]string{"trees": "5", "leaf_documents": "1", "epochs": "3", "iterations": "30", "restarts": "1", "rounds": "5", "sweeps": "2", "samples": "10", "hidden": "3", "pair_hidden": "2"} {
		if _, err := m.hyperparameter(name); err == nil {
			set = append(set, name, value)
		}
	}
	return set
}

// No data that can be read make a method return weights that are not finite, or
// panic: there is a model of finite numbers, or an error that says what is wrong
// with the problem.
func TestHostileData(t *testing.T) {
	for _, h := range hostileKinds() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				if seed == 0 && !long.Enabled() {
					continue // one set of each kind, with validation data
				}
				d := h.data(t, seed)
				for _, m := range List() {
					for _, kind := range m.Scorers() {
						of, err := m.For(kind)
						if err != nil {
							t.Fatal(err)
						}
						p := newProblem(t, of, short(of)...)
						p.Data, p.Scorer = d, kind
						if seed == 1 {
							p.Valid = h.data(t, 100)
						}
						trained, err := m.Train(context.Background(), p)
						checkTrained(t, fmt.Sprintf("%s, scorer %s, seed %d", m.Name, kind, seed), trained, err)
					}
				}
			}
		})
	}
}

func checkTrained(t *testing.T, what string, trained *model.Model, err error) {
	t.Helper()
	var problem *ProblemError
	switch {
	case errors.As(err, &problem):
	case err != nil:
		t.Errorf("%s: the error %v is no *ProblemError", what, err)
	case slices.ContainsFunc(trained.Params, isBad) || isBad(trained.Training.Objective):
		t.Errorf("%s: the objective %v at %v", what, trained.Training.Objective, trained.Params)
	}
}

// Both formulations of the structural SVM give finite weights and true certificates
// on hundreds of sets whose planes depend on each other or vanish: the bound of
// either is below what the other reaches, and below the objective at random weights.
func TestStructuralSVMOnHostileData(t *testing.T) {
	for _, h := range hostileKinds() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			sets, iterations := uint64(20), "100"
			switch {
			case h.hard:
				sets, iterations = 2, "2"
			case !long.Enabled():
				sets = 4
			}
			for seed := range sets {
				reached, bound := structuralSVMs(t, h.data(t, seed), iterations, seed)
				if len(reached) == 2 && slices.Max(bound) > slices.Min(reached)*(1+1e-9)+1e-9 {
					t.Errorf("seed %d: objectives %v, certified to be at least %v", seed, reached, bound)
				}
			}
		})
	}
}

// structuralSVMs returns the objectives that both formulations reach, and what these are certified to be at least.
func structuralSVMs(t *testing.T, d *dataset.Dataset, iterations string, seed uint64) (reached, bound []float64) {
	t.Helper()
	m := lookup(t, "svmmap")
	for _, slack := range []string{"one", "n"} {
		for _, training := range []string{"map", "ndcg@3"} {
			p := newProblem(t, m, "slack", slack, "iterations", iterations)
			p.Data = d
			if training != "map" {
				p.Measure = measure.MustParse(training, measure.LETOR3)
			}
			trained, err := m.Train(context.Background(), p)
			checkTrained(t, fmt.Sprintf("seed %d, slack=%s", seed, slack), trained, err)
			if err == nil && training == "map" {
				reached = append(reached, trained.Training.Objective)
				bound = append(bound, trained.Training.Objective-*trained.Training.Gap)
			}
		}
	}
	return reached, bound
}

func isBad(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
