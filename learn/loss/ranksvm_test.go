package loss_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/losstest"
)

// rankSVMs are all kinds of the loss.
var rankSVMs = []struct {
	name string
	loss loss.RankSVM
}{
	{"l1", loss.RankSVM{}},
	{"l1 mean", loss.RankSVM{Weight: 3, Mean: true}},
	{"l2", loss.RankSVM{Squared: true}},
	{"l2 mean", loss.RankSVM{Squared: true, Weight: 0.2, Mean: true}},
	{"smooth", loss.RankSVM{Smoothing: 0.3}},
	{"smoother", loss.RankSVM{Smoothing: 2, Weight: 0.5, Mean: true}},
}

// TestRankSVMConformance runs the suite on every kind. Kinks, of the loss or of its
// gradient, are where a pair enters or leaves.
func TestRankSVMConformance(t *testing.T) {
	for _, c := range rankSVMs {
		width := c.loss.Smoothing
		losstest.Run(t, losstest.Case{Name: c.name, Loss: c.loss, Kinks: []float64{math.Abs(1 - width), 1 + width}})
	}
}

// pairHinge is a pair's value and first two derivatives with respect to t, as they
// are defined.
func pairHinge(l loss.RankSVM, t float64) (value, slope, curvature float64) {
	d := l.Smoothing
	switch {
	case t <= -d:
		return 0, 0, 0
	case l.Squared:
		return t * t, 2 * t, 2
	case t < d:
		return (t + d) * (t + d) / (4 * d), (t + d) / (2 * d), 1 / (2 * d)
	}
	return t, 1, 0
}

// oracle is the loss in a loop over pairs: value, λ, the Hessian times v, and the
// plane's constant.
func oracle(l loss.RankSVM, grades, scores, v []float64) (value float64, lambda, times []float64, support float64) {
	n := len(grades)
	lambda, times = make([]float64, n), make([]float64, n)
	weight := l.Weight
	if weight == 0 {
		weight = 1
	}
	if l.Mean {
		count := 0.0
		for range loss.Pairs(grades) {
			count++
		}
		weight /= count
	}
	for i, j := range loss.Pairs(grades) {
		f, d, h := pairHinge(l, 1-scores[i]+scores[j])
		value += weight * f
		support += weight * d
		lambda[i] += weight * d
		lambda[j] -= weight * d
		times[i] += weight * h * (v[i] - v[j])
		times[j] += weight * h * (v[j] - v[i])
	}
	return value, lambda, times, support
}

// Value, λ, Hessian and supporting plane are those of the loop over pairs, for any
// grades: two, few, or one a document.
func TestRankSVMIsTheSumOverPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		c := rapid.SampledFrom(rankSVMs).Draw(t, "loss")
		n := rapid.IntRange(2, 60).Draw(t, "documents")
		levels := rapid.IntRange(2, 70).Draw(t, "levels")
		spread := rapid.SampledFrom([]float64{0, 0.1, 1, 10, 1e4}).Draw(t, "spread")
		grades, scores, v := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range grades {
			grades[i] = float64(rng.IntN(levels)) / 4
			scores[i] = spread*rng.NormFloat64() - 5
			v[i] = rng.NormFloat64()
			if i > 0 && rng.IntN(5) == 0 {
				scores[i] = scores[rng.IntN(i)]
			}
		}
		bound, err := c.loss.Bind(grades, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bound == loss.Nothing {
			t.Skip("no pairs")
		}
		value, lambda, times, support := oracle(c.loss, grades, scores, v)
		var scratch loss.Scratch
		gotLambda := make([]float64, n)
		got := bound.Eval(scores, gotLambda, &scratch)
		if !nearly(got, value) {
			t.Fatalf("value %v, over pairs it is %v", got, value)
		}
		compare(t, "lambda", gotLambda, lambda)
		if curved, ok := bound.(loss.SecondOrder); ok {
			h := curved.Curvature()
			if again := h.Eval(scores, gotLambda, &scratch); again != got {
				t.Fatalf("value %v, remembering the curvature %v", got, again)
			}
			compare(t, "lambda with curvature", gotLambda, lambda)
			dst := make([]float64, n)
			h.Times(dst, v)
			compare(t, "Hessian times v", dst, times)
		}
		if supported, ok := bound.(loss.CuttingPlane); ok {
			if got := supported.Support(scores, gotLambda, &scratch); !nearly(got, support) {
				t.Fatalf("plane through %v, over pairs %v", got, support)
			}
			compare(t, "lambda of the plane", gotLambda, lambda)
		}
	})
}

func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func compare(t *rapid.T, what string, got, want []float64) {
	for i := range want {
		if !nearly(got[i], want[i]) {
			t.Fatalf("%s: %v for document %d, over pairs %v", what, got[i], i, want[i])
		}
	}
}

