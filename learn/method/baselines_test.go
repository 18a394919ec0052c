package method

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
)

// augmented solves the ridge regression as one least-squares problem, with a column
// for each intercept and a row √(1/C)·e_j for each weight, by gonum's QR: no normal
// equations and no centering.
func augmented(d *dataset.Dataset, c float64, perQuery, mean bool) (w []float64, squares float64) {
	intercepts := 1
	if perQuery {
		intercepts = len(d.Queries)
	}
	rows, columns := d.Docs()+d.Features, d.Features+intercepts
	a, b := mat.NewDense(rows, columns, nil), mat.NewDense(rows, 1, nil)
	for i := range d.Queries {
		q := &d.Queries[i]
		root := 1.0
		if mean {
			root = 1 / math.Sqrt(float64(q.Len()))
		}
		for k, grade := range q.Grades {
			r := q.Start + k
			for j, x := range q.Row(k) {
				a.Set(r, j, root*float64(x))
			}
			a.Set(r, d.Features+i%intercepts, root)
			b.Set(r, 0, root*grade)
		}
	}
	for j := range d.Features {
		a.Set(d.Docs()+j, j, math.Sqrt(1/c))
	}
	var qr mat.QR
	qr.Factorize(a)
	var x, residual mat.Dense
	if err := qr.SolveTo(&x, false, b); err != nil {
		panic(err)
	}
	residual.Mul(a, &x)
	residual.Sub(&residual, b)
	norm := mat.Norm(&residual, 2)
	return x.RawMatrix().Data[:d.Features], norm * norm
}

// Regression is the least-squares solution that QR finds, intercepts and all, and
// its objective and gradient are those of that problem.
func TestRegressionIsLeastSquares(t *testing.T) {
	m := lookup(t, "regression")
	for _, intercept := range []string{"common", "query"} {
		for _, mean := range []string{"false", "true"} {
			for _, c := range []string{"0.01", "1", "1e6"} {
				p := newProblem(t, m, "intercept", intercept, "mean", mean, "C", c)
				trained := mustTrain(t, m, p)
				want, squares := augmented(p.Data, p.Values.Number("C"), intercept == "query", mean == "true")
				for j, w := range trained.Params {
					if math.Abs(w-want[j]) > 1e-8 {
						t.Errorf("intercept=%s mean=%s C=%s: weight %d is %v, want %v", intercept, mean, c, j+1, w, want[j])
					}
				}
				tr := trained.Training
				if math.Abs(tr.Objective-squares) > 1e-9*squares || tr.GradNorm > 1e-9*squares {
					t.Errorf("intercept=%s mean=%s C=%s: objective is %v, want %v; gradient %v", intercept, mean, c, tr.Objective, squares, tr.GradNorm)
				}
			}
		}
	}
}

// Features far from 0 lose no digits: a constant added to a feature changes nothing.
func TestRegressionKeepsDigits(t *testing.T) {
	m := lookup(t, "regression")
	p := newProblem(t, m)
	for i, v := range p.Data.X() {
		p.Data.X()[i] = float32(math.Round(float64(v)*256) / 256)
	}
	before := mustTrain(t, m, p).Params
	for i := 0; i < len(p.Data.X()); i += p.Data.Features {
		p.Data.X()[i] += 16384
	}
	for j, w := range mustTrain(t, m, p).Params {
		if math.Abs(w-before[j]) > 1e-10 {
			t.Errorf("weight %d is %v, %v after a shift", j+1, before[j], w)
		}
	}
}

// Without penalty to speak of, features that are sums of others are an error that
// says what helps.
func TestRegressionTellsOfDependentFeatures(t *testing.T) {
	m := lookup(t, "regression")
	p := newProblem(t, m, "C", "1e100")
	x := p.Data.X()
	for i := 0; i < len(x); i += p.Data.Features {
		x[i] = x[i+1]
	}
	_, err := m.Train(context.Background(), p)
	if err == nil || !strings.Contains(err.Error(), "a smaller C helps") {
		t.Errorf("error is %v", err)
	}
}

// Coordinate ascent is above its start and above every single feature on the
// training data, by either search, and for any measure. Its objective takes ties for
// the worst order.
func TestCoordinateAscentBeatsFeatures(t *testing.T) {
	m, single := lookup(t, "coordascent"), lookup(t, "singlefeature")
	for _, name := range []string{"map", "ndcg@5", "err"} {
		for _, search := range []string{"steps", "exact"} {
			p, q := newProblem(t, m, "search", search, "tolerance", "0"), newProblem(t, single)
			p.Measure, q.Measure = measure.MustParse(name, measure.LETOR3), measure.MustParse(name, measure.LETOR3)
			value := func(trained *model.Model) float64 {
				scores, err := trained.Score(p.Data)
				if err != nil {
					t.Fatal(err)
				}
				return mean(p.Data, scores, p.Measure)
			}
			trained := mustTrain(t, m, p)
			if got, floor := value(trained), value(mustTrain(t, single, q)); got <= floor || trained.Training.Objective < 1-got-1e-12 || trained.Training.Objective > 1-got+0.01 {
				t.Errorf("%s, %s: %v, the best feature %v, objective %v", name, search, got, floor, trained.Training.Objective)
			}
		}
	}
}

