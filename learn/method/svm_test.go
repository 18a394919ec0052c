package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/long"
)

// hingeRisk is RankSVM's objective in plain loops over pairs, with the gradient and
// the Hessian of the squared hinge, for a solver that shares no code with ours.
type hingeRisk struct {
	data    *dataset.Dataset
	c       float64
	squared bool
}

// visit calls f with each query and, of each pair whose scores are less than 1 apart,
// the better and the worse document and what is missing.
func (r hingeRisk) visit(w []float64, f func(q *dataset.Query, i, j int, t float64)) {
	for k := range r.data.Queries {
		q := &r.data.Queries[k]
		s := make([]float64, q.Len())
		for i := range s {
			for j, x := range q.Row(i) {
				s[i] += w[j] * float64(x)
			}
		}
		for i, better := range q.Grades {
			for j, worse := range q.Grades {
				if t := 1 - s[i] + s[j]; better > worse && t > 0 {
					f(q, i, j, t)
				}
			}
		}
	}
}

func (r hingeRisk) value(w []float64) float64 {
	var sum float64
	for _, v := range w {
		sum += v * v / 2
	}
	r.visit(w, func(_ *dataset.Query, _, _ int, t float64) {
		if r.squared {
			t *= t
		}
		sum += r.c * t
	})
	return sum
}

// gradient sums up each document's part before it is spread over the features.
func (r hingeRisk) gradient(grad, w []float64) {
	copy(grad, w)
	slope := make(map[*dataset.Query][]float64)
	r.visit(w, func(q *dataset.Query, i, j int, t float64) {
		if slope[q] == nil {
			slope[q] = make([]float64, q.Len())
		}
		slope[q][i] -= 2 * r.c * t
		slope[q][j] += 2 * r.c * t
	})
	for k := range r.data.Queries {
		q := &r.data.Queries[k]
		for i, v := range slope[q] {
			for f, x := range q.Row(i) {
				grad[f] += v * float64(x)
			}
		}
	}
}

// hessian is 1 + 2C Σ_q XᵀLX, L being the Laplacian of the graph of pairs that are
// less than 1 apart.
func (r hingeRisk) hessian(dst *mat.SymDense, w []float64) {
	d := len(w)
	laplacian := make(map[*dataset.Query]*mat.Dense)
	r.visit(w, func(q *dataset.Query, i, j int, _ float64) {
		l := laplacian[q]
		if l == nil {
			l = mat.NewDense(q.Len(), q.Len(), nil)
			laplacian[q] = l
		}
		l.Set(i, i, l.At(i, i)+1)
		l.Set(j, j, l.At(j, j)+1)
		l.Set(i, j, -1)
		l.Set(j, i, -1)
	})
	sum := mat.NewDense(d, d, nil)
	for k := range r.data.Queries {
		q := &r.data.Queries[k]
		if laplacian[q] == nil {
			continue
		}
		x := mat.NewDense(q.Len(), d, nil)
		for i := range q.Len() {
			for f, v := range q.Row(i) {
				x.Set(i, f, float64(v))
			}
		}
		var lx, part mat.Dense
		lx.Mul(laplacian[q], x)
		part.Mul(x.T(), &lx)
		sum.Add(sum, &part)
	}
	for i := range d {
		for j := i; j < d; j++ {
			v := 2 * r.c * sum.At(i, j)
			if i == j {
				v++
			}
			dst.SetSym(i, j, v)
		}
	}
}

// minimum is what gonum's Newton method finds for the squared hinge. At a gradient of
// g at most g²/2 is missing.
func (r hingeRisk) minimum(t *testing.T) float64 {
	t.Helper()
	result, err := optimize.Minimize(optimize.Problem{Func: r.value, Grad: r.gradient, Hess: r.hessian},
		make([]float64, r.data.Features), &optimize.Settings{GradientThreshold: 1e-5}, &optimize.Newton{})
	if result == nil {
		t.Fatal(err)
	}
	grad := make([]float64, len(result.X))
	r.gradient(grad, result.X)
	if missing := mat.Norm(mat.NewVecDense(len(grad), grad), 2); missing*missing/2 > 1e-9*result.F {
		t.Fatalf("gonum stops at a gradient of %v: %v", missing, err)
	}
	return result.F
}

