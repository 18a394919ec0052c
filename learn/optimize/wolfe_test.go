package optimize

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/internal/kernel"
	"pgregory.net/rapid"
)

// Claim: every accepted step on smooth functions meets the strong Wolfe
// conditions, computed here from the iterates alone, up to rounding.
func TestStepsMeetTheStrongWolfeConditions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := drawRand(t)
		n := rapid.IntRange(2, 8).Draw(t, "n")
		obj := []func() function{
			func() function { return rosenbrock(n) },
			func() function { return randomLogistic(rng.Uint64(), 30, n, 1) },
			func() function {
				eigen := make([]float64, n)
				for i := range eigen {
					eigen[i] = math.Pow(10, 6*rng.Float64()-3)
				}
				return quadratic(eigen, normals(rng, n), normals(rng, n), 1)
			},
		}[rapid.IntRange(0, 2).Draw(t, "kind")]()
		scale := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "scale"))
		x0 := normals(rng, n)
		for i := range x0 {
			x0[i] *= scale
		}
		checkWolfe(t, obj, x0)
	})
}

func checkWolfe(t *rapid.T, obj function, x0 []float64) {
	var x, g []float64
	var f float64
	steps, evaluations := 0, 0
	l := LBFGS{MaxIterations: 60, Observe: func(it Iteration) error {
		grad := make([]float64, obj.dim)
		obj.Eval(it.X, grad)
		if it.Number > 0 {
			steps++
			// The move is step·direction, so slopes along it are slopes along
			// the direction times the step.
			var before, after float64
			for i := range x {
				before += g[i] * (it.X[i] - x[i])
				after += grad[i] * (it.X[i] - x[i])
			}
			rounding := 1e-13 * math.Max(1, math.Abs(f)) // noise in values; slopes lose a little more
			if it.F > f+1e-4*before+rounding {
				t.Fatalf("iteration %d: f %v → %v with slope %v: no sufficient decrease", it.Number, f, it.F, before)
			}
			// A search that found no strong-Wolfe point within its patience may
			// take one that just lowers the value.
			if it.Evaluations-evaluations <= patience && math.Abs(after) > 0.9*math.Abs(before)*(1+1e-6)+10*rounding {
				t.Fatalf("iteration %d: slope %v → %v: too steep", it.Number, before, after)
			}
		}
		x, g, f, evaluations = slices.Clone(it.X), grad, it.F, it.Evaluations
		return nil
	}}
	if _, err := l.Minimize(context.Background(), obj, x0); err != nil || (steps == 0 && norm(g) > 1e-6) {
		t.Fatalf("%d steps, %v", steps, err)
	}
}

// Claim: cubicMinimum finds the local minimum of cubics, by the derivative's
// other form: with p(t) = t³/3 − a²t the minimum is at a.
func TestCubicMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0.1, 10).Draw(t, "a")
		at := func(s float64) point { return point{s, s*s*s/3 - a*a*s + 5, s*s - a*a} }
		u := rapid.Float64Range(-5, 15).Draw(t, "u")
		v := rapid.Float64Range(-5, 15).Draw(t, "v")
		if math.Abs(u-v) < 0.1 {
			t.Skip("too near")
		}
		if math.Abs(u+v+2*a) < 0.1 {
			t.Skip("the formula divides by nearly 0, as the difference of the slopes is that of the roots")
		}
		if got := cubicMinimum(at(u), at(v)); math.Abs(got-a) > 1e-6*(1+a) {
			t.Fatalf("minimum at %v, expected %v", got, a)
		}
	})
	if got := cubicMinimum(point{0, 0, 1}, point{1, 2, 4}); !math.IsNaN(got) {
		t.Errorf("minimum %v of t³ + t, which has none", got)
	}
}

func TestInside(t *testing.T) {
	for _, c := range []struct{ v, a, b, want float64 }{
		{2, 1, 3, 2}, {0, 1, 3, 1}, {5, 1, 3, 3}, {5, 3, 1, 3}, {0, 3, 1, 1}, {math.NaN(), 1, 3, 2}, {math.Inf(1), 1, 3, 3},
	} {
		if got := inside(c.v, c.a, c.b); got != c.want {
			t.Errorf("inside(%v, %v, %v) = %v, expected %v", c.v, c.a, c.b, got, c.want)
		}
	}
}

// Claim: the two-loop recursion gives −H∇f with H built up by the BFGS formula as
// a matrix.
func TestDirectionAgainstMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := drawRand(t)
		n, m := rapid.IntRange(1, 6).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "m")
		count := rapid.IntRange(1, 9).Draw(t, "pairs")
		r := newLBFGSRun(context.Background(), LBFGS{Memory: m}, rosenbrock(n))
		var s, y [][]float64
		for range count {
			for i := range n {
				r.trialX[i], r.trialGrad[i] = rng.NormFloat64(), 0
				r.trialGrad[i] = r.trialX[i]*math.Exp(rng.NormFloat64()) + 0.1*rng.NormFloat64()
			}
			kept := usable(kernel.Dot(r.trialX, r.trialGrad), kernel.Dot(r.trialGrad, r.trialGrad))
			r.remember() // st.X and st.Grad are zero, so the pair is the trial point
			if kept {
				s, y = append(s, slices.Clone(r.trialX)), append(y, slices.Clone(r.trialGrad))
			}
		}
		s, y = s[max(0, len(s)-m):], y[max(0, len(y)-m):]
		if len(r.st.s) != len(s) {
			t.Fatalf("%d pairs kept, expected %d", len(r.st.s), len(s))
		}
		copy(r.st.Grad, normals(rng, n))
		slope := r.direction()
		want := bfgsDirection(s, y, r.st.Grad)
		size := norm(want)
		if distance(r.dir, want) > 1e-8*size {
			t.Fatalf("direction %v, expected %v", r.dir, want)
		}
		if math.Abs(slope-kernel.Dot(want, r.st.Grad)) > 1e-8*size*norm(r.st.Grad) || slope >= 0 {
			t.Fatalf("slope %v", slope)
		}
	})
}

// bfgsDirection returns −Hg with H as a full matrix.
func bfgsDirection(s, y [][]float64, g []float64) []float64 {
	n := len(g)
	h := make([][]float64, n)
	gamma := 1.0
	if k := len(s) - 1; k >= 0 {
		gamma = kernel.Dot(s[k], y[k]) / kernel.Dot(y[k], y[k])
	}
	for i := range h {
		h[i] = make([]float64, n)
		h[i][i] = gamma
	}
	for k := range s {
		rho := 1 / kernel.Dot(s[k], y[k])
		// Expanded: H − ρ(s(Hy)ᵀ + (Hy)sᵀ) + (ρ²yᵀHy + ρ)ssᵀ.
		hy := make([]float64, n)
		for i := range h {
			hy[i] = kernel.Dot(h[i], y[k])
		}
		c := rho*rho*kernel.Dot(y[k], hy) + rho
		for i := range h {
			for j := range h {
				h[i][j] += c*s[k][i]*s[k][j] - rho*(s[k][i]*hy[j]+hy[i]*s[k][j])
			}
		}
	}
	d := make([]float64, n)
	for i := range h {
		d[i] = -kernel.Dot(h[i], g)
	}
	return d
}
