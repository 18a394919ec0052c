package optimize

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// sum is Terms given by a Go function.
type sum struct {
	dim, terms int
	eval       func(i int, x, grad []float64) float64
}

func (s sum) Dim() int                                  { return s.dim }
func (s sum) Terms() int                                { return s.terms }
func (s sum) EvalTerm(i int, x, grad []float64) float64 { return s.eval(i, x, grad) }
func shuffled(seed uint64) func(epoch int) *rand.Rand {
	return func(e int) *rand.Rand { return stream(seed, e) }
}
func stream(seed uint64, epoch int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(epoch))) }
func gaussianInit(seed uint64) func(restart int, x []float64) {
	return func(restart int, x []float64) { copy(x, normals(stream(seed, restart), len(x))) }
}

// bowls is Σ ½aᵢ‖x − mᵢ‖²; its minimum, penalty included, is at
// Σaᵢmᵢ/(Σaᵢ + 2/C).
func bowls(a []float64, m [][]float64) sum {
	return sum{len(m[0]), len(m), func(i int, x, grad []float64) float64 {
		f := 0.0
		for j, v := range x {
			f += a[i] / 2 * (v - m[i][j]) * (v - m[i][j])
			grad[j] += a[i] * (v - m[i][j])
		}
		return f
	}}
}

func randomBowls(rng *rand.Rand, n, dim int) (sum, []float64, [][]float64) {
	a, m := make([]float64, n), make([][]float64, n)
	for i := range m {
		a[i], m[i] = 0.5+rng.Float64(), normals(rng, dim)
	}
	return bowls(a, m), a, m
}

// logisticTerms are the terms of [logistic] without the penalty.
func logisticTerms(rows [][]float64, labels []float64) sum {
	return sum{len(rows[0]), len(rows), func(i int, w, grad []float64) float64 {
		z := 0.0
		for j, v := range rows[i] {
			z -= labels[i] * v * w[j]
		}
		p := 1 / (1 + math.Exp(-z))
		for j, v := range rows[i] {
			grad[j] -= labels[i] * p * v
		}
		return math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}}
}

func descend(t testing.TB, d Descent, terms Terms, x0 []float64) *DescentResult {
	t.Helper()
	r, err := d.Minimize(context.Background(), terms, x0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// slope is the sum of n terms g·x, whose gradients are the same everywhere.
func slope(n int, g ...float64) sum {
	return sum{len(g), n, func(_ int, x, grad []float64) float64 {
		f := 0.0
		for j, v := range g {
			grad[j] += v
			f += v * x[j]
		}
		return f
	}}
}
