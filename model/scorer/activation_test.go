package scorer

import (
	"math"
	"testing"
)

// formulas are the activations as their definitions say, by the standard library.
var formulas = map[Activation]func(z float64) float64{
	Tanh:    math.Tanh,
	Sigmoid: func(z float64) float64 { return 1 / (1 + math.Exp(-z)) },
	ReLU:    func(z float64) float64 { return max(z, 0) },
	Softplus: func(z float64) float64 {
		return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	},
	ELU: func(z float64) float64 {
		if z > 0 {
			return z
		}
		return math.Expm1(z)
	},
	Identity:  func(z float64) float64 { return z },
	LeakyReLU: func(z float64) float64 { return max(z, z/100) },
}

// Values agree with the definitions to the last digits, and derivatives, which are
// found from the values, with central differences of them.
func TestActivations(t *testing.T) {
	for f, formula := range formulas {
		var z []float64
		for v := -40.0; v <= 40; v += 0.17 {
			z = append(z, v)
		}
		a, slope := append([]float64(nil), z...), make([]float64, len(z))
		f.Apply(a)
		f.Slope(slope, a)
		for i, v := range z {
			if want := formula(v); math.Abs(a[i]-want) > 1e-15*max(1, math.Abs(want)) {
				t.Errorf("%v(%v) = %v, want %v", f, v, a[i], want)
			}
			const h = 1e-4
			if want := (formula(v+h) - formula(v-h)) / (2 * h); math.Abs(slope[i]-want) > 1e-8 {
				t.Errorf("%v'(%v) = %v, differences say %v", f, v, slope[i], want)
			}
		}
	}
}

// Far from 0 the activations take their limits, with derivatives of 0 or 1.
func TestActivationLimits(t *testing.T) {
	for f, want := range map[Activation][2]float64{
		Tanh: {-1, 1}, Sigmoid: {0, 1}, ReLU: {0, 1e300}, Softplus: {0, 1e300}, ELU: {-1, 1e300},
	} {
		a := []float64{-1e300, 1e300}
		f.Apply(a)
		if a[0] != want[0] || a[1] != want[1] {
			t.Errorf("%v of ±1e300 is %v, want %v", f, a, want)
		}
		rising := 0.0
		if want[1] == 1e300 {
			rising = 1
		}
		if f.Slope(a, a); a[0] != 0 || a[1] != rising {
			t.Errorf("%v has the derivatives %v at ±1e300, want 0 and %v", f, a, rising)
		}
	}
}

func TestParseActivation(t *testing.T) {
	names := ActivationNames()
	if len(names) != len(formulas) {
		t.Errorf("%d names of %d activations", len(names), len(formulas))
	}
	for _, name := range names {
		if f, err := ParseActivation(name); err != nil || f.String() != name {
			t.Errorf("%s is read as %v, %v", name, f, err)
		}
	}
	const want = `found the activation "step", expected tanh, sigmoid, relu, softplus, elu, identity, leakyrelu`
	if _, err := ParseActivation("step"); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
