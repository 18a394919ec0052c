package method

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// smallData are judged queries of OHSUMED's shape, small enough to train on in
// milliseconds.
func smallData(t testing.TB) *dataset.Dataset {
	t.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant = 15, 20, 8, 6
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func lookup(t testing.TB, name string) *Method {
	t.Helper()
	m, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newProblem is a problem on smallData; settings are pairs of name and value.
func newProblem(t testing.TB, m *Method, settings ...string) *Problem {
	t.Helper()
	set := make(map[string]string)
	for i := 0; i < len(settings); i += 2 {
		set[settings[i]] = settings[i+1]
	}
	values, err := m.Values(set)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{Problem: train.Problem{Data: smallData(t), Seed: 1}, Values: values}
	if m.UsesMeasure {
		p.Measure = measure.MustParse(m.DefaultMeasure, measure.LETOR3)
	}
	return p
}

// checkRefused checks that a training is refused with a *ProblemError that begins so.
func checkRefused(t *testing.T, m *Method, p *Problem, want string) {
	t.Helper()
	_, err := m.Train(context.Background(), p)
	var problem *ProblemError
	if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &problem) {
		t.Errorf("error is %v, want a *ProblemError: %s", err, want)
	}
}

// checkObserved checks that observers see every objective fall, down to the model's, and
// that cancelling in one ends the training with the context's error.
func checkObserved(t *testing.T, m *Method, p *Problem, what string) {
	t.Helper()
	last, seen := math.Inf(1), 0
	p.Observe = func(it Iteration) {
		if it.Objective > last {
			t.Errorf("%s: objective rose from %v to %v", what, last, it.Objective)
		}
		last = it.Objective
		seen++
	}
	if trained := mustTrain(t, m, p); trained.Training.Objective != last || seen < 2 {
		t.Errorf("%s: ends at %v after %d observations, the last of %v", what, trained.Training.Objective, seen, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.Observe = func(Iteration) { cancel() }
	if _, err := m.Train(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("%s: error %v, want context.Canceled", what, err)
	}
}

// parseStandard is parse under the standard convention.
func parseStandard(t testing.TB, name string) measure.Measure {
	t.Helper()
	standard, err := measure.ParseConvention("standard")
	if err != nil {
		t.Fatal(err)
	}
	m, err := measure.Parse(name, standard, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustTrain(t testing.TB, m *Method, p *Problem) *model.Model {
	t.Helper()
	trained, err := m.Train(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return trained
}

// bytesOf returns the model's file.
func bytesOf(t testing.TB, m *model.Model) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mean returns a measure of scores on the data, ties broken by chance.
func mean(d *dataset.Dataset, scores []float64, m measure.Measure) float64 {
	r := measure.Ranker{Ties: measure.TiesAverage}
	v, _ := r.Mean(d, scores, m)
	return v
}

// forms are the settings that each of LogRank's methods is trained with; ConvexLoss
// has no factored form under NDCG, and what is made of it neither.
func forms(m *Method) []string {
	if _, err := m.hyperparameter("form"); err != nil {
		return nil
	}
	if slices.Contains([]string{"convexloss", "exploss", "combined"}, m.Name) {
		return []string{"sampled", "lattice", "shell"}
	}
	return []string{"factored", "sampled", "lattice", "shell"}
}

// Every method of LogRank, in every form it has, learns: on the training data it
// ranks better than the best of many random orders.
func TestEveryMethodLearns(t *testing.T) {
	for _, m := range List() {
		for _, form := range forms(m) {
			p := newProblem(t, m, "form", form, "C", "1", "samples", "50")
			trained := mustTrain(t, m, p)
			scores, err := trained.Score(p.Data)
			if err != nil {
				t.Fatal(err)
			}
			ap := measure.MustParse("map", measure.LETOR3)
			learned, best := mean(p.Data, scores, ap), 0.0
			rng := random.Stream(1, "test", "")
			for range 50 {
				for i := range scores {
					scores[i] = rng.Float64()
				}
				best = max(best, mean(p.Data, scores, ap))
			}
			if form == "lattice" && trained.Constant() {
				continue // its minimum, where the classes overlap much
			}
			if learned <= best {
				t.Errorf("%s, form %s: MAP is %.4f, the best of 50 random orders has %.4f", m.Name, form, learned, best)
			}
		}
	}
}

// The same problem gives the same model file for any number of workers, and another seed
// another one where anything is drawn.
func TestSameBytesForAnyNumberOfWorkers(t *testing.T) {
	for _, m := range List() {
		for _, form := range forms(m) {
			var want string
			for _, workers := range []int{1, 2, 3, 8} {
				p := newProblem(t, m, "form", form, "samples", "20", "iterations", "30")
				p.Workers = workers
				got := bytesOf(t, mustTrain(t, m, p))
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s, form %s: the model of %d workers differs from that of one", m.Name, form, workers)
				}
			}
			if form == "sampled" {
				p := newProblem(t, m, "form", form, "samples", "20", "iterations", "30")
				p.Seed = 2
				other := mustTrain(t, m, p)
				other.Seed = 1
				if bytesOf(t, other) == want {
					t.Errorf("%s: another seed gives the same model", m.Name)
				}
			}
		}
	}
}

// A model says how it came about.
func TestModelDescribesItself(t *testing.T) {
	m := lookup(t, "convexloss")
	p := newProblem(t, m, "C", "0.50", "samples", "10")
	p.Normalization, p.Seed = dataset.ZScore, 42
	p.Measure = parseStandard(t, "ndcg@5")
	before := p.Data.Fingerprint()
	got := mustTrain(t, m, p)
	if got.Method != "convexloss" || got.Measure != "ndcg@5" || got.Convention != "standard" || got.Seed != 42 || got.Normalization != dataset.ZScore {
		t.Errorf("model is %+v", got)
	}
	if got.Hyperparameters["C"] != 0.5 || got.Hyperparameters["samples"] != 10.0 || got.Hyperparameters["form"] != "sampled" || got.Hyperparameters["unique"] != true {
		t.Errorf("hyperparameters are %v", got.Hyperparameters)
	}
	tr := got.Training
	if tr.Fingerprint != before || p.Data.Fingerprint() != before {
		t.Error("the fingerprint is not that of the data as they were and are")
	}
	if tr.Queries != 15 || tr.Documents != p.Data.Docs() || tr.Used < 1 || tr.Used > 15 || tr.Gap == nil || *tr.Gap > 1e-6*max(1, math.Abs(tr.Objective)) {
		t.Errorf("training is %+v", tr)
	}
	if tr := mustTrain(t, lookup(t, "l2"), newProblem(t, lookup(t, "l2"))).Training; tr.Gap != nil {
		t.Errorf("a gap of %v is claimed for an objective that is not convex", *tr.Gap)
	}
}

// A method that is not convex keeps the best of its starts: more starts are never
// worse, and each is observed.
func TestRestarts(t *testing.T) {
	m := lookup(t, "expgain")
	last := 0.0
	for i, restarts := range []string{"0", "3", "6"} {
		p := newProblem(t, m, "restarts", restarts, "C", "10")
		starts := 0
		p.Observe = func(it Iteration) { starts = max(starts, it.Start+1) }
		f := mustTrain(t, m, p).Training.Objective
		if strconv.Itoa(starts-1) != restarts {
			t.Errorf("%d starts with restarts=%s", starts, restarts)
		}
		if i > 0 && f > last {
			t.Errorf("restarts=%s end at %v, fewer at %v", restarts, f, last)
		}
		last = f
	}
}

// In the lattice form the minimum may be at w = 0: then the model ranks nothing,
// and says so.
func TestLatticeMayLearnNothing(t *testing.T) {
	var b dataset.Builder
	// Classes of equal distribution: what is good in one query is bad in the other.
	for q, grades := range [][]float64{{1, 0, 1, 0}, {0, 1, 0, 1}} {
		if err := b.Add(strconv.Itoa(q), grades, []float32{1, 2, 3, 4}, nil); err != nil {
			t.Fatal(err)
		}
	}
	m := lookup(t, "mle")
	p := newProblem(t, m, "form", "lattice", "C", "10")
	p.Data = b.Dataset()
	if trained := mustTrain(t, m, p); !trained.Constant() {
		t.Errorf("weights are %v, want all 0", trained.Params)
	}
	p.Values, _ = m.Values(nil)
	p.Data = smallData(t)
	if mustTrain(t, m, p).Constant() {
		t.Error("the factored form learns nothing from data that teach something")
	}
}

// Cancelling ends the training with the context's error.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := newProblem(t, lookup(t, "mle"), "C", "100")
	p.Observe = func(it Iteration) {
		if it.Number == 2 {
			cancel()
		}
	}
	_, err := lookup(t, "mle").Train(ctx, p)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestTrainErrors(t *testing.T) {
	mle, l2 := lookup(t, "mle"), lookup(t, "l2")
	onlyBad := newProblem(t, mle)
	onlyBad.Data = onlyBad.Data.KeepDocs(func(q, i int) bool { return onlyBad.Data.Queries[q].Grades[i] == 0 })
	noMeasure := newProblem(t, l2)
	noMeasure.Measure = nil
	notAdditive := newProblem(t, l2)
	notAdditive.Measure = measure.MustParse("err", measure.LETOR3)
	noForm := newProblem(t, lookup(t, "convexloss"), "form", "factored")
	for _, c := range []struct {
		m    *Method
		p    *Problem
		want string
	}{
		{mle, onlyBad, "mle: found no query with both relevant and irrelevant documents in the training data, expected at least one"},
		{l2, noMeasure, "l2: found no training measure, expected one such as ndcg@10"},
		{l2, notAdditive, "l2: found the training measure err, expected one that is a sum over relevant documents, such as map, ndcg@10, auc or mrr"},
		{lookup(t, "convexloss"), noForm, `convexloss: query "1": the factored form of convexloss exists under auc`},
	} {
		_, err := c.m.Train(context.Background(), c.p)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error is %v, want %s", err, c.want)
		}
		var problem *ProblemError
		if !errors.As(err, &problem) {
			t.Errorf("%v is no *ProblemError", err)
		}
	}
	if _, err := l2.Train(context.Background(), newProblem(t, mle)); err == nil || err.Error() != "l2: found the hyperparameters of mle, expected those of l2" {
		t.Errorf("error is %v", err)
	}
	if err := mle.CheckMeasure(measure.MustParse("err", measure.LETOR3)); err != nil {
		t.Errorf("mle has no training measure, but: %v", err)
	}
}

// The registry's names are different, complete, and what the help text promises
// of them is there.
func TestRegistry(t *testing.T) {
	var names []string
	for _, m := range List() {
		if slices.Contains(names, m.Name) {
			t.Errorf("%s is registered twice", m.Name)
		}
		names = append(names, m.Name)
		if m.Title == "" || m.Summary == "" || m.Source == "" || m.UsesMeasure != (m.DefaultMeasure != "") {
			t.Errorf("%s is not described: %+v", m.Name, m)
		}
		if found, err := Lookup(m.Name); found != m || err != nil {
			t.Errorf("Lookup(%q) = %v, %v", m.Name, found, err)
		}
		if m.UsesMeasure {
			if err := m.CheckMeasure(measure.MustParse(m.DefaultMeasure, measure.LETOR3)); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	}
	_, err := Lookup("nosuch")
	if want := `method "nosuch": expected one of ` + strings.Join(names, ", "); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
