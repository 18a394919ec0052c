package optimize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// hinges is Σ_i max(0, 1 − a_i·x)^p, p being 1 or 2: a support vector machine.
type hinges struct {
	rows    [][]float64
	squared bool
}

func newHinges(seed uint64, n, d int, squared bool) hinges {
	rng := rand.New(rand.NewPCG(seed, 5))
	h := hinges{rows: make([][]float64, n), squared: squared}
	for i := range h.rows {
		h.rows[i] = make([]float64, d)
		for j := range h.rows[i] {
			h.rows[i][j] = rng.NormFloat64() + 0.3
		}
	}
	return h
}

func (h hinges) Dim() int { return len(h.rows[0]) }

func (h hinges) Eval(x, grad []float64) float64 {
	clear(grad)
	var sum float64
	for _, a := range h.rows {
		slack := 1.0
		for j, v := range a {
			slack -= v * x[j]
		}
		if slack <= 0 {
			continue
		}
		factor := 1.0
		if h.squared {
			factor = 2 * slack
			slack *= slack
		}
		sum += slack
		for j, v := range a {
			grad[j] -= factor * v
		}
	}
	return sum
}

// The dual program ends where the Karush-Kuhn-Tucker conditions hold: the
// gradient of D is the same for all variables above 0, and no larger for others.
// Variables come and go as in a bundle, and many are dependent.
func TestSimplexQPIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		d, n := rapid.IntRange(1, 6).Draw(t, "dim"), rapid.IntRange(1, 25).Draw(t, "variables")
		var p simplexQP
		var planes [][]float64
		for i := range n {
			a := make([]float64, d)
			for j := range a {
				a[j] = rng.NormFloat64() * math.Exp(rng.NormFloat64())
			}
			if i > 0 && rng.IntN(4) == 0 {
				copy(a, planes[rng.IntN(len(planes))])
			}
			planes = append(planes, a)
			row := make([]float64, len(planes))
			for k, other := range planes {
				for j := range a {
					row[k] += a[j] * other[j]
				}
			}
			p.add(row, rng.NormFloat64())
			p.solve(1e-10)
			checkKKT(t, &p)
			if rng.IntN(5) == 0 {
				drop, kept := make([]bool, len(planes)), planes[:0]
				for k := range planes {
					if drop[k] = !p.isIn[k] && rng.IntN(2) == 0; !drop[k] {
						kept = append(kept, planes[k])
					}
				}
				planes = kept
				p.remove(drop)
				p.solve(1e-10)
				checkKKT(t, &p)
			}
		}
	})
}

func checkKKT(t *rapid.T, p *simplexQP) {
	sum, least, most, scale := 0.0, math.Inf(1), math.Inf(-1), 1.0
	for k, alpha := range p.alpha {
		if alpha < 0 || (alpha > 0 && !p.isIn[k]) {
			t.Fatalf("alpha[%d] = %v", k, alpha)
		}
		sum += alpha
		gain := p.b[k]
		for i, q := range p.q[k] {
			gain -= q * p.alpha[i]
		}
		scale = max(scale, math.Abs(p.b[k]), p.q[k][k])
		most = max(most, gain)
		if alpha > 0 {
			least = min(least, gain)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Fatalf("alpha sums to %v", sum)
	}
	if most-least > 1e-8*scale {
		t.Fatalf("the gradient is %v at a variable above 0 and %v at another", least, most)
	}
}

// The certificate is true and reached: for the squared hinge against what L-BFGS
// certifies, for the hinge against the minimum over many perturbed points.
func TestCuttingPlaneReachesTheMinimum(t *testing.T) {
	for _, c := range []float64{1e-3, 0.1, 1, 30} {
		for _, squared := range []bool{false, true} {
			risk := newHinges(3, 200, 12, squared)
			got, err := CuttingPlane{C: c, GapTolerance: 1e-8}.Minimize(context.Background(), risk, make([]float64, 12))
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != GapReached {
				t.Errorf("C=%v, squared %v: %v with gap %v of %v after %d iterations", c, squared, got.Status, got.Gap, got.F, got.Iterations)
			}
			full := regularized{risk, c}
			grad := make([]float64, 12)
			if f := full.Eval(got.X, grad); math.Abs(f-got.F) > 1e-12*f {
				t.Errorf("C=%v: claims %v, at its point the objective is %v", c, got.F, f)
			}
			if squared {
				want, err := LBFGS{StrongConvexity: 1, GapTolerance: 1e-10}.Minimize(context.Background(), full, make([]float64, 12))
				if err != nil {
					t.Fatal(err)
				}
				if got.F-got.Gap > want.F+1e-12*want.F || got.F > want.F*(1+2e-8) {
					t.Errorf("C=%v: minimum %v certified within %v, L-BFGS finds %v", c, got.F, got.Gap, want.F)
				}
			}
			checkNoLower(t, full, got)
		}
	}
}

// regularized is ½‖x‖² + c·R(x).
type regularized struct {
	Objective
	c float64
}

func (r regularized) Eval(x, grad []float64) float64 {
	f := r.c * r.Objective.Eval(x, grad)
	for j, v := range x {
		f += v * v / 2
		grad[j] = r.c*grad[j] + v
	}
	return f
}

// checkNoLower looks for points below what the result certifies.
func checkNoLower(t *testing.T, f Objective, r *Result) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	x, grad := make([]float64, len(r.X)), make([]float64, len(r.X))
	for i := range 2000 {
		size := math.Exp(-float64(i % 20))
		for j, v := range r.X {
			x[j] = v + size*rng.NormFloat64()
		}
		if v := f.Eval(x, grad); v < r.F-r.Gap-1e-12*math.Abs(r.F) {
			t.Fatalf("%v at a point near the minimum, which is certified to be at least %v", v, r.F-r.Gap)
		}
	}
}

