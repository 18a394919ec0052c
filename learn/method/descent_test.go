package method

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model"
)

// quick are settings under which every method trains in milliseconds.
func quick(t testing.TB, m *Method, scorer string, settings ...string) *Problem {
	if of, err := m.For(scorer); err == nil {
		m = of
	}
	for name, value := range map[string]string{"trees": "20", "leaf_documents": "2", "C": "100", "samples": "20", "iterations": "40", "restarts": "1", "epochs": "20", "hidden": "4", "pair_hidden": "2"} {
		if m.IsNumber(name) && !slices.Contains(settings, name) {
			settings = append(settings, name, value)
		}
	}
	p := newProblem(t, m, settings...)
	p.Scorer = scorer
	return p
}

func mapOf(t testing.TB, trained *model.Model, d *dataset.Dataset) float64 {
	t.Helper()
	scores, err := trained.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	return mean(d, scores, measure.MustParse("map", measure.LETOR3))
}

// Every registered method learns with every scorer it has: on the training data it ranks
// better than the best of many random orders. Its model is the same for any number of
// workers and comes back from its file as it was.
func TestEveryMethodTrainsEveryScorer(t *testing.T) {
	best, d, rng := 0.0, smallData(t), random.Stream(1, "test", "")
	scores := make([]float64, d.Docs())
	for range 50 {
		for i := range scores {
			scores[i] = rng.Float64()
		}
		best = max(best, mean(d, scores, measure.MustParse("map", measure.LETOR3)))
	}
	for _, m := range List() {
		for _, kind := range m.Scorers() {
			one, three := quick(t, m, kind), quick(t, m, kind)
			one.Workers, three.Workers = 1, 3
			trained := mustTrain(t, m, one)
			if learned := mapOf(t, trained, d); learned <= best && m.Name != "random" {
				t.Errorf("%s, %s: MAP is %.4f, the best of 50 random orders has %.4f", m.Name, kind, learned, best)
			}
			want := kind
			if m.Name == "mcrank" && kind == treeScorer {
				want = "treeclasses" // a sum of trees for each grade but the lowest
			}
			if trained.Scorer.Kind() != want {
				t.Errorf("%s: the model has the scorer %s, want %s", m.Name, trained.Scorer.Kind(), want)
			}
			if bytesOf(t, trained) != bytesOf(t, mustTrain(t, m, three)) {
				t.Errorf("%s, %s: the model of three workers differs from that of one", m.Name, kind)
			}
			path := filepath.Join(t.TempDir(), "m.json")
			if err := trained.Save(path); err != nil {
				t.Fatal(err)
			}
			back, err := model.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := mapOf(t, trained, d), mapOf(t, back, d); a != b || !slices.Equal(back.Params, trained.Params) {
				t.Errorf("%s, %s: MAP is %v, %v after a round trip through the file", m.Name, kind, a, b)
			}
		}
	}
}

// Every method that has the choice learns by descent under every rule, in batches
// too, with the same bytes for any number of workers.
func TestDescentRules(t *testing.T) {
	for _, m := range List() {
		if _, err := m.hyperparameter("optimizer"); err != nil {
			continue
		}
		for _, settings := range [][]string{{"rule", "plain"}, {"rule", "momentum", "batch", "4"}, {"rule", "adam", "batch", "100"}} {
			settings = append([]string{"optimizer", "descent"}, settings...)
			p, q := quick(t, m, linearScorer, settings...), quick(t, m, linearScorer, settings...)
			p.Workers, q.Workers = 1, 4
			trained := mustTrain(t, m, p)
			if bytesOf(t, trained) != bytesOf(t, mustTrain(t, m, q)) {
				t.Errorf("%s, %s: the number of workers changes the model", m.Name, settings)
			}
			if trained.Training.BestEpoch < 1 || trained.Training.Iterations != 20 || trained.Constant() {
				t.Errorf("%s, %s: training is %+v", m.Name, settings, trained.Training)
			}
		}
	}
}

