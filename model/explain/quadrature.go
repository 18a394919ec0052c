package explain

import "math"

// legendre returns the nodes and weights of the Gauss–Legendre rule with n nodes on [0, 1]. The rule
// integrates polynomials of degree up to 2n − 1 exactly. Newton's method finds the zeros of the
// Legendre polynomial (Abramowitz and Stegun 1964, 25.4.29).
func legendre(n int) (nodes, weights []float64) {
	nodes, weights = make([]float64, n), make([]float64, n)
	for i := range nodes {
		z := nearSine(math.Pi * (0.5 - (float64(i)+0.75)/(float64(n)+0.5)))
		var slope float64
		for range 100 {
			before, p := 1.0, z // P_0, P_1
			for k := 2; k <= n; k++ {
				f := float64(k)
				before, p = p, (float64((float64(2*f)-1)*z*p)-float64((f-1)*before))/f
			}
			slope = float64(n) * (float64(z*p) - before) / (float64(z*z) - 1)
			step := p / slope
			if z -= step; math.Abs(step) < 1e-15 {
				break
			}
		}
		nodes[i], weights[i] = (1-z)/2, 1/((1-float64(z*z))*slope*slope)
	}
	return nodes, weights
}

// nearSine returns sin x to six digits for |x| ≤ π/2, as a start for Newton's method. math.Sin is not
// used, because its last digit depends on the architecture.
func nearSine(x float64) float64 {
	z := float64(x * x)
	sum := 1.0
	for k := 10; k >= 2; k -= 2 {
		sum = 1 - float64(z*sum)/float64(k*(k+1))
	}
	return float64(x * sum)
}
