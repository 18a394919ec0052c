package losstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// suite checks one loss on one query.
type suite struct {
	Case
	query
	bound   loss.QueryLoss
	traits  loss.Traits
	scratch loss.Scratch
}

func (s *suite) run(t *testing.T) {
	switch {
	case s.traits.NonGradient:
		if s.traits.ShiftInvariant {
			s.testLambdaSum(t)
		}
	case s.Polyhedral:
		s.testSlopes(t)
	default:
		s.testGradient(t)
	}
	s.testConstant(t)
	s.testDiagonal(t)
	s.testLambdaOnRequest(t)
	s.testConcurrency(t)
	s.testExtremes(t)
	s.testAllocations(t)
	if s.traits.ShiftInvariant {
		s.testShift(t)
	}
	if s.traits.Convex {
		s.testConvexity(t)
	}
	if !s.Sampled {
		s.testPermutation(t)
	}
}

// eval returns value and gradient.
func (s *suite) eval(scores []float64) (value float64, grad []float64) {
	grad = make([]float64, len(scores))
	value = s.bound.Eval(scores, grad, &s.scratch)
	for i := range grad {
		grad[i] = -grad[i]
	}
	return value, grad
}

func (s *suite) value(scores []float64) float64 { return s.bound.Eval(scores, nil, &s.scratch) }

// apart returns random scores whose differences are at least spread/(2n).
func (s *suite) apart(rng *rand.Rand, spread float64) []float64 {
	n := len(s.grades)
	scores := make([]float64, n)
	for i, place := range rng.Perm(n) {
		scores[i] = spread * (float64(place) + rng.Float64()/2) / float64(n)
	}
	return scores
}

// tied returns random scores with at most three different values.
func (s *suite) tied(rng *rand.Rand) []float64 {
	scores := make([]float64, len(s.grades))
	for i := range scores {
		scores[i] = float64(rng.IntN(3)) / 2
	}
	return scores
}

// step is the step of finite differences.
const step = 1e-3

// kinked reports whether finite differences of the loss at x may cross a kink.
func (s *suite) kinked(x []float64) bool {
	for i, a := range x {
		for _, b := range x[:i] {
			for _, kink := range s.Kinks {
				if math.Abs(math.Abs(a-b)-kink) < 3*step {
					return true
				}
			}
		}
	}
	return false
}

// smooth draws points until a point is away from kinks.
func (s *suite) smooth(t *testing.T, draw func() []float64) []float64 {
	for range 10000 {
		x := draw()
		if !s.kinked(x) {
			return x
		}
	}
	t.Fatal("found no point away from kinks")
	return nil
}

// ties returns scores with ties, including a point with equal scores. It omits points near kinks.
func (s *suite) ties(rng *rand.Rand) [][]float64 {
	points := [][]float64{make([]float64, len(s.grades)), s.tied(rng), s.tied(rng)}
	for _, x := range points[1:] {
		for i := 0; i < 100 && s.kinked(x); i++ { // move the scores closer together
			for k := range x {
				x[k] *= 0.97
			}
		}
	}
	return slices.DeleteFunc(points, s.kinked)
}

// testGradient compares λ with fourth-order differences of the loss. It tests ties for smooth losses
// only.
func (s *suite) testGradient(t *testing.T) {
	rng := newRand()
	apart := func(spread float64) []float64 {
		return s.smooth(t, func() []float64 { return s.apart(rng, spread) })
	}
	points := [][]float64{apart(1), apart(3), apart(8)}
	if s.traits.Smooth {
		points = append(points, s.ties(rng)...)
	}
	for _, x := range points {
		before := slices.Clone(x)
		_, grad := s.eval(x)
		if !slices.Equal(x, before) {
			t.Fatalf("Eval changed its scores from %v to %v", before, x)
		}
		for i := range x {
			const h = step
			at := func(d float64) float64 {
				y := slices.Clone(x)
				y[i] += d
				return s.value(y)
			}
			want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			if !near(grad[i], want, 1e-7) {
				t.Errorf("at %v: derivative with respect to score %d is %v, differences say %v", x, i, grad[i], want)
			}
		}
	}
}

