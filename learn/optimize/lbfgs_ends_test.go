package optimize

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Claim: the search backs off from points where the function is not finite.
func TestNonFiniteRegions(t *testing.T) {
	// x − log x has its minimum 1 at 1 and no value for x ≤ 0.
	barrier := func(outside float64) function {
		return function{1, func(x, grad []float64) float64 {
			if x[0] <= 0 {
				grad[0] = math.NaN()
				return outside
			}
			grad[0] = 1 - 1/x[0]
			return x[0] - math.Log(x[0])
		}}
	}
	for _, outside := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0} {
		for _, x0 := range []float64{1e-6, 0.3, 0.999, 50} {
			r := minimize(t, LBFGS{}, barrier(outside), []float64{x0})
			if !r.Status.Converged() || math.Abs(r.X[0]-1) > 1e-4 {
				t.Errorf("outside %v, start %v: %v at %v", outside, x0, r.Status, r.X)
			}
		}
	}
	// A start whose every neighbour is bad must end, too.
	needle := function{2, func(x, grad []float64) float64 {
		grad[0], grad[1] = 1, 1
		if x[0] == 0 {
			return 3
		}
		return math.NaN()
	}}
	if r := minimize(t, LBFGS{}, needle, []float64{0, 0}); r.Status != SearchStalled || r.F != 3 || r.X[0] != 0 {
		t.Errorf("needle: %v at %v", r.Status, r.X)
	}
}

// Claim: a start that is not finite is an error that names what is not.
func TestBadStart(t *testing.T) {
	nan := math.NaN()
	constant := func(f, g float64) function {
		return function{2, func(_, grad []float64) float64 { grad[0], grad[1] = 0, g; return f }}
	}
	for _, c := range []struct {
		obj  function
		x0   []float64
		want string
	}{
		{constant(nan, 0), []float64{0, 0}, "the objective is NaN at the start"},
		{constant(math.Inf(-1), 0), []float64{0, 0}, "the objective is -Inf at the start"},
		{constant(0, nan), []float64{0, 0}, "gradient[1] is NaN at the start"},
		{constant(0, 1e200), []float64{0, 0}, "square overflows"},
		{constant(0, 0), []float64{0, math.Inf(1)}, "start: x[1] is +Inf"},
		{constant(0, 0), []float64{0}, "start of 1 variables, expected the objective's 2"},
		{constant(0, 0), nil, "start of 0 variables, expected the objective's 2"},
	} {
		if _, err := (LBFGS{}).Minimize(context.Background(), c.obj, c.x0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, expected %q", err, c.want)
		}
	}
}

// Claim: settings without meaning are errors.
func TestBadSettings(t *testing.T) {
	for _, l := range []LBFGS{
		{Memory: -1}, {MaxIterations: -1}, {Resumption: Resumption[LBFGSState]{CheckpointEvery: -1}}, {GradientTolerance: math.NaN()},
		{FunctionTolerance: math.NaN()}, {GapTolerance: math.NaN()}, {StrongConvexity: -1},
		{StrongConvexity: math.NaN()}, {StrongConvexity: math.Inf(1)},
	} {
		if _, err := l.Minimize(context.Background(), rosenbrock(2), []float64{0, 0}); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%+v: error %v", l, err)
		}
	}
}

// Claim: no variables, one variable, flat functions and a start at the minimum
// end at once.
func TestTrivialProblems(t *testing.T) {
	flat := func(n int) function {
		return function{n, func(_, grad []float64) float64 { clear(grad); return 7 }}
	}
	square := quadratic([]float64{2}, []float64{3}, []float64{1}, 1)
	for _, c := range []struct {
		name string
		obj  function
		x0   []float64
		f    float64
	}{
		{"no variables", flat(0), nil, 7},
		{"flat", flat(3), []float64{1, 2, 3}, 7},
		{"start at the minimum", square, []float64{3}, 1},
	} {
		for _, mu := range []float64{0, 1} {
			r := minimize(t, LBFGS{StrongConvexity: mu}, c.obj, c.x0)
			if !r.Status.Converged() || r.F != c.f || r.Iterations != 0 || r.Evaluations != 1 || len(r.X) != c.obj.dim {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
	if r := minimize(t, LBFGS{}, square, []float64{-1e3}); math.Abs(r.X[0]-3) > 1e-6 || r.Iterations > 3 {
		t.Errorf("one variable: %+v", r)
	}
}

// Claim: a plateau (gradient zero off the minimum) and a linear function without
// a minimum end without an error.
func TestNoMinimum(t *testing.T) {
	linear := function{2, func(x, grad []float64) float64 { grad[0], grad[1] = 1, -2; return x[0] - 2*x[1] }}
	r := minimize(t, LBFGS{MaxIterations: 50, GradientTolerance: -1}, linear, []float64{0, 0})
	if r.F > -1e6 {
		t.Errorf("linear: %+v", r)
	}
	exponential := function{1, func(x, grad []float64) float64 { grad[0] = math.Exp(x[0]); return grad[0] }}
	if r := minimize(t, LBFGS{}, exponential, []float64{0}); !r.Status.Converged() || r.X[0] > -5 {
		t.Errorf("exponential: %+v", r)
	}
}

// Claim: each stopping rule ends the run where it says, and a tolerance beyond
// what rounding allows ends it as stalled, not at the iteration limit.
func TestStoppingRules(t *testing.T) {
	obj := randomLogistic(1, 100, 8, 10)
	x0 := make([]float64, obj.dim)
	never := LBFGS{GradientTolerance: -1, FunctionTolerance: -1, GapTolerance: -1}
	with := func(change func(*LBFGS)) LBFGS { l := never; change(&l); return l }
	for _, c := range []struct {
		l    LBFGS
		want Status
	}{
		{with(func(l *LBFGS) { l.GradientTolerance = 1e-3 }), GradientSmall},
		{with(func(l *LBFGS) { l.FunctionTolerance = 1e-3 }), DecreaseSmall},
		{with(func(l *LBFGS) { l.StrongConvexity, l.GapTolerance = 0.2, 1e-3 }), GapReached},
		{with(func(l *LBFGS) { l.MaxIterations = 4 }), IterationLimit},
		{never, SearchStalled},
		{with(func(l *LBFGS) { l.StrongConvexity, l.GapTolerance = 0.2, 1e-40 }), SearchStalled},
	} {
		r := minimize(t, c.l, obj, x0)
		if r.Status != c.want {
			t.Errorf("%v after %d iterations (f %v, ‖g‖ %v, gap %v), expected %v", r.Status, r.Iterations, r.F, r.GradNorm, r.Gap, c.want)
		}
		scale := math.Max(1, r.F)
		if (c.want == GradientSmall && r.GradNorm > 1e-3*scale) || (c.want == GapReached && r.Gap > 1e-3*scale) ||
			(c.want == IterationLimit && r.Iterations != 4) {
			t.Errorf("%v with %+v", c.want, r)
		}
		if c.want == SearchStalled {
			t.Logf("stalled after %d iterations, %d evaluations with ‖g‖ %v", r.Iterations, r.Evaluations, r.GradNorm)
		}
	}
}

func TestStatusString(t *testing.T) {
	seen := map[string]bool{}
	for s := GapReached; s <= Cancelled; s++ {
		if text := s.String(); strings.HasPrefix(text, "status") || seen[text] {
			t.Errorf("status %d is %q", int(s), text)
		}
		seen[s.String()] = true
	}
	if got := Status(99).String(); got != "status 99" {
		t.Errorf("unknown status is %q", got)
	}
}