// F falls and the bound rises from iteration to iteration; an observer can stop
// the run and a context cancel it.
func TestCuttingPlaneProgress(t *testing.T) {
	risk := newHinges(4, 300, 8, false)
	last, gap := math.Inf(1), math.Inf(1)
	solver := CuttingPlane{C: 10, Patience: 5, Observe: func(it Iteration) error {
		if it.F > last || it.Gap > gap {
			t.Errorf("iteration %d: F %v after %v, gap %v after %v", it.Number, it.F, last, it.Gap, gap)
		}
		last, gap = it.F, it.Gap
		return nil
	}}
	start := make([]float64, 8)
	for j := range start {
		start[j] = 3
	}
	want, err := solver.Minimize(context.Background(), risk, start)
	if err != nil || want.Status != GapReached {
		t.Fatalf("%+v, %v", want, err)
	}
	again, err := solver.setObserve(nil).Minimize(context.Background(), risk, start)
	if err != nil || again.F != want.F || again.X[3] != want.X[3] {
		t.Errorf("another run ends at %v, the first at %v (%v)", again.F, want.F, err)
	}
	stopped, err := solver.setObserve(func(it Iteration) error {
		if it.Number == 2 {
			return ErrStop
		}
		return nil
	}).Minimize(context.Background(), risk, start)
	if err != nil || stopped.Status != Stopped || stopped.Iterations != 2 {
		t.Errorf("%+v, %v", stopped, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := solver.setObserve(nil).Minimize(ctx, risk, start); !errors.Is(err, context.Canceled) || r.Status != Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
}

func (c CuttingPlane) setObserve(f func(Iteration) error) CuttingPlane {
	c.Observe = f
	return c
}

func TestCuttingPlaneErrors(t *testing.T) {
	risk := newHinges(1, 5, 2, false)
	nan := []float64{0, math.NaN()}
	for _, c := range []struct {
		solver CuttingPlane
		risk   Objective
		start  []float64
		want   string
	}{
		{CuttingPlane{C: -1}, risk, []float64{0, 0}, "optimize: factor C -1, expected a finite positive number or 0 for 1"},
		{CuttingPlane{MaxIterations: -1}, risk, []float64{0, 0}, "optimize: iteration limit -1, expected a positive number or 0 for the default"},
		{CuttingPlane{Patience: -1}, risk, []float64{0, 0}, "optimize: patience -1, expected a positive number or 0 for the default"},
		{CuttingPlane{GapTolerance: math.NaN()}, risk, []float64{0, 0}, "optimize: gap tolerance NaN, expected a number"},
		{CuttingPlane{}, risk, []float64{0}, "optimize: start of 1 variables, expected the objective's 2"},
		{CuttingPlane{}, risk, nan, "optimize: start: x[1] is NaN, expected a finite number"},
		{CuttingPlane{}, hinges{rows: [][]float64{nan}}, []float64{1, 1}, "optimize: the risk is NaN or its subgradient not finite, expected finite numbers"},
	} {
		r, err := c.solver.Minimize(context.Background(), c.risk, c.start)
		if r != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v, error %v, want %s", r, err, c.want)
		}
	}
}