// checkRankSVM trains with both hinges. Objectives are what the loops over pairs say
// at the model's weights; they are within 1e-6 of the minimum, which for the squared
// hinge another solver finds, and for the other is bounded by two methods that have
// nothing but the loss in common.
func checkRankSVM(t *testing.T, d *dataset.Dataset, cs ...string) {
	m := lookup(t, "ranksvm")
	for _, c := range cs {
		for _, hinge := range []string{"l1", "l2"} {
			p, q := newProblem(t, m, "C", c, "hinge", hinge), newProblem(t, m, "C", c, "hinge", hinge, "optimizer", "planes")
			p.Data, q.Data = d, d
			newton, planes := mustTrain(t, m, p), mustTrain(t, m, q)
			r := hingeRisk{d, p.Values.Number("C"), hinge == "l2"}
			if own := r.value(newton.Params); math.Abs(own-newton.Training.Objective) > 1e-9*own {
				t.Errorf("%s, C=%s: the model claims the objective %v, at its weights it is %v", hinge, c, newton.Training.Objective, own)
			}
			f, gap := newton.Training.Objective, *newton.Training.Gap
			g, otherGap := planes.Training.Objective, *planes.Training.Gap
			least := max(f-gap, g-otherGap)
			if hinge == "l2" {
				least = r.minimum(t)
			}
			t.Logf("%s, C=%s: newton %.10g, certified within %.1e in %d iterations; planes %.10g, %.1e, %d; minimum %.10g",
				hinge, c, f, gap/f, newton.Training.Iterations, g, otherGap/g, planes.Training.Iterations, least)
			for _, got := range []struct{ f, gap float64 }{{f, gap}, {g, otherGap}} {
				if got.f > least*(1+1e-6) || got.gap > 1e-6*max(1, got.f) {
					t.Errorf("%s, C=%s: objective is %.10g, certified within %v; the minimum is %.10g", hinge, c, got.f, got.gap, least)
				}
				if got.f-got.gap > min(f, g)*(1+1e-12) || (hinge == "l2" && got.f-got.gap > least*(1+1e-9)) {
					t.Errorf("%s, C=%s: certified to be above %.10g, which it is not", hinge, c, got.f-got.gap)
				}
			}
		}
	}
}

// RankSVM reaches its minimum on data of OHSUMED's shape.
func TestRankSVMIsOptimal(t *testing.T) {
	checkRankSVM(t, smallData(t), "0.001", "0.1", "10", "1000")
}

// The same on the training part of OHSUMED's fold 1.
func TestRankSVMIsOptimalOnOHSUMED(t *testing.T) {
	long.Test(t)
	checkRankSVM(t, ohsumedFold1(t), "0.001", "0.1", "10")
}

// SVM-rank's -c is C times the number of training queries, and weighing queries alike
// is dividing each query's loss by its number of pairs.
func TestRankSVMScales(t *testing.T) {
	m, d := lookup(t, "ranksvm"), smallData(t)
	field := mustTrain(t, m, newProblem(t, m, "C", "0.02"))
	own := mustTrain(t, m, newProblem(t, m, "C", "0.3", "c_scale", "svmrank"))
	if len(d.Queries) != 15 {
		t.Fatalf("%d queries, want 15", len(d.Queries))
	}
	if math.Abs(field.Training.Objective-own.Training.Objective) > 1e-9 || math.Abs(field.Params[0]-own.Params[0]) > 1e-9 {
		t.Errorf("C=0.02 leads to %v, SVM-rank's -c 0.3 to %v", field.Training.Objective, own.Training.Objective)
	}
	for _, hinge := range []string{"l1", "l2"} {
		equal := mustTrain(t, m, newProblem(t, m, "weights", "queries", "C", "2", "hinge", hinge))
		want := 0.0
		for _, v := range equal.Params {
			want += v * v / 2
		}
		for i := range d.Queries {
			one := *d
			one.Queries = d.Queries[i : i+1]
			pairs, loss := 0.0, 0.0
			zero := hingeRisk{data: &one, c: 1}
			zero.visit(make([]float64, d.Features), func(*dataset.Query, int, int, float64) { pairs++ })
			zero.visit(equal.Params, func(_ *dataset.Query, _, _ int, t float64) {
				if hinge == "l2" {
					t *= t
				}
				loss += t
			})
			if pairs > 0 {
				want += 2 * loss / pairs
			}
		}
		if math.Abs(want-equal.Training.Objective) > 1e-9*want {
			t.Errorf("%s, weights=queries: objective %v, over pairs it is %v", hinge, equal.Training.Objective, want)
		}
	}
}

