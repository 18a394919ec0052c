package optimize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// HessianTimes is the generalised Hessian of ½‖x‖² + c·Σ max(0, 1 − a_i·x)², or that
// of the rounded hinges.
func (p *svm) HessianTimes(dst, v []float64) {
	copy(dst, v)
	for i, a := range p.rows {
		var dot float64
		for j := range a {
			dot += a[j] * v[j]
		}
		for j := range a {
			dst[j] += p.curvature[i] * dot * a[j]
		}
	}
}

// svm is ½‖x‖² + c·Σ h(1 − a_i·x), h being the squared hinge, or where width > 0 the
// hinge rounded off over that width. It remembers the last point.
type svm struct {
	rows      [][]float64
	c, width  float64
	curvature []float64
}

func newSVM(h hinges, c, width float64) *svm {
	return &svm{rows: h.rows, c: c, width: width, curvature: make([]float64, len(h.rows))}
}

func (p *svm) Dim() int { return len(p.rows[0]) }

func (p *svm) Eval(x, grad []float64) float64 {
	f, _ := p.eval(x, grad)
	for j, v := range x {
		f += v * v / 2
		grad[j] += v
	}
	return f
}

// Support is Σ α(1 − a_i·v), α being the slopes at x.
func (p *svm) Support(x, grad []float64) (float64, error) {
	_, slopes := p.eval(x, grad)
	return slopes, nil
}

func (p *svm) eval(x, grad []float64) (f, slopes float64) {
	clear(grad)
	for i, a := range p.rows {
		t := 1.0
		for j, v := range a {
			t -= v * x[j]
		}
		h, slope, curvature := 0.0, 0.0, 0.0
		switch w := p.width; {
		case t <= -w:
		case w == 0:
			h, slope, curvature = t*t, 2*t, 2
		case t < w:
			h, slope, curvature = (t+w)*(t+w)/(4*w), (t+w)/(2*w), 1/(2*w)
		default:
			h, slope = t, 1
		}
		p.curvature[i] = p.c * curvature
		f += p.c * h
		slopes += p.c * slope
		for j, v := range a {
			grad[j] -= p.c * slope * v
		}
	}
	return f, slopes
}

// curvedQuadratic is a quadratic with its Hessian.
type curvedQuadratic struct {
	function
	zero []float64
}

func (q curvedQuadratic) HessianTimes(dst, v []float64) {
	q.eval(v, dst)
	at0 := make([]float64, len(v))
	q.eval(q.zero, at0)
	for i, g := range at0 {
		dst[i] -= g
	}
}

// Newton's method finds the known minimum of quadratics, however their eigenvalues
// are spread, and its certificate is true.
func TestNewtonOnQuadratics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		n := rapid.IntRange(1, 12).Draw(t, "dim")
		eigen, m, reflect, x0 := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			eigen[i] = math.Pow(10, 4*rng.Float64())
			m[i], reflect[i], x0[i] = rng.NormFloat64(), rng.NormFloat64(), 10*rng.NormFloat64()
		}
		q := curvedQuadratic{quadratic(eigen, m, reflect, 3), make([]float64, n)}
		r, err := Newton{StrongConvexity: 1, GapTolerance: 1e-9}.Minimize(context.Background(), q, x0)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != GapReached || r.F-3 > r.Gap+1e-12 || r.F-3 > 3.1e-9 {
			t.Fatalf("%v at %v, certified within %v after %d iterations; the minimum is 3", r.Status, r.F, r.Gap, r.Iterations)
		}
	})
}

