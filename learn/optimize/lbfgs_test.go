package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/optimize"
	"pgregory.net/rapid"
)

func minimize(t testing.TB, l LBFGS, obj Objective, x0 []float64) *Result {
	t.Helper()
	r, err := l.Minimize(context.Background(), obj, x0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: on random quadratics with eigenvalues over 4 decades the known minimum
// is found.
func TestQuadratics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		rng := drawRand(t)
		eigen := make([]float64, n)
		for i := range eigen {
			eigen[i] = math.Pow(10, 4*rng.Float64()-2)
		}
		m, c := normals(rng, n), rng.NormFloat64()
		l := LBFGS{GradientTolerance: 1e-7, FunctionTolerance: -1}
		r, err := l.Minimize(context.Background(), quadratic(eigen, m, normals(rng, n), c), normals(rng, n))
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != GradientSmall || distance(r.X, m) > 2e-5 || math.Abs(r.F-c) > 1e-9 {
			t.Fatalf("%v at x off by %v, f by %v", r.Status, distance(r.X, m), r.F-c)
		}
	})
}

// Claim: the chained Rosenbrock function is minimised from the usual start.
func TestRosenbrock(t *testing.T) {
	for _, n := range []int{2, 10, 100} {
		x0, want := make([]float64, n), make([]float64, n)
		for i := range x0 {
			x0[i], want[i] = []float64{-1.2, 1}[i%2], 1
		}
		start := slices.Clone(x0)
		r := minimize(t, LBFGS{GradientTolerance: 1e-10, FunctionTolerance: -1}, rosenbrock(n), x0)
		// Longer chains have a second minimum with x[0] near −1.
		if r.Status != GradientSmall || (distance(r.X, want) > 1e-9 && n == 2) || r.F > 4 {
			t.Errorf("n %d: %v at %v, f %v", n, r.Status, r.X, r.F)
		}
		if !slices.Equal(x0, start) {
			t.Errorf("n %d: the start was changed", n)
		}
		t.Logf("n %d: %d iterations, %d evaluations, f %g", n, r.Iterations, r.Evaluations, r.F)
	}
}

// Claim: on ill-conditioned regularised logistic regressions the minimum agrees
// with that of gonum's BFGS to 1e-6 relative (in fact 1e-9), within the certified
// gap.
func TestLogisticAgreesWithGonum(t *testing.T) {
	for seed := range uint64(4) {
		for _, c := range []float64{0.01, 1, 100} {
			obj := randomLogistic(seed, 200, 12, c)
			r := minimize(t, LBFGS{StrongConvexity: 2 / c, GapTolerance: 1e-10, GradientTolerance: -1, MaxIterations: 20000}, obj, make([]float64, obj.dim))
			want := gonumMinimum(t, obj)
			if math.Abs(r.F-want.F) > 1e-9*want.F {
				t.Errorf("seed %d, C %v: f %.15g, gonum finds %.15g", seed, c, r.F, want.F)
			}
			if scale := distance(want.X, make([]float64, obj.dim)); distance(r.X, want.X) > 1e-3*scale {
				t.Errorf("seed %d, C %v: x off by %v of %v", seed, c, distance(r.X, want.X), scale)
			}
			if r.Status != GapReached || r.F-r.Gap > want.F*(1+1e-13) || r.Gap > 1e-10*r.F {
				t.Errorf("seed %d, C %v: %v, gap %v", seed, c, r.Status, r.Gap)
			}
			t.Logf("C %v: %d iterations, %d evaluations (gonum's BFGS: %d)", c, r.Iterations, r.Evaluations, want.FuncEvaluations)
		}
	}
}

func gonumMinimum(t testing.TB, obj function) *gonum.Result {
	t.Helper()
	grad := make([]float64, obj.dim)
	p := gonum.Problem{
		Func: func(x []float64) float64 { return obj.Eval(x, grad) },
		Grad: func(g, x []float64) { obj.Eval(x, g) },
	}
	r, err := gonum.Minimize(p, make([]float64, obj.dim), &gonum.Settings{GradientThreshold: 1e-7}, &gonum.BFGS{})
	if err != nil && r == nil {
		t.Fatal(err)
	}
	return r
}

// Claim: f − f* never exceeds the certified gap, at any iterate of strongly
// convex problems, with or without kinks.
func TestGapBoundsTheDistanceToTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		rng := drawRand(t)
		eigen, m, c := make([]float64, n), normals(rng, n), rng.NormFloat64()
		mu := math.Pow(10, 2*rng.NormFloat64())
		for i := range eigen {
			eigen[i] = mu * (1 + 100*rng.Float64())
		}
		obj := quadratic(eigen, m, normals(rng, n), c)
		minimum := c
		if rapid.Bool().Draw(t, "kinked") {
			// Adding |x₁ − m₁| leaves the minimum where it is.
			smooth := obj.eval
			obj.eval = func(x, grad []float64) float64 {
				f := smooth(x, grad)
				grad[0] += math.Copysign(1, x[0]-m[0])
				return f + math.Abs(x[0]-m[0])
			}
		}
		iterates := 0
		l := LBFGS{StrongConvexity: mu, MaxIterations: 100, Observe: func(it Iteration) error {
			iterates++
			if slack := 1e-12 * (1 + math.Abs(minimum)); it.F-minimum > it.Gap+slack {
				t.Fatalf("iteration %d: f − f* = %v exceeds the gap %v", it.Number, it.F-minimum, it.Gap)
			}
			return nil
		}}
		if _, err := l.Minimize(context.Background(), obj, normals(rng, n)); err != nil || iterates == 0 {
			t.Fatal(iterates, err)
		}
	})
}

