package optimize

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// EvalTerm makes groups of eight hinges the terms of a sum.
func (h hinges) EvalTerm(i int, x, grad []float64) float64 {
	part := h
	part.rows = h.rows[8*i : min(8*i+8, len(h.rows))]
	own := make([]float64, len(x))
	value := part.Eval(x, own)
	for j, g := range own {
		grad[j] += g
	}
	return value
}

func (h hinges) Terms() int { return (len(h.rows) + 7) / 8 }

// Both formulations certify the same minimum, and n-slack takes fewer evaluations.
func TestNSlackReachesTheMinimum(t *testing.T) {
	for _, c := range []float64{1e-3, 0.1, 1, 30, 1000} {
		risk := newHinges(3, 300, 12, false)
		one, err := CuttingPlane{C: c, GapTolerance: 1e-7}.Minimize(context.Background(), risk, make([]float64, 12))
		if err != nil {
			t.Fatal(err)
		}
		many, err := NSlack{C: c, GapTolerance: 1e-7}.Minimize(context.Background(), risk, make([]float64, 12))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("C=%v: one slack %v, %d evaluations; many %v, %d", c, one.F, one.Evaluations, many.F, many.Evaluations)
		if many.Status != GapReached || many.Gap > 1e-7*max(1, many.F) {
			t.Errorf("C=%v: %v with gap %v of %v after %d iterations", c, many.Status, many.Gap, many.F, many.Iterations)
		}
		if many.Evaluations > one.Evaluations || many.Evaluations > 25 {
			t.Errorf("C=%v: %d evaluations of all terms, %d with one slack", c, many.Evaluations, one.Evaluations)
		}
		if lower := max(one.F-one.Gap, many.F-many.Gap); min(one.F, many.F) < lower*(1-1e-12) {
			t.Errorf("C=%v: minima %v and %v, certified to be at least %v", c, one.F, many.F, lower)
		}
		full := regularized{risk, c}
		if f := full.Eval(many.X, make([]float64, 12)); math.Abs(f-many.F) > 1e-12*f {
			t.Errorf("C=%v: claims %v, at its point the objective is %v", c, many.F, f)
		}
		checkNoLower(t, full, many)
	}
}

// The same holds for any small problem: terms that are flat, terms that are the same,
// a start elsewhere, planes dropped at once.
func TestNSlackOnAnyProblem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 40).Draw(t, "hinges"), rapid.IntRange(1, 5).Draw(t, "dim")
		risk := newHinges(rapid.Uint64().Draw(t, "seed"), n, d, rapid.Bool().Draw(t, "squared"))
		for i := range risk.rows {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				clear(risk.rows[i])
			case 1:
				copy(risk.rows[i], risk.rows[0])
			}
		}
		start := make([]float64, d)
		for j := range start {
			start[j] = rapid.Float64Range(-3, 3).Draw(t, "start")
		}
		c := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log C"))
		many, err := NSlack{C: c, Patience: rapid.IntRange(1, 50).Draw(t, "patience")}.Minimize(context.Background(), risk, start)
		if err != nil {
			t.Fatal(err)
		}
		one, err := CuttingPlane{C: c}.Minimize(context.Background(), risk, start)
		if err != nil {
			t.Fatal(err)
		}
		if many.Status != GapReached || math.Abs(many.F-one.F) > 2e-6*max(1, one.F) {
			t.Fatalf("%v at %v certified within %v, with one slack %v at %v within %v", many.Status, many.F, many.Gap, one.Status, one.F, one.Gap)
		}
	})
}

// A variable whose own product is 0 may be the only one above 0.
func TestSimplexQPWithoutCurvature(t *testing.T) {
	var p simplexQP
	p.add([]float64{0}, 3)
	p.solve(1e-12)
	if p.alpha[0] != 1 {
		t.Fatalf("alpha %v, want 1", p.alpha)
	}
	p.add([]float64{0, 4}, 5) // D = 3(1−α) + 5α − 2α²
	p.solve(1e-12)
	if math.Abs(p.alpha[1]-0.5) > 1e-12 {
		t.Errorf("alpha %v, want halves", p.alpha)
	}
}