// A convex loss has the same minimum under both optimisers.
func TestDescentApproachesMinimum(t *testing.T) {
	m := lookup(t, "listnet")
	exact := mustTrain(t, m, newProblem(t, m, "C", "10", "optimizer", "lbfgs"))
	if exact.Training.Gap == nil {
		t.Fatal("the minimum is not certified")
	}
	near := mustTrain(t, m, newProblem(t, m, "C", "10", "optimizer", "descent", "epochs", "300", "batch", "15", "rate", "0.05"))
	lowest, f := exact.Training.Objective, near.Training.Objective
	if f < lowest-*exact.Training.Gap-1e-9 || f > lowest+1e-3*math.Abs(lowest) {
		t.Errorf("descent ends at %v, the minimum is %v", f, lowest)
	}
}

// With validation data, the epoch with the best value on these is kept, and each is passed
// to the observer; without, that with the lowest training cost.
func TestBestEpochIsKept(t *testing.T) {
	m := lookup(t, "lambdarank")
	for _, validated := range []bool{true, false} {
		p := quick(t, m, networkScorer, "rate", "0.1", "epochs", "40")
		half := make([]int, 7)
		for i := range half {
			half[i] = 8 + i
		}
		if validated {
			p.Valid, p.Select = p.Data.Subset(half), measure.MustParse("map", measure.LETOR3)
		}
		p.Data = p.Data.Subset([]int{0, 1, 2, 3, 4, 5, 6, 7})
		var all []Iteration
		var params [][]float64
		p.Observe = func(it Iteration) {
			all, params = append(all, it), append(params, slices.Clone(it.Params))
		}
		trained := mustTrain(t, m, p)
		best, kept := 0, trained.Training.BestEpoch
		for i, it := range all {
			if it.Number != i+1 || !it.Epoch || it.Rate <= 0 || it.Validated != validated {
				t.Fatalf("epoch %d is %+v", i+1, it)
			}
			better := i == 0 || it.Objective < all[best].Objective
			if validated {
				better = i == 0 || it.Validation > all[best].Validation
			}
			if better {
				best = i
			}
			if it.Best != better {
				t.Errorf("epoch %d: best is %v, want %v", it.Number, it.Best, better)
			}
		}
		if len(all) != 40 || kept != best+1 || !slices.Equal(trained.Params, params[best]) {
			t.Errorf("epoch %d of %d is kept, want %d", kept, len(all), best+1)
		}
		if !validated {
			if trained.Training.Validation != nil {
				t.Error("a validation value without validation data")
			}
			continue
		}
		if v := mapOf(t, trained, p.Valid); *trained.Training.Validation != v || all[best].Validation != v {
			t.Errorf("the validation value is %v, the kept model has %v", *trained.Training.Validation, v)
		}
	}
}

// A descent that was interrupted goes on from its checkpoint to the same bytes,
// and deletes it; a change of the validation data makes it another training.
func TestDescentResumes(t *testing.T) {
	m := lookup(t, "lambdaloss")
	problem := func() *Problem {
		p := quick(t, m, networkScorer, "epochs", "30", "patience", "3")
		p.Valid = p.Data.Subset([]int{0, 1, 2})
		return p
	}
	want := bytesOf(t, mustTrain(t, m, problem()))
	p := problem()
	path := interrupted(t, m, p, -1, 17)
	other := problem()
	other.Checkpoint, other.Valid = path, p.Data.Subset([]int{3})
	var bad *ProblemError
	if _, err := m.Train(context.Background(), other); !errors.As(err, &bad) || !strings.Contains(err.Error(), "another training (valid=") {
		t.Errorf("other validation data: error is %v", err)
	}
	if got, first := resumed(t, m, p, path); got != want || !strings.HasSuffix(first, " 18") {
		t.Errorf("resumed at epoch %s: the model is another one: %v", first, got != want)
	}
}

// Divergence is reported with the query at fault.
func TestDivergenceNamesQuery(t *testing.T) {
	m := lookup(t, "rankcosine")
	p := newProblem(t, m, "optimizer", "descent", "rule", "plain", "rate", "1e6", "C", "1", "epochs", "100")
	_, err := m.Train(context.Background(), p)
	var at *optimize.NotFinite
	if !errors.As(err, &at) || at.Term < 0 {
		t.Fatalf("error is %v, want one of a term", err)
	}
	if want := `rankcosine: query "` + p.Data.Queries[at.Term].ID + `": `; !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "; a lower rate may help") {
		t.Errorf("error is %v, want %s…", err, want)
	}
}