// On squared hinges it ends where L-BFGS does, in far fewer evaluations.
func TestNewtonOnSquaredHinges(t *testing.T) {
	for _, c := range []float64{1e-3, 0.1, 10, 1e4} {
		h := newHinges(7, 300, 15, true)
		start := make([]float64, 15)
		got, err := Newton{StrongConvexity: 1, GapTolerance: 1e-10}.Minimize(context.Background(), newSVM(h, c, 0), start)
		if err != nil {
			t.Fatal(err)
		}
		want, err := LBFGS{StrongConvexity: 1, GapTolerance: 1e-10, Memory: 30}.Minimize(context.Background(), regularized{h, c}, start)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != GapReached || math.Abs(got.F-want.F) > 2e-10*want.F {
			t.Errorf("C=%v: %v at %v, L-BFGS %v at %v", c, got.Status, got.F, want.Status, want.F)
		}
		if got.Evaluations > 30 {
			t.Errorf("C=%v: %d evaluations, L-BFGS %d", c, got.Evaluations, want.Evaluations)
		}
		checkNoLower(t, regularized{h, c}, got)
	}
}

// On hinges with kinks, smoothing and cutting planes certify the same minimum.
func TestSmoothingAgreesWithCuttingPlanes(t *testing.T) {
	for _, c := range []float64{1e-3, 0.1, 10, 1e4} {
		h := newHinges(9, 300, 12, false)
		start := make([]float64, 12)
		stages, last := 0, math.Inf(1)
		got, err := Smoothing{GapTolerance: 1e-8, Observe: func(it Iteration) error {
			stages++
			if it.F > last {
				t.Errorf("C=%v: F rose from %v to %v", c, last, it.F)
			}
			last = it.F
			return nil
		}}.Minimize(context.Background(), regularized{h, c}, func(width float64) (Rounded, error) { return newSVM(h, c, width), nil }, start)
		if err != nil {
			t.Fatal(err)
		}
		want, err := CuttingPlane{C: c, GapTolerance: 1e-8}.Minimize(context.Background(), h, start)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != GapReached || got.F-got.Gap > want.F || want.F-want.Gap > got.F {
			t.Errorf("C=%v: %v at %v within %v, cutting planes %v at %v within %v", c, got.Status, got.F, got.Gap, want.Status, want.F, want.Gap)
		}
		if f := (regularized{h, c}).Eval(got.X, make([]float64, 12)); f != got.F || stages < 2 {
			t.Errorf("C=%v: claims %v after %d stages, at its point F is %v", c, got.F, stages, f)
		}
		checkNoLower(t, regularized{h, c}, got)
	}
}

// An observer can stop the run, a context cancel it, and limits end it.
func TestNewtonEnds(t *testing.T) {
	h, start := newHinges(5, 100, 6, true), make([]float64, 6)
	second := func(it Iteration) error {
		if it.Number >= 1 {
			return ErrStop
		}
		return nil
	}
	rounded := func(width float64) (Rounded, error) { return newSVM(h, 1, width), nil }
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	broken := errors.New("broken")
	exact := regularized{hinges{rows: h.rows}, 1}
	newton := func(ctx context.Context, n Newton) (*Result, error) {
		return n.Minimize(ctx, newSVM(h, 1, 0), start)
	}
	smoothing := func(ctx context.Context, s Smoothing) (*Result, error) {
		return s.Minimize(ctx, exact, rounded, start)
	}
	all := context.Background()
	for _, c := range []struct {
		name string
		run  func() (*Result, error)
		want Status
		err  error
	}{
		{"newton stopped", func() (*Result, error) { return newton(all, Newton{Observe: second}) }, Stopped, nil},
		{"newton failed", func() (*Result, error) { return newton(all, Newton{Observe: func(Iteration) error { return broken }}) }, Stopped, broken},
		{"newton cancelled", func() (*Result, error) { return newton(ctx, Newton{}) }, Cancelled, context.Canceled},
		{"newton limited", func() (*Result, error) { return newton(all, Newton{MaxIterations: 1, GapTolerance: -1}) }, IterationLimit, nil},
		{"newton gradient", func() (*Result, error) { return newton(all, Newton{}) }, GradientSmall, nil},
		{"smoothing stopped", func() (*Result, error) { return smoothing(all, Smoothing{Observe: second}) }, Stopped, nil},
		{"smoothing failed", func() (*Result, error) {
			return smoothing(all, Smoothing{Observe: func(Iteration) error { return broken }})
		}, Stopped, broken},
		{"smoothing limited", func() (*Result, error) { return smoothing(all, Smoothing{MaxStages: 1}) }, IterationLimit, nil},
		{"smoothing limited too", func() (*Result, error) { return smoothing(all, Smoothing{MaxIterations: 2}) }, IterationLimit, nil},
		{"smoothing to the end", func() (*Result, error) { return smoothing(all, Smoothing{GapTolerance: -1, MaxStages: 100}) }, SearchStalled, nil},
	} {
		r, err := c.run()
		if !errors.Is(err, c.err) || r == nil || r.Status != c.want {
			t.Errorf("%s: %+v, %v; want %v, %v", c.name, r, err, c.want, c.err)
		}
	}
	if r, err := smoothing(ctx, Smoothing{}); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the first stage: %+v, %v", r, err)
	}
}

