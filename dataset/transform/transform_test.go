package transform_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset/transform"
)

// drawStep draws a step that a model may have.
func drawStep(t *rapid.T) transform.Step {
	number := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64Range(-3e38, 3e38), rapid.SampledFrom([]float64{0, 1, -1, 1e-30}))
	switch rapid.IntRange(0, 3).Draw(t, "step") {
	case 0:
		a, b := number.Draw(t, "low"), number.Draw(t, "high")
		return transform.Clip{Low: min(a, b), High: max(a, b)}
	case 1:
		return transform.Log1p{}
	case 2:
		deviation := math.Abs(number.Draw(t, "deviation"))
		if deviation < 1e-300 {
			deviation = 0 // New refuses what is between
		}
		return transform.Standard{Mean: number.Draw(t, "mean"), Deviation: deviation}
	}
	return transform.Fill{Value: number.Draw(t, "value")}
}

func drawChain(t *rapid.T) transform.Chain {
	return rapid.SliceOfN(rapid.Custom(drawStep), 0, 4).Draw(t, "chain")
}

var finite = rapid.OneOf(rapid.Float32Range(-20, 20), rapid.Float32(), rapid.SampledFrom([]float32{0, 1, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32})).
	Filter(func(x float32) bool { return x-x == 0 })

// Finite stays finite, what is missing stays missing unless it is filled in, and of two
// numbers the larger one is never made the smaller one.
func TestStepsKeepFiniteAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		x, y := finite.Draw(t, "x"), finite.Draw(t, "y")
		fx, fy := c.Apply(min(x, y)), c.Apply(max(x, y))
		if fx-fx != 0 || fy-fy != 0 {
			t.Fatalf("%v makes %v of %v, and %v of %v", c, fx, min(x, y), fy, max(x, y))
		}
		if fx > fy {
			t.Fatalf("%v makes %v of %v but %v of %v", c, fx, min(x, y), fy, max(x, y))
		}
		fills := slices.ContainsFunc(c, func(s transform.Step) bool { _, ok := s.(transform.Fill); return ok })
		if v := c.Apply(float32(math.NaN())); (v == v) != fills {
			t.Fatalf("%v makes %v of a missing value", c, v)
		}
	})
}

// The steps against their formulas in float64.
func TestFormulas(t *testing.T) {
	for _, c := range []struct {
		step transform.Step
		x    float32
		want float64
	}{
		{transform.Clip{Low: -1, High: 2}, 5, 2},
		{transform.Clip{Low: -1, High: 2}, -5, -1},
		{transform.Clip{Low: -1, High: 2}, 0.5, 0.5},
		{transform.Clip{Low: -transform.Unbounded, High: 2}, -5, -5},
		{transform.Log1p{}, 9, math.Log(10)},
		{transform.Log1p{}, -9, -math.Log(10)},
		{transform.Log1p{}, 0, 0},
		{transform.Standard{Mean: 3, Deviation: 2}, 4, 0.5},
		{transform.Standard{Mean: 3, Deviation: 0}, 4, 0},
		{transform.Standard{Mean: 0, Deviation: 1e-300}, 4, math.MaxFloat32},
		{transform.Fill{Value: 7}, 4, 4},
		{transform.Fill{Value: 7}, float32(math.NaN()), 7},
	} {
		if got := c.step.Apply(c.x); got != float32(c.want) {
			t.Errorf("%s %+v of %v is %v, expected %v", c.step.Name(), c.step, c.x, got, c.want)
		}
	}
}

// A chain is at most t exactly up to Largest.
func TestLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		at := float64(c.Apply(finite.Draw(t, "of")))
		if rapid.Bool().Draw(t, "elsewhere") {
			at = rapid.Float64Range(-1e39, 1e39).Draw(t, "t")
		}
		last, ok := c.Largest(at)
		x := finite.Draw(t, "x")
		if got, want := float64(c.Apply(x)) <= at, ok && x <= last; got != want {
			t.Fatalf("%v of %v is %v: at most %v is %v, but Largest is %v, %v", c, x, c.Apply(x), at, got, last, ok)
		}
	})
	if _, ok := (transform.Chain{}).Largest(math.NaN()); ok {
		t.Error("something is at most NaN")
	}
}

