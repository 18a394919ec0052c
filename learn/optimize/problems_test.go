package optimize

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"
)

// function is an Objective given by a Go function.
type function struct {
	dim  int
	eval func(x, grad []float64) float64
}

func (f function) Dim() int                       { return f.dim }
func (f function) Eval(x, grad []float64) float64 { return f.eval(x, grad) }

// quadratic is ½(x−m)ᵀA(x−m) + c, A = QᵀDQ with Q a Householder reflection and D
// diagonal: its eigenvalues and its minimum c at m are known.
func quadratic(eigen, m, reflect []float64, c float64) function {
	n := len(eigen)
	z, u := make([]float64, n), 0.0
	for _, v := range reflect {
		u += v * v
	}
	householder := func(z []float64) {
		var dot float64
		for i, v := range reflect {
			dot += v * z[i]
		}
		for i, v := range reflect {
			z[i] -= 2 * dot / u * v
		}
	}
	return function{n, func(x, grad []float64) float64 {
		for i := range z {
			z[i] = x[i] - m[i]
		}
		householder(z)
		f := 0.0
		for i, v := range z {
			f += 0.5 * eigen[i] * v * v
			grad[i] = eigen[i] * v
		}
		householder(grad)
		return f + c
	}}
}

// rosenbrock is the chained Rosenbrock function; its minimum is 0 at (1, …, 1).
func rosenbrock(n int) function {
	return function{n, func(x, grad []float64) float64 {
		clear(grad)
		f := 0.0
		for i := range n - 1 {
			a, b := x[i+1]-x[i]*x[i], 1-x[i]
			f += 100*a*a + b*b
			grad[i] += -400*a*x[i] - 2*b
			grad[i+1] += 200 * a
		}
		return f
	}}
}

// logistic is Σ log(1 + exp(−yᵢxᵢ·w)) + ‖w‖²/C, strongly convex with μ = 2/C.
func logistic(rows [][]float64, labels []float64, c float64) function {
	return function{len(rows[0]), func(w, grad []float64) float64 {
		f := 0.0
		for j, v := range w {
			f += v * v / c
			grad[j] = 2 * v / c
		}
		for i, row := range rows {
			z := 0.0
			for j, v := range row {
				z += v * w[j]
			}
			z *= -labels[i]
			f += math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
			p := 1 / (1 + math.Exp(-z))
			for j, v := range row {
				grad[j] -= labels[i] * p * v
			}
		}
		return f
	}}
}

// randomLogistic has n rows of d features whose scales spread over 4 decades.
func randomLogistic(seed uint64, n, d int, c float64) function {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows, labels := make([][]float64, n), make([]float64, n)
	truth := normals(rng, d)
	for i := range rows {
		z := rng.NormFloat64()
		rows[i] = normals(rng, d)
		for j := range rows[i] {
			z += rows[i][j] * truth[j]
			rows[i][j] *= math.Pow(10, 4*float64(j)/float64(d)-2)
		}
		labels[i] = math.Copysign(1, z)
	}
	return logistic(rows, labels, c)
}

// kinked is Σ cᵢ|aᵢ·x − bᵢ| + ½μ‖x‖², convex with kinks.
func kinked(a [][]float64, b []float64, mu float64) function {
	return function{len(a[0]), func(x, grad []float64) float64 {
		f := 0.0
		for j, v := range x {
			f += mu / 2 * v * v
			grad[j] = mu * v
		}
		for i, row := range a {
			z := -b[i]
			for j, v := range row {
				z += v * x[j]
			}
			f += math.Abs(z)
			sign := math.Copysign(1, z)
			for j, v := range row {
				grad[j] += sign * v
			}
		}
		return f
	}}
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func drawRand(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
}

// distance is the largest difference of two vectors' elements.
func distance(x, y []float64) float64 {
	d := 0.0
	for i := range x {
		d = math.Max(d, math.Abs(x[i]-y[i]))
	}
	return d
}