// Claim: without a modulus of strong convexity no gap is claimed.
func TestNoGapWithoutStrongConvexity(t *testing.T) {
	r := minimize(t, LBFGS{}, rosenbrock(2), []float64{-1.2, 1})
	if !math.IsInf(r.Gap, 1) || r.Status == GapReached {
		t.Errorf("gap %v, %v", r.Gap, r.Status)
	}
}

// Claim: convex functions with kinks end cleanly, close to the minimum, with a
// status that does not claim more than was reached.
func TestKinks(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + int(seed)%6
		a, b := make([][]float64, 2*n), normals(rng, 2*n)
		for i := range a {
			a[i] = normals(rng, n)
		}
		obj := kinked(a, b, 0.1)
		start := normals(rng, n)
		r := minimize(t, LBFGS{FunctionTolerance: -1}, obj, start)
		want := subgradientMinimum(obj, start)
		if r.F > want+1e-3*math.Abs(want) {
			t.Errorf("seed %d: f %v, a subgradient method finds %v (%v)", seed, r.F, want, r.Status)
		}
		if r.Status != SearchStalled && !r.Status.Converged() {
			t.Errorf("seed %d: %v after %d iterations", seed, r.Status, r.Iterations)
		}
		t.Logf("n %d: %v, f %.9g (%.9g) after %d iterations, %d evaluations", n, r.Status, r.F, want, r.Iterations, r.Evaluations)
	}
}

// subgradientMinimum is the slow and sure method for convex functions.
func subgradientMinimum(obj function, start []float64) float64 {
	x, grad := slices.Clone(start), make([]float64, obj.dim)
	best := math.Inf(1)
	for k := range 40000 {
		best = math.Min(best, obj.Eval(x, grad))
		rate := 0.5 / (0.1 * float64(k+20)) / 2
		for j, g := range grad {
			x[j] -= rate * g
		}
	}
	return best
}

// Claim: a sum of absolute values alone is brought near its minimum from random
// starts. (A start within rounding of a kink can hold any gradient method.)
func TestAbsoluteValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "n")
		a := make([][]float64, n)
		for i := range a {
			a[i] = make([]float64, n)
			a[i][i] = float64(i + 1)
		}
		x0 := normals(drawRand(t), n)
		l := LBFGS{FunctionTolerance: -1}
		r, err := l.Minimize(context.Background(), kinked(a, make([]float64, n), 0), x0)
		if err != nil {
			t.Fatal(err)
		}
		if r.F > 1e-2 {
			t.Fatalf("%v with f %v after %d iterations", r.Status, r.F, r.Iterations)
		}
	})
}

// Claim: the observer sees the start and every iteration, consistent with the
// objective; its ErrStop ends the run without an error, another error with it.
func TestObserver(t *testing.T) {
	obj := rosenbrock(4)
	grad := make([]float64, 4)
	next := 0
	observe := func(stop error) func(Iteration) error {
		next = 0
		return func(it Iteration) error {
			f := obj.Eval(it.X, grad)
			if it.Number != next || it.F != f || it.GradNorm != norm(grad) || it.Evaluations <= it.Number {
				t.Errorf("iteration %+v, expected number %d, f %v, ‖g‖ %v", it, next, f, norm(grad))
			}
			if (it.Step == 0) != (it.Number == 0) {
				t.Errorf("iteration %d: step %v", it.Number, it.Step)
			}
			next++
			if it.Number == 6 {
				return stop
			}
			return nil
		}
	}
	start := []float64{-1, 1, -1, 1}
	r := minimize(t, LBFGS{Observe: observe(nil)}, obj, start)
	if next != r.Iterations+1 {
		t.Errorf("%d observations of %d iterations", next, r.Iterations)
	}
	r = minimize(t, LBFGS{Observe: observe(fmt.Errorf("enough: %w", ErrStop))}, obj, start)
	if r.Status != Stopped || r.Iterations != 6 {
		t.Errorf("%v after %d iterations, expected 6", r.Status, r.Iterations)
	}
	broken := errors.New("broken")
	r, err := LBFGS{Observe: observe(broken)}.Minimize(context.Background(), obj, start)
	if !errors.Is(err, broken) || r == nil || r.Iterations != 6 {
		t.Errorf("result %+v, error %v", r, err)
	}
}

// Claim: iterations allocate nothing: a run of 60 allocates as much as one of 5.
func TestIterationsDoNotAllocate(t *testing.T) {
	obj := rosenbrock(60)
	x0 := make([]float64, obj.dim)
	allocs := func(iterations int) float64 {
		l := LBFGS{MaxIterations: iterations, Memory: 7, FunctionTolerance: -1, Observe: func(Iteration) error { return nil }}
		l.Checkpoint = func(*LBFGSState) error { return nil }
		return testing.AllocsPerRun(5, func() {
			if r := minimize(t, l, obj, x0); r.Iterations != iterations {
				t.Fatal(r.Iterations)
			}
		})
	}
	if few, many := allocs(5), allocs(60); few != many {
		t.Errorf("%v allocations in 5 iterations, %v in 60", few, many)
	}
}

func BenchmarkLogistic(b *testing.B) {
	obj := randomLogistic(1, 500, 45, 1)
	for b.Loop() {
		r := minimize(b, LBFGS{StrongConvexity: 2}, obj, make([]float64, obj.dim))
		b.ReportMetric(float64(r.Evaluations), "evaluations")
	}
}