// What is kept is the best by the data that choose: more to choose from is never
// worse on them.
func TestCoordinateAscentKeeps(t *testing.T) {
	m := lookup(t, "coordascent")
	best := make(map[string]float64)
	for _, keep := range []string{"mean", "sweep", "start", "training"} {
		p := newProblem(t, m, "keep", keep)
		halves := p.Data.KeepDocs(func(q, _ int) bool { return q%2 == 0 })
		p.Valid = p.Data.KeepDocs(func(q, _ int) bool { return q%2 == 1 })
		p.Data = halves
		var seen []float64
		starts := 0
		p.Observe = func(it Iteration) {
			starts = max(starts, it.Start+1)
			seen = append(seen, it.Validation)
			if it.Validated != (keep != "training") || it.Number != len(seen) {
				t.Errorf("keep=%s: sweep %d is %+v", keep, len(seen), it)
			}
		}
		trained := mustTrain(t, m, p)
		scores, err := trained.Score(p.Valid)
		if err != nil {
			t.Fatal(err)
		}
		best[keep] = mean(p.Valid, scores, p.Measure)
		if starts != 5 || trained.Training.Iterations != len(seen) {
			t.Errorf("keep=%s: %d starts, training %+v", keep, starts, trained.Training)
		}
		switch v := trained.Training.Validation; {
		case keep == "training" && v != nil:
			t.Errorf("keep=training: validation is %v", *v)
		case keep == "mean" && *v != best[keep]:
			t.Errorf("keep=mean: validation is %v, of the model %v", *v, best[keep])
		case keep == "sweep" && (*v != slices.Max(seen) || *v != best[keep]):
			t.Errorf("keep=sweep: validation is %v, model %v, best %v", *v, best[keep], slices.Max(seen))
		}
	}
	if best["sweep"] < best["start"] || best["start"] < best["training"] {
		t.Errorf("validation values are %v", best)
	}
}

// Single feature is the best column and sign by plain search, or the one asked for.
func TestSingleFeature(t *testing.T) {
	m := lookup(t, "singlefeature")
	p := newProblem(t, m)
	best, weights := 0.0, []float64(nil)
	for j := range p.Data.Features {
		for _, sign := range []float64{1, -1} {
			w := make([]float64, p.Data.Features)
			w[j] = sign
			scores := make([]float64, p.Data.Docs())
			for i := range scores {
				scores[i] = sign * float64(p.Data.X()[i*p.Data.Features+j])
			}
			if v := mean(p.Data, scores, p.Measure); v > best {
				best, weights = v, w
			}
		}
	}
	if got := mustTrain(t, m, p); !slices.Equal(got.Params, weights) || math.Abs(1-got.Training.Objective-best) > 1e-12 {
		t.Errorf("weights are %v, objective %v, want %v, %v", got.Params, got.Training.Objective, weights, 1-best)
	}
	if got := mustTrain(t, m, newProblem(t, m, "feature", "3", "direction", "down")).Params; got[2] != -1 {
		t.Errorf("weights are %v, want −1 for feature 3", got)
	}
	_, err := m.Train(context.Background(), newProblem(t, m, "feature", "9"))
	if want := "singlefeature: feature=9: expected one of the data's 8"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// Random ranks as a mean over many seeds does what a random order does: the tie-neutral
// value of equal scores.
func TestRandomIsChance(t *testing.T) {
	m := lookup(t, "random")
	ap := measure.MustParse("map", measure.LETOR3)
	var sum, square float64
	const seeds = 200
	p := newProblem(t, m)
	for seed := range uint64(seeds) {
		p.Seed = seed
		v := mapOf(t, mustTrain(t, m, p), p.Data)
		sum += v
		square += v * v
	}
	chance := mean(p.Data, make([]float64, p.Data.Docs()), ap)
	average := sum / seeds
	deviation := math.Sqrt((square/seeds - average*average) / seeds)
	if math.Abs(average-chance) > 4*deviation {
		t.Errorf("MAP is %v ± %v, by chance %v", average, deviation, chance)
	}
	if mustTrain(t, m, p).Constant() {
		t.Error("a random model is called constant")
	}
}

// Data on which no order matters are refused.
func TestBaselinesRefuse(t *testing.T) {
	for name, want := range map[string]string{
		"coordascent": "coordascent: training data: found no query on which map depends on the order of the documents (a document is relevant from grade 1 on, the highest grade is 0), expected another threshold, or a measure of graded relevance such as ndcg",
	} {
		p := newProblem(t, lookup(t, name))
		p.Data = p.Data.KeepDocs(func(q, i int) bool { return p.Data.Queries[q].Grades[i] == 0 })
		if _, err := lookup(t, name).Train(context.Background(), p); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
