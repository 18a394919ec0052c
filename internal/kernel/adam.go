package kernel

import "math"

// Adam makes one step of the optimizer Adam, element by element:
//
//	m ← β₁m + (1−β₁)g    v ← β₂v + (1−β₂)g²    x ← x − rate·m/(√v + ε)
//
// All slices have the same length. Each operation is rounded as written, except that β₁m and β₂v
// are added by fused multiply-add.
func Adam(x, grad, m, v []float64, beta1, beta2, rate, epsilon float64) {
	mustMatch(len(grad), len(x))
	mustMatch(len(m), len(x))
	mustMatch(len(v), len(x))
	adam(x, grad, m, v, beta1, beta2, rate, epsilon)
}

func adamGo(x, grad, m, v []float64, beta1, beta2, rate, epsilon float64) {
	grad, m, v = grad[:len(x)], m[:len(x)], v[:len(x)]
	for i, g := range grad {
		m[i] = math.FMA(beta1, m[i], float64((1-beta1)*g))
		v[i] = math.FMA(beta2, v[i], float64(float64((1-beta2)*g)*g))
		x[i] -= float64(rate*m[i]) / (math.Sqrt(v[i]) + epsilon)
	}
}