func TestGradientMethodErrors(t *testing.T) {
	wide := quick(t, lookup(t, "ranknet"), "")
	wide.Valid = wide.Data
	wide.Data = smallData(t)
	var b dataset.Builder
	if err := b.Add("1", []float64{1, 0}, []float32{1, 2}, nil); err != nil {
		t.Fatal(err)
	}
	wide.Data = b.Dataset()
	for _, c := range []struct {
		name string
		p    *Problem
		want string
	}{
		{"lambdarank", quick(t, lookup(t, "lambdarank"), "", "optimizer", "lbfgs"), "lambdarank: optimizer=lbfgs: the λ of lambdarank are not the gradient of its value"},
		{"lambdaloss", quick(t, lookup(t, "lambdaloss"), networkScorer, "optimizer", "lbfgs"), "lambdaloss: optimizer=lbfgs: the λ of lambdaloss"},
		{"ranknet", quick(t, lookup(t, "ranknet"), "pairnet"), `ranknet: found the scorer "pairnet", expected linear, fm, net, trees`},
		{"boltzrank2", quick(t, lookup(t, "boltzrank2"), "tree"), `boltzrank2: found the scorer "tree", expected pairnet, linear, fm, net`},
		{"listnet", quick(t, lookup(t, "listnet"), "", "top", "4"), `listnet: query "1": `},
		{"lambdarank", quick(t, lookup(t, "lambdarank"), "", "lambda", "step", "sigma", "2"), `lambdarank: query "1": sigma 2: the lambda function step has no slope`},
		{"ranknet", wide, "ranknet: found 8 features in the validation data, expected at most the training data's 1"},
	} {
		checkRefused(t, lookup(t, c.name), c.p, c.want)
	}
}

// Which training measures a method takes.
func TestAcceptedMeasures(t *testing.T) {
	got := make(map[string]string)
	for _, m := range List() {
		if !m.UsesMeasure {
			continue
		}
		var list []string
		for _, name := range []string{"ndcg", "ndcg@10", "map", "err"} {
			if m.CheckMeasure(measure.MustParse(name, measure.LETOR3)) == nil {
				list = append(list, name)
			}
		}
		got[m.Name] = strings.Join(list, " ")
	}
	want := map[string]string{
		"expgain": "ndcg ndcg@10 map", "l2": "ndcg ndcg@10 map", "l3": "ndcg ndcg@10 map", "convexloss": "ndcg ndcg@10 map", "exploss": "ndcg ndcg@10 map",
		"lambdarank": "ndcg ndcg@10 map err", "lambdamart": "ndcg ndcg@10 map err", "lambdaloss": "ndcg", "approxndcg": "ndcg", "softrank": "ndcg ndcg@10",
		"boltzrank1": "ndcg ndcg@10 map err", "boltzrank2": "ndcg ndcg@10 map err", "adarank": "ndcg ndcg@10 map err",
		"yetiloss": "ndcg ndcg@10 map err", "stochasticrank": "ndcg ndcg@10 map err",
		"coordascent": "ndcg ndcg@10 map err", "singlefeature": "ndcg ndcg@10 map err", "svmmap": "ndcg ndcg@10 map",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("measures (-want +got):\n%s", diff)
	}
}

// The cutoff of SoftRank is that of the training measure.
func TestSoftRankCutoff(t *testing.T) {
	m := lookup(t, "softrank")
	var objectives []float64
	for _, name := range []string{"ndcg@1", "ndcg@10", "ndcg"} {
		p := quick(t, m, "")
		p.Measure = measure.MustParse(name, measure.LETOR3)
		objectives = append(objectives, mustTrain(t, m, p).Training.Objective)
	}
	if objectives[0] == objectives[1] || objectives[1] == objectives[2] {
		t.Errorf("objectives are %v, want different ones", objectives)
	}
}
