package scorer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/kernel"
)

// Activation is the function f of a hidden unit:
//
//	tanh      (eᶻ − e⁻ᶻ)/(eᶻ + e⁻ᶻ)
//	sigmoid   1/(1 + e⁻ᶻ)
//	relu      max(z, 0)
//	softplus  log(1 + eᶻ)
//	elu       z for z > 0, eᶻ − 1 otherwise
//	identity  z
//	leakyrelu z for z > 0, z/100 otherwise
//
// All but relu and leakyrelu, which have a kink at 0, have continuous derivatives. Values are
// exact to 1e-15, absolutely for tanh and elu near 0.
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

// ActivationNames returns the names that ParseActivation reads.
func ActivationNames() []string { return slices.Clone(activationNames[:]) }

// ParseActivation returns the activation of the given name.
func ParseActivation(name string) (Activation, error) {
	i := slices.Index(activationNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("found the activation %q, expected %s", name, strings.Join(activationNames[:], ", "))
	}
	return Activation(i), nil
}

// String returns the name that ParseActivation reads.
func (f Activation) String() string { return activationNames[f] }

// Apply replaces every z by f(z). Each result depends on its own z alone.
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

// applyELU finds elu(z) as max(z, 0) + (exp(min(z, 0)) − 1), of which one term is 0.
// The exponentials of a block at a time go to a buffer, because z is needed beside
// them.
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

// Slope sets dst to the derivatives f'(z), given a = f(z), of the same length;
// dst and a may be the same slice.
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

// step returns 1 for v > 0 and 0 for v = +0, without a branch: the signs of
// activations are as good as random, so one would be mispredicted half the time.
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

// addConstant adds c to every element, several at a time.
func addConstant(z []float64, c float64) {
	for len(z) > 0 {
		n := min(len(z), len(ones))
		kernel.Axpy(c, ones[:n], z[:n])
		z = z[n:]
	}
}