// Where Q is tiny against b, only b decides; where it is large, only Q.
func TestSimplexQPOfAnyScale(t *testing.T) {
	for _, scale := range []float64{1e-300, 1e-150, 1e-60, 1e-34, 1e34, 1e60, 1e150} {
		var p simplexQP
		p.add([]float64{scale}, 1)
		p.solve(1e-12)
		if p.alpha[0] != 1 {
			t.Fatalf("scale %v: alpha %v, want 1", scale, p.alpha)
		}
		p.add([]float64{0, 4 * scale}, 3)    // D = (1−α) + 3α − ½·scale·((1−α)² + 4α²)
		p.add([]float64{scale, 0, scale}, 1) // as the first
		p.solve(1e-12 * max(1, scale))
		want := 1.0
		if scale > 1 {
			want = 0.2
		}
		if math.Abs(p.alpha[1]-want) > 1e-9 {
			t.Errorf("scale %v: alpha %v, want %v for the second", scale, p.alpha, want)
		}
	}
}

// Bounds rise and values fall; the number of workers changes no bit; a run can be
// stopped and cancelled.
func TestNSlackProgress(t *testing.T) {
	risk := newHinges(4, 300, 8, false)
	last, gap := math.Inf(1), math.Inf(1)
	start := make([]float64, 8)
	start[3] = 2
	solver := NSlack{C: 10, Patience: 5, Workers: 1, Observe: func(it Iteration) error {
		if it.F > last || it.Gap > gap {
			t.Errorf("iteration %d: F %v after %v, gap %v after %v", it.Number, it.F, last, it.Gap, gap)
		}
		last, gap = it.F, it.Gap
		return nil
	}}
	want, err := solver.Minimize(context.Background(), risk, start)
	if err != nil || want.Status != GapReached {
		t.Fatalf("%+v, %v", want, err)
	}
	again, err := NSlack{C: 10, Patience: 5, Workers: 7}.Minimize(context.Background(), risk, start)
	if err != nil || again.F != want.F || !slices.Equal(again.X, want.X) {
		t.Errorf("with other workers it ends at %v, with one at %v (%v)", again.F, want.F, err)
	}
	stop := NSlack{Observe: func(it Iteration) error {
		if it.Number == 2 {
			return ErrStop
		}
		return nil
	}}
	if r, err := stop.Minimize(context.Background(), risk, start); err != nil || r.Status != Stopped || r.Iterations != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := (NSlack{}).Minimize(ctx, risk, start); !errors.Is(err, context.Canceled) || r.Status != Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNSlackErrors(t *testing.T) {
	risk := newHinges(1, 5, 2, false)
	nan := []float64{0, math.NaN()}
	for _, c := range []struct {
		solver NSlack
		risk   Terms
		start  []float64
		want   string
	}{
		{NSlack{C: -1}, risk, []float64{0, 0}, "optimize: factor C -1, expected a finite positive number or 0 for 1"},
		{NSlack{}, risk, []float64{0}, "optimize: start of 1 variables, expected the objective's 2"},
		{NSlack{}, risk, nan, "optimize: start: x[1] is NaN, expected a finite number"},
		{NSlack{}, hinges{rows: [][]float64{nan}}, []float64{1, 1}, "optimize: term 0 is NaN or its subgradient not finite, expected finite numbers"},
	} {
		r, err := c.solver.Minimize(context.Background(), c.risk, c.start)
		if r != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v, error %v, want %s", r, err, c.want)
		}
	}
}

// BenchmarkSlacks compares the two formulations.
func BenchmarkSlacks(b *testing.B) {
	risk := newHinges(3, 2000, 40, false)
	x := make([]float64, 40)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if _, err := (CuttingPlane{GapTolerance: 1e-4}).Minimize(context.Background(), risk, x); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("many", func(b *testing.B) {
		for b.Loop() {
			if _, err := (NSlack{GapTolerance: 1e-4, Workers: 1}).Minimize(context.Background(), risk, x); err != nil {
				b.Fatal(err)
			}
		}
	})
}
