package method

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/listwise/listwise/dataset"
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
