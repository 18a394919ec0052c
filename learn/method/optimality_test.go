package method

import (
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/synth"
)

// pairwiseRisk is the factored MLE's objective in plain loops over pairs,
//
//	F(w) = Σ_q Σ_gb log(1 + exp(−2 w·(x_g − x_b))) + ‖w‖²/C,
//
// with its gradient and Hessian, for a solver that shares no code with ours.
type pairwiseRisk struct {
	data *dataset.Dataset
	c    float64
}

// visit calls f with each query's scores, its good and its bad documents.
func (r pairwiseRisk) visit(w []float64, f func(q *dataset.Query, s []float64, good, bad []int)) {
	for i := range r.data.Queries {
		q := &r.data.Queries[i]
		s := make([]float64, q.Len())
		var good, bad []int
		for k, grade := range q.Grades {
			for j, x := range q.Row(k) {
				s[k] += w[j] * float64(x)
			}
			if grade >= 1 {
				good = append(good, k)
			} else {
				bad = append(bad, k)
			}
		}
		f(q, s, good, bad)
	}
}

func (r pairwiseRisk) value(w []float64) float64 {
	var sum float64
	for _, v := range w {
		sum += v * v / r.c
	}
	r.visit(w, func(_ *dataset.Query, s []float64, good, bad []int) {
		for _, g := range good {
			for _, b := range bad {
				z := 2 * (s[g] - s[b])
				sum += math.Log1p(math.Exp(-math.Abs(z))) + math.Max(0, -z)
			}
		}
	})
	return sum
}

func (r pairwiseRisk) gradient(grad, w []float64) {
	for j, v := range w {
		grad[j] = 2 * v / r.c
	}
	r.visit(w, func(q *dataset.Query, s []float64, good, bad []int) {
		slope := make([]float64, len(s))
		for _, g := range good {
			for _, b := range bad {
				p := 2 / (1 + math.Exp(2*(s[g]-s[b])))
				slope[g] -= p
				slope[b] += p
			}
		}
		for k, v := range slope {
			for j, x := range q.Row(k) {
				grad[j] += v * float64(x)
			}
		}
	})
}

// hessian is 2/C·1 + Σ_q XᵀLX, L being the Laplacian of the graph whose edges are
// the pairs with weights 4σ(z)σ(−z).
func (r pairwiseRisk) hessian(dst *mat.SymDense, w []float64) {
	d := len(w)
	sum := mat.NewDense(d, d, nil)
	for j := range w {
		sum.Set(j, j, 2/r.c)
	}
	r.visit(w, func(q *dataset.Query, s []float64, good, bad []int) {
		n := len(s)
		laplacian, x := mat.NewDense(n, n, nil), mat.NewDense(n, d, nil)
		for k := range n {
			for j, v := range q.Row(k) {
				x.Set(k, j, float64(v))
			}
		}
		for _, g := range good {
			for _, b := range bad {
				e := math.Exp(-2 * math.Abs(s[g]-s[b]))
				weight := 4 * e / ((1 + e) * (1 + e))
				laplacian.Set(g, b, -weight)
				laplacian.Set(b, g, -weight)
				laplacian.Set(g, g, laplacian.At(g, g)+weight)
				laplacian.Set(b, b, laplacian.At(b, b)+weight)
			}
		}
		var lx, part mat.Dense
		lx.Mul(laplacian, x)
		part.Mul(x.T(), &lx)
		sum.Add(sum, &part)
	})
	for i := range d {
		for j := i; j < d; j++ {
			dst.SetSym(i, j, sum.At(i, j))
		}
	}
}

// minimum is what gonum's Newton method finds, far more exactly than is asked of
// ours: at a gradient of 1e-6 at most C·1e-12/4 is missing.
func (r pairwiseRisk) minimum(t *testing.T) float64 {
	t.Helper()
	result, err := optimize.Minimize(optimize.Problem{Func: r.value, Grad: r.gradient, Hess: r.hessian},
		make([]float64, r.data.Features), &optimize.Settings{GradientThreshold: 1e-6}, &optimize.Newton{})
	if err != nil && result == nil {
		t.Fatal(err)
	}
	return result.F
}

// checkOptimal trains the factored MLE and compares its objective with the
// minimum found independently, and the gap that it claims with the true one.
func checkOptimal(t *testing.T, d *dataset.Dataset) {
	t.Helper()
	m := lookup(t, "mle")
	for _, c := range []string{"0.01", "1"} {
		p := newProblem(t, m, "C", c)
		p.Data = d
		trained := mustTrain(t, m, p)
		r := pairwiseRisk{d, p.Values.Number("C")}
		if own := r.value(trained.Params); math.Abs(own-trained.Training.Objective) > 1e-9*own {
			t.Errorf("C=%s: the model claims the objective %v, at its weights it is %v", c, trained.Training.Objective, own)
		}
		least := r.minimum(t)
		gap := trained.Training.Objective - least
		t.Logf("C=%s: objective %.9g, minimum %.9g, gap %.2g relative, certified %.2g, %d iterations",
			c, trained.Training.Objective, least, gap/least, *trained.Training.Gap/least, trained.Training.Iterations)
		if math.Abs(gap) > 1e-6*least {
			t.Errorf("C=%s: objective is %.9g, minimum %.9g: %.2g above it, relatively", c, trained.Training.Objective, least, gap/least)
		}
		if gap > *trained.Training.Gap+1e-9*least {
			t.Errorf("C=%s: %v above the minimum, but certified to be within %v", c, gap, *trained.Training.Gap)
		}
	}
}

// The factored MLE reaches its minimum on data of OHSUMED's shape.
func TestOptimalOnSyntheticData(t *testing.T) {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Relevant = 20, 60, 18
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	checkOptimal(t, d)
}

// ohsumedFold1 is the training part of OHSUMED's fold 1, which is made of the parts
// S1, S2 and S3.
func ohsumedFold1(t testing.TB) *dataset.Dataset {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := datatest.RealData(t, "ohsumed")
	var parts []*dataset.Dataset
	for _, name := range []string{"S1", "S2", "S3"} {
		d, err := datafile.Open(filepath.Join(dir, name+".txt.gz"), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, d)
	}
	d, err := dataset.Concat(parts...)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Queries) != 63 || d.Features != 45 {
		t.Fatalf("%d queries, %d features; fold 1 has 63 and 45", len(d.Queries), d.Features)
	}
	return d
}

// The same on the training part of OHSUMED's fold 1.
func TestOptimalOnOHSUMED(t *testing.T) { checkOptimal(t, ohsumedFold1(t)) }