// testSlopes compares the derivatives of a convex, piecewise linear loss with differences to both sides,
// which enclose the derivative. Both differences are equal between kinks, where most points are.
func (s *suite) testSlopes(t *testing.T) {
	const h, slack = 1e-5, 1e-7
	rng := newRand()
	kinks, all := 0, 0
	for _, x := range [][]float64{s.apart(rng, 1), s.apart(rng, 3), s.apart(rng, 8)} {
		value, grad := s.eval(x)
		for i := range x {
			at := func(d float64) float64 {
				y := slices.Clone(x)
				y[i] += d
				return s.value(y)
			}
			down, up := (value-at(-h))/h, (at(h)-value)/h
			if room := slack * max(1, math.Abs(down), math.Abs(up)); grad[i] < down-room || grad[i] > up+room {
				t.Errorf("at %v: derivative with respect to score %d is %v, differences say %v to %v",
					x, i, grad[i], down, up)
			}
			if up-down > slack {
				kinks++
			}
			all++
		}
	}
	if kinks > all/3 {
		t.Errorf("%d of %d differences meet a kink, so that they check little", kinks, all)
	}
}

// testLambdaSum tests a shift-invariant loss whose λ is no gradient. λ must sum to zero, also at ties,
// so that it does not move the mean of the scores.
func (s *suite) testLambdaSum(t *testing.T) {
	rng := newRand()
	for _, x := range [][]float64{s.apart(rng, 1), s.apart(rng, 8), make([]float64, len(s.grades)), s.tied(rng)} {
		_, grad := s.eval(x)
		var sum, size float64
		for _, d := range grad {
			sum -= d
			size += math.Abs(d)
		}
		if !(math.Abs(sum) <= 1e-12*size) {
			t.Errorf("at %v: lambda sums to %v, want 0", x, sum)
		}
	}
}

// testLambdaOnRequest tests that Eval overwrites lambda, and that a nil lambda does not change the
// value.
func (s *suite) testLambdaOnRequest(t *testing.T) {
	x := s.apart(newRand(), 4)
	value, grad := s.eval(x)
	if v := s.value(x); !near(v, value, 1e-12) {
		t.Errorf("the value is %v with and %v without lambda", value, v)
	}
	lambda := slices.Repeat([]float64{math.NaN()}, len(x))
	s.bound.Eval(x, lambda, &s.scratch)
	for i, l := range lambda {
		if l != -grad[i] {
			t.Errorf("lambda[%d] = %v after NaN, %v before", i, l, -grad[i])
		}
	}
}

// testConcurrency tests that the same scores give the same bits in several goroutines, with fresh and
// with used scratch.
func (s *suite) testConcurrency(t *testing.T) {
	points := make([][]float64, 8)
	rng := newRand()
	for i := range points {
		points[i] = s.apart(rng, float64(i+1))
	}
	type result struct {
		value float64
		grad  []float64
	}
	want := make([]result, len(points))
	for i, x := range points {
		want[i].value, want[i].grad = s.eval(x)
	}
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			own := suite{Case: s.Case, query: s.query, bound: s.bound}
			for i := range slices.Backward(points) {
				v, grad := own.eval(points[i])
				if v != want[i].value || !slices.Equal(grad, want[i].grad) {
					t.Errorf("evaluated again, the loss is %v, not %v", v, want[i].value)
				}
			}
		})
	}
	wait.Wait()
}

// testExtremes tests that the loss and λ are finite at scores of up to a million in absolute value.
func (s *suite) testExtremes(t *testing.T) {
	rng := newRand()
	for _, size := range []float64{40, 700, 1e6} {
		for _, pattern := range []string{"random", "best", "worst", "equal", "one apart"} {
			x := make([]float64, len(s.grades))
			for i, g := range s.grades {
				switch pattern {
				case "random":
					x[i] = size * float64(1-2*rng.IntN(2))
				case "best":
					x[i] = size * math.Copysign(1, g-0.5)
				case "worst":
					x[i] = size * math.Copysign(1, 0.5-g)
				case "equal":
					x[i] = size
				case "one apart":
					x[i] = size * float64(min(i, 1))
				}
			}
			value, grad := s.eval(x)
			what := fmt.Sprintf("%s scores of %v", pattern, size)
			if !finite(value) {
				t.Errorf("%s: loss %v", what, value)
			}
			for i, d := range grad {
				if !finite(d) {
					t.Errorf("%s: derivative %v with respect to score %d", what, d, i)
				}
			}
		}
	}
}

