// Package transform changes features one by one before a query is normalized. Steps are learned from training
// data, stored as numbers in the model, and applied in the same way wherever the model scores.
//
//	fill      a missing value (NaN) becomes a number
//	clip      min(max(x, low), high)
//	log1p     sign(x)·log(1 + |x|)
//	standard  (x − mean)/deviation
//
// Start reading at [Step] and [Pipeline]. A [Spec] describes a step before [Learn] learns it. The package must
// not know models or files.
//
// Every step maps a float32 to the float32 nearest to the exact result. So one chain with two steps gives the
// same bits as two chains with one step each. Every step is non-decreasing. So a tree's threshold on a
// transformed feature corresponds to a threshold on the feature itself ([Chain.Largest]).
package transform

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Step is one step for one feature: a [Fill], a [Clip], a [Log1p] or a [Standard]. Steps are comparable
// values.
type Step interface {
	// Apply returns the transformed value. For a finite value it is finite: beyond the range of float32 it is
	// the largest number of the same sign. A missing value, NaN, stays NaN, except with Fill.
	Apply(x float32) float32

	// Name returns the name of the step on the command line and in model files.
	Name() string

	// affine returns slope and intercept if the step is affine on [low, high]. Slope 0 means that it maps the
	// interval to one number.
	affine(low, high float64) (slope, intercept float64, ok bool)

	// check returns an error if the numbers of the step are invalid.
	check() error
}

// Fill replaces a missing value by Value. It does not change other values.
type Fill struct{ Value float64 }

// Clip maps x to min(max(x, Low), High). If there is only one bound, the other is ±[Unbounded].
type Clip struct{ Low, High float64 }

// Log1p maps x to sign(x)·log(1 + |x|).
type Log1p struct{}

// Standard maps x to (x − Mean)/Deviation. If Deviation is 0, the feature was constant in the training data,
// and Standard maps x to 0.
type Standard struct{ Mean, Deviation float64 }

// leastDeviation is the smallest valid divisor. Positive deviations of float32 values are larger.
const leastDeviation = 1e-300

// Unbounded is the largest float32. As a bound it has no effect.
const Unbounded = math.MaxFloat32

// single rounds x to float32. Beyond the range it returns the largest float32 of the same sign.
func single(x float64) float32 {
	switch {
	case x > math.MaxFloat32:
		return math.MaxFloat32
	case x < -math.MaxFloat32:
		return -math.MaxFloat32
	}
	return float32(x)
}

// Name implements Step.
func (Fill) Name() string { return "fill" }

// Name implements Step.
func (Clip) Name() string { return "clip" }

// Name implements Step.
func (Log1p) Name() string { return "log1p" }

// Name implements Step.
func (Standard) Name() string { return "standard" }

// Apply implements Step.
func (s Fill) Apply(x float32) float32 {
	if x != x {
		return single(s.Value)
	}
	return x
}

// Apply implements Step.
func (s Clip) Apply(x float32) float32 {
	switch v := float64(x); {
	case v < s.Low:
		return float32(s.Low)
	case v > s.High:
		return float32(s.High)
	}
	return x
}

// Apply implements Step.
func (Log1p) Apply(x float32) float32 {
	v := float64(x)
	return float32(math.Copysign(elementary.Log1p(math.Abs(v)), v))
}

// Apply implements Step.
func (s Standard) Apply(x float32) float32 {
	if s.Deviation == 0 && x == x {
		return 0
	}
	return single((float64(x) - s.Mean) / s.Deviation)
}

func (Fill) affine(_, _ float64) (slope, intercept float64, ok bool) { return 1, 0, true }

func (s Clip) affine(low, high float64) (slope, intercept float64, ok bool) {
	switch {
	case low >= s.Low && high <= s.High:
		return 1, 0, true
	case high <= s.Low:
		return 0, s.Low, true
	case low >= s.High:
		return 0, s.High, true
	}
	return 0, 0, false
}

