package scorer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/kernel"
)

// Activation is the function f that a unit applies to its input z:
//
//	tanh      (eᶻ − e⁻ᶻ)/(eᶻ + e⁻ᶻ)
//	sigmoid   1/(1 + e⁻ᶻ)
//	relu      max(z, 0)
//	softplus  log(1 + eᶻ)
//	elu       z for z > 0, eᶻ − 1 otherwise
//	identity  z
//	leakyrelu z for z > 0, z/100 otherwise
//
// Derivatives are continuous, except those of relu and leakyrelu at 0. Values have a relative error of
// about 1e-15. For tanh and elu near 0, the absolute error is of this size.
type Activation int

// The activations.
const (
	Tanh Activation = iota
	Sigmoid
	ReLU
	Softplus
	ELU
	Identity
	LeakyReLU
)

// leak is the slope of leakyrelu below 0.
const leak = 0.01

var activationNames = [...]string{"tanh", "sigmoid", "relu", "softplus", "elu", "identity", "leakyrelu"}

// ActivationNames returns the names that ParseActivation accepts.
func ActivationNames() []string { return slices.Clone(activationNames[:]) }

// ParseActivation returns the activation with the given name.
func ParseActivation(name string) (Activation, error) {
	i := slices.Index(activationNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("found the activation %q, expected %s", name, strings.Join(activationNames[:], ", "))
	}
	return Activation(i), nil
}

// String returns the name that ParseActivation accepts.
func (f Activation) String() string { return activationNames[f] }

// Apply replaces every z by f(z). A result does not depend on the other elements.
func (f Activation) Apply(z []float64) {
	switch f {
	case Tanh: // 2σ(2z) − 1
		kernel.Scale(2, z)
		kernel.Logistic(z, z)
		kernel.Scale(2, z)
		addConstant(z, -1)
	case Sigmoid:
		kernel.Logistic(z, z)
	case ReLU:
		for i, v := range z {
			z[i] = max(v, 0)
		}
	case Softplus:
		kernel.Softplus(z, z)
	case ELU:
		applyELU(z)
	case Identity:
	case LeakyReLU:
		for i, v := range z {
			z[i] = max(v, 0) + float64(leak*min(v, 0))
		}
	default:
		panic(fmt.Sprintf("scorer: activation %d", int(f)))
	}
}

// applyELU computes elu(z) as max(z, 0) + (exp(min(z, 0)) − 1). One of the two terms is 0. A buffer
// receives the exponentials of a block, because the sum also needs z.
func applyELU(z []float64) {
	var e [64]float64
	for len(z) > 0 {
		n := min(len(z), len(e))
		for i, v := range z[:n] {
			e[i] = min(v, 0)
		}
		kernel.Exp(e[:n], e[:n])
		for i, v := range z[:n] {
			z[i] = max(v, 0) + (e[i] - 1)
		}
		z = z[n:]
	}
}

// Slope sets dst to the derivatives f'(z), given a = f(z). dst must be at least as long as a, and may
// be the same slice.
func (f Activation) Slope(dst, a []float64) {
	dst = dst[:len(a)]
	switch f {
	case Tanh:
		for i, v := range a {
			dst[i] = (1 - v) * (1 + v)
		}
	case Sigmoid:
		for i, v := range a {
			dst[i] = v * (1 - v)
		}
	case ReLU:
		for i, v := range a {
			dst[i] = step(v)
		}
	case Softplus: // σ(z) = 1 − e^(−a)
		for i, v := range a {
			dst[i] = -v
		}
		kernel.Exp(dst, dst)
		for i, v := range dst {
			dst[i] = 1 - v
		}
	case ELU:
		for i, v := range a {
			dst[i] = 1 + min(v, 0)
		}
	case Identity:
		for i := range dst {
			dst[i] = 1
		}
	case LeakyReLU:
		for i, v := range a {
			dst[i] = leak + float64((1-leak)*step(v))
		}
	default:
		panic(fmt.Sprintf("scorer: activation %d", int(f)))
	}
}

// step returns 1 for v > 0 and 0 for v = +0. It has no branch, because the signs of activations are
// close to random and a branch would be mispredicted half of the time.
func step(v float64) float64 {
	b := math.Float64bits(v)
	return math.Float64frombits(math.Float64bits(1) & uint64(-int64(b)>>63))
}

var ones = func() (ones [256]float64) {
	for i := range ones {
		ones[i] = 1
	}
	return ones
}()

// addConstant adds c to every element of z. It uses a vector instruction.
func addConstant(z []float64, c float64) {
	for len(z) > 0 {
		n := min(len(z), len(ones))
		kernel.Axpy(c, ones[:n], z[:n])
		z = z[n:]
	}
}