// testAllocations tests that the second evaluation does not allocate.
func (s *suite) testAllocations(t *testing.T) {
	if raceEnabled {
		return
	}
	x := s.apart(newRand(), 2)
	lambda := make([]float64, len(x))
	var scratch loss.Scratch
	s.bound.Eval(x, lambda, &scratch)
	if n := testing.AllocsPerRun(5, func() { s.bound.Eval(x, lambda, &scratch) }); n != 0 {
		t.Errorf("an evaluation allocates %v times", n)
	}
}

// testShift tests that a constant added to all scores does not change the loss and λ.
func (s *suite) testShift(t *testing.T) {
	x := s.apart(newRand(), 3)
	value, grad := s.eval(x)
	for _, shift := range []float64{0.3, -17, 1000} {
		y := slices.Clone(x)
		for i := range y {
			y[i] += shift
		}
		v, g := s.eval(y)
		if !near(v, value, 1e-9) {
			t.Errorf("scores + %v: loss %v, want %v", shift, v, value)
		}
		s.compare(t, fmt.Sprintf("scores + %v", shift), g, grad, 1e-9)
	}
	var sum float64
	for _, d := range grad {
		sum += d
	}
	if !near(sum, 0, 1e-9) {
		t.Errorf("lambda sums to %v, want 0", -sum)
	}
}

// testConvexity tests that the loss lies above its tangents, including tangents at ties, and below its
// chords.
func (s *suite) testConvexity(t *testing.T) {
	rng := newRand()
	for round := range 30 {
		x, y := s.apart(rng, 6), s.apart(rng, 6)
		if round%3 == 0 {
			x = s.tied(rng)
		}
		fx, grad := s.eval(x)
		fy := s.value(y)
		tangent := fx
		middle := make([]float64, len(x))
		part := rng.Float64()
		for i := range x {
			tangent += grad[i] * (y[i] - x[i])
			middle[i] = (1-part)*x[i] + part*y[i]
		}
		if fy < tangent-1e-9*max(1, math.Abs(fy), math.Abs(tangent)) {
			t.Errorf("at %v the loss is %v, below its tangent's %v from %v", y, fy, tangent, x)
		}
		if chord, f := (1-part)*fx+part*fy, s.value(middle); f > chord+1e-9*max(1, math.Abs(chord)) {
			t.Errorf("between %v and %v the loss is %v, above its chord's %v", x, y, f, chord)
		}
	}
}

// testPermutation tests that the order of documents does not change the loss and λ. It tests a
// NonGradient loss without ties, because λ then depends on how ties are broken.
func (s *suite) testPermutation(t *testing.T) {
	rng := newRand()
	points := [][]float64{s.apart(rng, 3)}
	if !s.traits.NonGradient {
		points = append(points, s.tied(rng), make([]float64, len(s.grades)))
	}
	for _, x := range points {
		value, grad := s.eval(x)
		order := rng.Perm(len(x))
		grades, scores, want := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		var weights []float64
		for to, from := range order {
			grades[to], scores[to], want[to] = s.grades[from], x[from], grad[from]
			if s.weights != nil {
				weights = append(weights, s.weights[from])
			}
		}
		bound, err := s.bind(grades, weights)
		if err != nil {
			t.Errorf("documents in order %v: %v", order, err)
			continue
		}
		other := suite{bound: bound}
		v, g := other.eval(scores)
		if !near(v, value, 1e-11) {
			t.Errorf("documents in order %v: loss %v, want %v", order, v, value)
		}
		s.compare(t, fmt.Sprintf("documents in order %v", order), g, want, 1e-11)
	}
}

func (s *suite) compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	for i := range want {
		if !near(got[i], want[i], tolerance) {
			t.Errorf("%s: derivative with respect to score %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// near reports whether a and b agree to the tolerance, which is relative for numbers above 1.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

func finite(x float64) bool { return x-x == 0 }