// L-BFGS reaches the same minimum of the squared hinge, under the same objective.
func TestRankSVMByLBFGS(t *testing.T) {
	m := lookup(t, "ranksvm")
	newton := mustTrain(t, m, newProblem(t, m, "C", "0.5")).Training
	lbfgs := mustTrain(t, m, newProblem(t, m, "C", "0.5", "optimizer", "lbfgs")).Training
	if math.Abs(newton.Objective-lbfgs.Objective) > 1e-6*newton.Objective || lbfgs.Gap == nil {
		t.Errorf("Newton ends at %v, L-BFGS at %v", newton.Objective, lbfgs.Objective)
	}
}

// Cancelling ends every optimiser with the context's error, and observers see every
// objective fall.
func TestRankSVMObserved(t *testing.T) {
	m := lookup(t, "ranksvm")
	for _, settings := range [][]string{{"hinge", "l2"}, {"hinge", "l1"}, {"hinge", "l1", "optimizer", "planes"}} {
		p := newProblem(t, m, append([]string{"C", "10"}, settings...)...)
		checkObserved(t, m, p, fmt.Sprint(settings))
	}
}

func TestRankSVMErrors(t *testing.T) {
	m := lookup(t, "ranksvm")
	net := newProblem(t, m, "optimizer", "planes")
	net.Scorer = networkScorer
	file := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := newProblem(t, m)
	kept.Checkpoint = file
	for _, c := range []struct {
		p    *Problem
		want string
	}{
		{net, "ranksvm: optimizer=planes with the scorer net, expected linear"},
		{newProblem(t, m, "bag", "2"), "ranksvm: bag=2 with optimizer=newton: only descents make a bag; expected bag=1 or optimizer=descent"},
		{kept, "ranksvm: checkpoint " + file + ": found a file, expected none"},
	} {
		checkRefused(t, m, c.p, c.want)
	}
}

// BenchmarkRankSVM trains on OHSUMED's fold 1 with one worker, data in memory.
func BenchmarkRankSVM(b *testing.B) {
	d, m := ohsumedFold1(b), lookup(b, "ranksvm")
	for _, settings := range [][]string{
		{"hinge", "l2", "C", "0.01", "tolerance", "1e-3"},
		{"hinge", "l2", "C", "1", "tolerance", "1e-3"},
		{"hinge", "l2", "C", "1", "tolerance", "1e-6"},
		{"hinge", "l1", "C", "1", "tolerance", "1e-3"},
		{"hinge", "l1", "C", "1", "tolerance", "1e-3", "optimizer", "planes"},
	} {
		b.Run(strings.Join(settings, "/"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := newProblem(b, m, settings...)
				p.Data, p.Workers = d, 1
				mustTrain(b, m, p)
			}
		})
	}
}

// Descent has the objective divided by C, so that its rate means the same for all C;
// its minimum is the same.
func TestRankSVMByDescent(t *testing.T) {
	m := lookup(t, "ranksvm")
	newton := newProblem(t, m, "C", "0.05")
	p := newProblem(t, m, "C", "0.05", "optimizer", "descent", "rule", "plain", "rate", "0.003", "epochs", "3000", "patience", "0", "batch", "100")
	r := hingeRisk{p.Data, 0.05, true}
	least, got := r.value(mustTrain(t, m, newton).Params), r.value(mustTrain(t, m, p).Params)
	if got < least*(1-1e-6) || got > least*(1+1e-6) {
		t.Errorf("descent comes to %v, the minimum is %v", got, least)
	}
}