func (s Log1p) affine(low, high float64) (slope, intercept float64, ok bool) {
	if low != high {
		return 0, 0, false
	}
	return 0, math.Copysign(elementary.Log1p(math.Abs(low)), low), true
}

func (s Standard) affine(_, _ float64) (slope, intercept float64, ok bool) {
	if s.Deviation == 0 {
		return 0, 0, true
	}
	return 1 / s.Deviation, -s.Mean / s.Deviation, true
}

func (s Fill) check() error { return checkSingle("value", s.Value) }

func (s Clip) check() error {
	if err := checkSingle("low", s.Low); err != nil {
		return err
	}
	if err := checkSingle("high", s.High); err != nil {
		return err
	}
	if s.Low > s.High {
		return fmt.Errorf("found the bounds %g and %g, expected the lower one first", s.Low, s.High)
	}
	return nil
}

func (Log1p) check() error { return nil }

func (s Standard) check() error {
	if err := checkSingle("mean", s.Mean); err != nil {
		return err
	}
	if s.Deviation != 0 && !(s.Deviation >= leastDeviation && s.Deviation <= math.MaxFloat64) {
		return fmt.Errorf("found the deviation %g, expected a finite number of at least %g, or 0", s.Deviation, leastDeviation)
	}
	return nil
}

// checkSingle returns an error if x is not within the range of float32. The argument what describes x in the
// error.
func checkSingle(what string, x float64) error {
	if !(math.Abs(x) <= math.MaxFloat32) {
		return fmt.Errorf("found the %s %g, expected a finite number within the range of float32", what, x)
	}
	return nil
}

// Chain is the list of steps for one feature, in order. nil has no effect.
type Chain []Step

// MaxSteps is the largest number of steps of a feature.
const MaxSteps = 64

// Check returns an error if the chain is invalid: it has more than MaxSteps steps, a nil step, or a step with
// invalid numbers.
func (c Chain) Check() error {
	if len(c) > MaxSteps {
		return fmt.Errorf("found %d steps, expected at most %d", len(c), MaxSteps)
	}
	for i, s := range c {
		if s == nil {
			return fmt.Errorf("step %d: found none, expected one", i+1)
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.Name(), err)
		}
	}
	return nil
}

// Apply returns the transformed value.
func (c Chain) Apply(x float32) float32 {
	for _, s := range c {
		x = s.Apply(x)
	}
	return x
}

// Affine reports whether the chain, up to rounding, maps every x from low to high to slope·x + intercept. low
// and high may be infinite. Missing values are not considered.
func (c Chain) Affine(low, high float64) (slope, intercept float64, ok bool) {
	slope = 1
	for _, s := range c {
		a, b, ok := s.affine(low, high)
		if !ok {
			return 0, 0, false
		}
		if a == 0 {
			slope, intercept, low, high = 0, b, b, b
			continue
		}
		slope, intercept = a*slope, float64(a*intercept)+b
		low, high = float64(a*low)+b, float64(a*high)+b
	}
	return slope, intercept, true
}

// Largest returns the largest float32 that the chain maps to a value of at most t. ok is false if there is
// none. Steps are non-decreasing, so the chain maps exactly the numbers up to this one to values of at most t.
func (c Chain) Largest(t float64) (x float32, ok bool) {
	low, high := ordered(-math.MaxFloat32), ordered(math.MaxFloat32)
	if float64(c.Apply(ofOrdered(low))) > t || math.IsNaN(t) {
		return 0, false
	}
	for low < high { // the result is at most t at low, and greater than t beyond high
		middle := low + (high-low+1)/2
		if float64(c.Apply(ofOrdered(middle))) <= t {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return ofOrdered(low), true
}

// ordered maps float32 numbers to integers of the same order. −0 comes before 0.
func ordered(x float32) uint32 {
	bits := math.Float32bits(x)
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// ofOrdered is the inverse of ordered.
func ofOrdered(o uint32) float32 {
	if o>>31 == 1 {
		return math.Float32frombits(o &^ (1 << 31))
	}
	return math.Float32frombits(^o)
}