func TestNewtonErrors(t *testing.T) {
	h := newHinges(1, 5, 2, true)
	nan := hinges{rows: [][]float64{{0, math.NaN()}}}
	rounded := func(width float64) (Rounded, error) { return newSVM(h, 1, width), nil }
	for _, c := range []struct {
		run  func() (*Result, error)
		want string
	}{
		{newtonWith(Newton{MaxIterations: -1}, h, 2), "optimize: iteration limit -1, expected a positive number or 0 for the default"},
		{newtonWith(Newton{MaxProducts: -1}, h, 2), "optimize: limit of products -1, expected a positive number or 0 for the default"},
		{newtonWith(Newton{StrongConvexity: -1}, h, 2), "optimize: strong convexity -1, expected a finite positive number or 0 for unknown"},
		{newtonWith(Newton{GapTolerance: math.NaN()}, h, 2), "optimize: gap tolerance NaN, expected a number"},
		{newtonWith(Newton{GradientTolerance: math.NaN()}, h, 2), "optimize: gradient tolerance NaN, expected a number"},
		{newtonWith(Newton{}, h, 3), "optimize: start of 3 variables, expected the objective's 2"},
		{newtonWith(Newton{}, nan, 2), "optimize: the objective is NaN at the start with a gradient of norm NaN, expected finite numbers"},
		{smoothingWith(Smoothing{Width: -1}, h, rounded, 2), "optimize: width -1, expected a finite positive number or 0 for the default"},
		{smoothingWith(Smoothing{MaxStages: -1}, h, rounded, 2), "optimize: limit of stages -1, expected a positive number or 0 for the default"},
		{smoothingWith(Smoothing{MaxIterations: -1}, h, rounded, 2), "optimize: iteration limit -1, expected a positive number or 0 for the default"},
		{smoothingWith(Smoothing{GapTolerance: math.NaN()}, h, rounded, 2), "optimize: gap tolerance NaN, expected a number"},
		{smoothingWith(Smoothing{}, h, rounded, 1), "optimize: start of 1 variables, expected the objective's 2"},
		{smoothingWith(Smoothing{}, h, func(float64) (Rounded, error) { return nil, errors.New("no stand-in") }, 2), "optimize: stopped after 0 iterations: no stand-in"},
	} {
		r, err := c.run()
		if r != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v, error %v, want %s", r, err, c.want)
		}
	}
}

func newtonWith(n Newton, h hinges, dim int) func() (*Result, error) {
	return func() (*Result, error) {
		return n.Minimize(context.Background(), newSVM(h, 1, 0), make([]float64, dim))
	}
}

func smoothingWith(s Smoothing, h hinges, rounded func(float64) (Rounded, error), dim int) func() (*Result, error) {
	return func() (*Result, error) {
		return s.Minimize(context.Background(), regularized{h, 1}, rounded, make([]float64, dim))
	}
}