// The Hessian is the derivative of the gradient, where no pair enters or leaves.
func TestRankSVMHessianNumerically(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	grades := []float64{0, 2, 1, 0, 0, 3, 1, 0, 0, 1}
	for _, c := range rankSVMs {
		bound, err := c.loss.Bind(grades, nil)
		if err != nil {
			t.Fatal(err)
		}
		curved, ok := bound.(loss.SecondOrder)
		if !ok {
			continue
		}
		h, scratch, n := curved.Curvature(), loss.Scratch{}, len(grades)
		scores, v, lambda, times := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range scores {
			scores[i], v[i] = 2*rng.Float64(), rng.NormFloat64()
		}
		h.Eval(scores, lambda, &scratch)
		h.Times(times, v)
		const step = 1e-6
		moved, up, down := make([]float64, n), make([]float64, n), make([]float64, n)
		at := func(d float64, lambda []float64) {
			for i := range moved {
				moved[i] = scores[i] + d*v[i]
			}
			bound.Eval(moved, lambda, &scratch)
		}
		at(step, up)
		at(-step, down)
		for i := range times {
			if want := (down[i] - up[i]) / (2 * step); math.Abs(times[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s: Hessian times v is %v for document %d, differences of λ say %v", c.name, times[i], i, want)
			}
		}
	}
}

// The plane of Support is below the hinge everywhere, and touches it where the
// hinge's own was asked for.
func TestRankSVMSupport(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	grades := []float64{0, 2, 1, 0, 0, 3, 1, 0, 0, 1}
	n := len(grades)
	exact, err := loss.RankSVM{}.Bind(grades, nil)
	if err != nil {
		t.Fatal(err)
	}
	var scratch loss.Scratch
	for _, width := range []float64{0, 0.01, 0.5, 3} {
		bound, err := loss.RankSVM{Smoothing: width}.Bind(grades, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, z, lambda := make([]float64, n), make([]float64, n), make([]float64, n)
		for range 200 {
			for i := range x {
				x[i], z[i] = 2*rng.NormFloat64(), 2*rng.NormFloat64()
			}
			c := bound.(loss.CuttingPlane).Support(x, lambda, &scratch)
			plane := func(z []float64) float64 {
				sum := c
				for i, l := range lambda {
					sum -= l * z[i]
				}
				return sum
			}
			if f := exact.Eval(z, nil, &scratch); f < plane(z)-1e-9*max(1, f) {
				t.Fatalf("smoothing %v: the hinge is %v, below its plane's %v", width, f, plane(z))
			}
			if f := exact.Eval(x, nil, &scratch); width == 0 && !nearly(f, plane(x)) {
				t.Fatalf("the hinge is %v, its own plane %v", f, plane(x))
			}
		}
	}
}

func TestRankSVMErrors(t *testing.T) {
	for _, c := range []struct {
		loss loss.RankSVM
		want string
	}{
		{loss.RankSVM{Weight: -1}, "weight -1, expected a finite positive number"},
		{loss.RankSVM{Weight: math.Inf(1)}, "weight +Inf, expected a finite positive number"},
		{loss.RankSVM{Smoothing: math.NaN()}, "smoothing NaN, expected a finite positive number, or 0 for none"},
		{loss.RankSVM{Squared: true, Smoothing: 1}, "smoothing 1 of the squared hinge, expected 0: it has no kink"},
	} {
		if _, err := c.loss.Bind([]float64{0, 1}, nil); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// BenchmarkRankSVM evaluates queries of 150 documents with the grades of OHSUMED's
// shares, and a query of 10,000 documents with as many grades, which a loop over
// pairs would take 50 million steps for.
func BenchmarkRankSVM(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	shapes := []struct {
		name   string
		docs   int
		levels int
	}{{"docs=150/grades=3", 150, 3}, {"docs=10000/grades=2", 10000, 2}, {"docs=10000/grades=10000", 10000, 10000}}
	for _, shape := range shapes {
		grades, scores := make([]float64, shape.docs), make([]float64, shape.docs)
		for i := range grades {
			grades[i] = float64(max(0, rng.IntN(2*shape.levels)-shape.levels))
			scores[i] = rng.NormFloat64()
		}
		for _, c := range rankSVMs {
			if c.loss.Mean {
				continue
			}
			bound, err := c.loss.Bind(grades, nil)
			if err != nil {
				b.Fatal(err)
			}
			lambda, scratch := make([]float64, shape.docs), loss.Scratch{}
			b.Run(shape.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					bound.Eval(scores, lambda, &scratch)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.docs), "ns/doc")
			})
			if curved, ok := bound.(loss.SecondOrder); ok {
				h := curved.Curvature()
				h.Eval(scores, lambda, &scratch)
				b.Run(shape.name+"/"+c.name+"/hessian", func(b *testing.B) {
					for b.Loop() {
						h.Times(lambda, scores)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.docs), "ns/doc")
				})
			}
		}
	}
}