// slackObjective is SVMmap's objective by the greedy algorithm of Yue et al., Section
// 4.1, as printed, with its own sorting and sums.
func slackObjective(d *dataset.Dataset, c float64, w []float64) float64 {
	var total float64
	for k := range d.Queries {
		q := &d.Queries[k]
		var good, bad []float64
		for i, grade := range q.Grades {
			s := 0.0
			for j, x := range q.Row(i) {
				s += w[j] * float64(x)
			}
			if grade >= 1 {
				good = append(good, s)
			} else {
				bad = append(bad, s)
			}
		}
		slices.SortFunc(good, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		slices.SortFunc(bad, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		scale := 2 / float64(len(good)*len(bad))
		for j, s := range bad {
			best, sum := 0.0, 0.0
			for k := len(good); k >= 1; k-- {
				loss := float64(k)/float64(k+j) - float64(k)/float64(k+j+1)
				sum += loss/float64(len(good)) - scale*(good[k-1]-s)
				best = max(best, sum)
			}
			total += best
		}
	}
	f := c / float64(len(d.Queries)) * total
	for _, v := range w {
		f += v * v / 2
	}
	return f
}

// checkSVMmap trains with either formulation. Objectives are what the greedy algorithm
// says at the model's weights, and the mean slack is certified to a thousandth: neither
// is further above what the other is certified to be at least.
func checkSVMmap(t *testing.T, d *dataset.Dataset, cs ...string) {
	m := lookup(t, "svmmap")
	for _, c := range cs {
		var f, gap, lower [2]float64
		for i, slack := range []string{"one", "n"} {
			p := newProblem(t, m, "C", c, "slack", slack)
			p.Data = d
			trained := mustTrain(t, m, p)
			f[i], gap[i] = trained.Training.Objective, *trained.Training.Gap
			lower[i] = f[i] - gap[i]
			factor := p.Values.Number("C")
			t.Logf("C=%s, slack=%s: %.8g, gap %.1e, of the mean slack %.1e; %d evaluations, %s", c, slack, f[i], gap[i], gap[i]/factor, trained.Training.Evaluations, trained.Training.Status)
			if own := slackObjective(d, factor, trained.Params); math.Abs(own-f[i]) > 1e-9*own {
				t.Errorf("C=%s, slack=%s: the model claims the objective %v, at its weights it is %v", c, slack, f[i], own)
			}
			if gap[i] > 1e-3*factor || gap[i] > 1e-3*max(1, f[i]) {
				t.Errorf("C=%s, slack=%s: certified to %v of %v", c, slack, gap[i], f[i])
			}
		}
		if least := max(lower[0], lower[1]); min(f[0], f[1]) < least*(1-1e-12) {
			t.Errorf("C=%s: certified to be at least %v, it is %v and %v", c, least, f[0], f[1])
		}
	}
}

// Both formulations reach the minimum on data of OHSUMED's shape.
func TestSVMmapIsOptimal(t *testing.T) {
	checkSVMmap(t, smallData(t), "0.001", "1", "30", "1000", "100000")
}

// The same on the training part of OHSUMED's fold 1, over and beyond the default grid.
func TestSVMmapIsOptimalOnOHSUMED(t *testing.T) {
	long.Test(t)
	checkSVMmap(t, ohsumedFold1(t), "0.001", "0.01", "0.1", "1", "10", "100", "1000", "10000", "100000")
}

// withDegenerateQueries adds a query without irrelevant documents and two without
// relevant ones to d, in front, in the middle and at the end.
func withDegenerateQueries(d *dataset.Dataset) *dataset.Dataset {
	grown := *d
	grown.Queries = nil
	add := func(id string, grade float64) {
		q := d.Queries[0]
		q.ID, q.Grades = id, slices.Repeat([]float64{grade}, q.Len())
		grown.Queries = append(grown.Queries, q)
	}
	add("nothing relevant", 0)
	grown.Queries = append(grown.Queries, d.Queries[:3]...)
	add("all relevant", 1)
	grown.Queries = append(grown.Queries, d.Queries[3:]...)
	add("nothing relevant either", 0)
	return &grown
}

// Queries without relevant or without irrelevant documents have no slack, for any weights:
// they only count in N, so that C grows by what N does.
func TestSVMmapWithDegenerateQueries(t *testing.T) {
	m := lookup(t, "svmmap")
	for _, training := range []string{"map", "ndcg@5", "mrr", "auc"} {
		for _, slack := range []string{"one", "n"} {
			plain := newProblem(t, m, "C", "15", "slack", slack)
			degenerate := newProblem(t, m, "C", "18", "slack", slack)
			degenerate.Data = withDegenerateQueries(plain.Data)
			plain.Measure, degenerate.Measure = measure.MustParse(training, measure.LETOR3), measure.MustParse(training, measure.LETOR3)
			want, got := mustTrain(t, m, plain), mustTrain(t, m, degenerate)
			if got.Training.Used != len(plain.Data.Queries) || got.Training.Queries != len(plain.Data.Queries)+3 {
				t.Errorf("%s: %d of %d queries used", training, got.Training.Used, got.Training.Queries)
			}
			if math.Abs(got.Training.Objective-want.Training.Objective) > 1e-5*want.Training.Objective {
				t.Errorf("%s: objective %v, without the degenerate queries %v", training, got.Training.Objective, want.Training.Objective)
			}
		}
	}
	p := newProblem(t, m)
	only := withDegenerateQueries(p.Data)
	only.Queries = slices.DeleteFunc(only.Queries, func(q dataset.Query) bool { return !strings.Contains(q.ID, "relevant") })
	p.Data = only
	var problem *ProblemError
	if _, err := m.Train(context.Background(), p); !errors.As(err, &problem) || !strings.Contains(err.Error(), "found no query with both relevant and irrelevant documents") {
		t.Errorf("error %v", err)
	}
}

// The model is the same, byte for byte, for any number of workers.
func TestSVMmapIsDeterministic(t *testing.T) {
	m := lookup(t, "svmmap")
	for _, settings := range [][]string{{}, {"slack", "n"}, {"grades", "graded"}} {
		var texts []string
		for _, workers := range []int{1, 3} {
			p := newProblem(t, m, append([]string{"C", "50"}, settings...)...)
			p.Measure, p.Workers = measure.MustParse("ndcg@5", measure.LETOR3), workers
			texts = append(texts, bytesOf(t, mustTrain(t, m, p)))
		}
		if texts[0] != texts[1] {
			t.Errorf("%v: models of 1 and 3 workers differ", settings)
		}
	}
}

// The training measure chooses the hinge, and the grades the kind: objectives are at
// most those of w = 0, which are C times the mean of what the measure can lose, and
// certified.
func TestSVMmapMeasures(t *testing.T) {
	m := lookup(t, "svmmap")
	seen := make(map[string]string)
	for _, training := range []string{"map", "ndcg@5", "ndcg", "mrr", "auc", "p@3"} {
		for _, grades := range []string{"binary", "graded"} {
			if grades == "graded" && !strings.HasPrefix(training, "ndcg") {
				continue
			}
			p := newProblem(t, m, "grades", grades, "C", "200")
			p.Measure = measure.MustParse(training, measure.LETOR3)
			trained := mustTrain(t, m, p).Training
			if trained.Objective > 200 || *trained.Gap > 1e-6*200 {
				t.Errorf("%s, %s: objective %v within %v", training, grades, trained.Objective, *trained.Gap)
			}
			name, text := training+" "+grades, fmt.Sprint(trained.Objective)
			if other, ok := seen[text]; ok {
				t.Errorf("%s and %s have the same objective %s", name, other, text)
			}
			seen[text] = name
		}
	}
}

// With AUC the objective is RankSVM's under another name: the mean over pairs of
// max(0, 1 − 2d), d being a pair's difference of scores, so that 2w is RankSVM's
// solution for 4C.
func TestSVMAUCIsRankSVM(t *testing.T) {
	m, r := lookup(t, "svmmap"), lookup(t, "ranksvm")
	p := newProblem(t, m, "C", "7")
	p.Measure = measure.MustParse("auc", measure.LETOR3)
	binary := *p.Data
	binary.Queries = slices.Clone(p.Data.Queries)
	for i := range binary.Queries {
		q := &binary.Queries[i]
		q.Grades = slices.Clone(q.Grades)
		for k, g := range q.Grades {
			q.Grades[k] = min(g, 1)
		}
	}
	p.Data = &binary
	other := newProblem(t, r, "C", "28", "c_scale", "svmrank", "weights", "queries", "hinge", "l1", "optimizer", "planes")
	other.Data = &binary
	got, want := mustTrain(t, m, p).Training.Objective, mustTrain(t, r, other).Training.Objective/4
	if math.Abs(got-want) > 1e-5*want {
		t.Errorf("objective %v, RankSVM's %v", got, want)
	}
}

// Descent has the objective divided by C/N; its minimum is the same. It trains
// networks too.
func TestSVMmapByDescent(t *testing.T) {
	m := lookup(t, "svmmap")
	exact := mustTrain(t, m, newProblem(t, m, "C", "10"))
	p := newProblem(t, m, "C", "10", "optimizer", "descent", "rule", "plain", "rate", "0.03", "epochs", "3000", "patience", "0", "batch", "100")
	least, got := exact.Training.Objective, slackObjective(p.Data, 10, mustTrain(t, m, p).Params)
	if got < least*(1-1e-6) || got > least*(1+1e-3) {
		t.Errorf("descent comes to %v, the minimum is %v", got, least)
	}
	net := newProblem(t, m, "epochs", "5", "hidden", "3")
	net.Scorer = networkScorer
	if trained := mustTrain(t, m, net); trained.Scorer.Kind() != networkScorer || trained.Training.Iterations != 5 {
		t.Errorf("%s after %d epochs", trained.Scorer.Kind(), trained.Training.Iterations)
	}
}

// Observers see every objective fall, and cancelling ends training with the context's
// error.
func TestSVMmapObserved(t *testing.T) {
	m := lookup(t, "svmmap")
	for _, slack := range []string{"one", "n"} {
		p := newProblem(t, m, "slack", slack)
		checkObserved(t, m, p, "slack="+slack)
	}
}

func TestSVMmapErrors(t *testing.T) {
	m := lookup(t, "svmmap")
	net := newProblem(t, m, "optimizer", "planes")
	net.Scorer = networkScorer
	err4 := newProblem(t, m)
	err4.Measure = measure.MustParse("err", measure.LETOR3)
	for _, c := range []struct {
		p    *Problem
		want string
	}{
		{net, "svmmap: optimizer=planes with the scorer net, expected linear"},
		{newProblem(t, m, "bag", "2"), "svmmap: bag=2 with optimizer=planes: only descents make a bag"},
		{newProblem(t, m, "grades", "graded"), "svmmap: grades=graded with the training measure map, expected ndcg or ndcg@K"},
		{err4, "svmmap: found the training measure err, expected one that is a sum over relevant documents"},
	} {
		checkRefused(t, m, c.p, c.want)
	}
}

// BenchmarkSVMmap trains on OHSUMED's fold 1 with one worker, data in memory.
func BenchmarkSVMmap(b *testing.B) {
	d, m := ohsumedFold1(b), lookup(b, "svmmap")
	for _, settings := range [][]string{
		{"C", "1"},
		{"C", "10"},
		{"C", "10", "slack", "n"},
		{"C", "10", "tolerance", "1e-3"},
		{"C", "1000"},
		{"C", "100000"},
	} {
		b.Run(strings.Join(settings, "/"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := newProblem(b, m, settings...)
				p.Data, p.Workers = d, 1
				mustTrain(b, m, p)
			}
		})
	}
}