// Where Affine says so, the chain is slope·x + intercept; and where no value of the range
// is clipped or put on a logarithmic scale, Affine says so.
func TestAffine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Float64Range(-10, 10)
		var c transform.Chain
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				a, b := small.Draw(t, "a"), small.Draw(t, "b")
				c = append(c, transform.Clip{Low: min(a, b), High: max(a, b)})
			case 1:
				c = append(c, transform.Log1p{})
			case 2:
				c = append(c, transform.Standard{Mean: small.Draw(t, "mean"), Deviation: rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(t, "deviation")})
			case 3:
				c = append(c, transform.Fill{Value: 1})
			}
		}
		a, b := small.Draw(t, "from"), small.Draw(t, "to")
		low, high := min(a, b), max(a, b)
		slope, intercept, ok := c.Affine(low, high)
		x := float32(rapid.Float64Range(low, high).Draw(t, "x"))
		if !ok || float64(x) < low || float64(x) > high {
			return
		}
		if got, want := float64(c.Apply(x)), slope*float64(x)+intercept; math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
			t.Fatalf("%v of %v is %v, but %v·x + %v is %v", c, x, got, slope, intercept, want)
		}
	})
	for _, c := range []struct {
		chain transform.Chain
		ok    bool
	}{
		{nil, true},
		{transform.Chain{transform.Standard{Mean: 5, Deviation: 2}, transform.Fill{Value: 3}}, true},
		{transform.Chain{transform.Clip{Low: -100, High: 100}}, false},
		{transform.Chain{transform.Log1p{}}, false},
		{transform.Chain{transform.Standard{Mean: 5}, transform.Log1p{}}, true}, // a constant
	} {
		if _, _, ok := c.chain.Affine(math.Inf(-1), math.Inf(1)); ok != c.ok {
			t.Errorf("Affine of %v everywhere is %v, expected %v", c.chain, ok, c.ok)
		}
	}
}

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, s := range []transform.Step{
		nil, transform.Clip{Low: 2, High: 1}, transform.Clip{Low: nan, High: 1}, transform.Clip{Low: 0, High: inf}, transform.Clip{Low: -inf, High: 0},
		transform.Standard{Mean: nan, Deviation: 1}, transform.Standard{Deviation: nan}, transform.Standard{Deviation: -1}, transform.Standard{Deviation: inf},
		transform.Standard{Deviation: 5e-324}, transform.Standard{Mean: 1e300, Deviation: 1}, transform.Fill{Value: nan}, transform.Fill{Value: 1e39},
	} {
		if _, err := transform.New(map[int]transform.Chain{2: {s}}); err == nil || !strings.Contains(err.Error(), "feature 3: step 1") {
			t.Errorf("%#v: %v", s, err)
		}
	}
	if _, err := transform.New(map[int]transform.Chain{0: make(transform.Chain, transform.MaxSteps+1)}); err == nil {
		t.Error("too many steps were accepted")
	}
	if _, err := transform.New(map[int]transform.Chain{-1: {transform.Log1p{}}}); err == nil {
		t.Error("feature -1 was accepted")
	}
	if p, err := transform.New(map[int]transform.Chain{3: nil}); p != nil || err != nil {
		t.Errorf("no steps are %v, %v", p, err)
	}
}

// Apply is every feature's chain, one by one; ApplyFrom is so from a feature on.
func TestPipelineApplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chains := rapid.MapOfN(rapid.IntRange(0, 5), rapid.Custom(drawChain), 0, 4).Draw(t, "chains")
		p, err := transform.New(chains)
		if err != nil {
			t.Fatal(err)
		}
		features, from := rapid.IntRange(1, 6).Draw(t, "features"), rapid.IntRange(0, 6).Draw(t, "from")
		x := rapid.SliceOfN(finite, 2*features, 2*features).Draw(t, "x")
		got, part := slices.Clone(x), slices.Clone(x[:features])
		p.Apply(got, features)
		p.ApplyFrom(part, from)
		for i, v := range x {
			want := chains[i%features].Apply(v)
			if got[i] != want {
				t.Fatalf("value %d of %v became %v, expected %v", i, x, got[i], want)
			}
			if i < features && i < from {
				want = v
			}
			if i < features && part[i] != want {
				t.Fatalf("from %d, value %d of %v became %v, expected %v", from, i, x, part[i], want)
			}
		}
		for j := range 7 {
			if !slices.Equal(p.Chain(j), chains[j]) {
				t.Fatalf("feature %d has %v, expected %v", j, p.Chain(j), chains[j])
			}
		}
		again, _ := transform.New(chains)
		if !p.Equal(again) || p != nil && p.Equal(nil) {
			t.Fatal("not equal to itself, or equal to nothing")
		}
	})
}
