package loss

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/jacobi"
	"github.com/listwise/listwise/internal/random"
)

// FieldDiagnosis tests whether λ is the negative gradient of some function near a point (Burges, Ragno
// and Le 2006, section 4). λ is such a gradient if the Jacobian J of −λ is symmetric (eq. 5, Poincaré's
// lemma). The function is convex if J is also positive semidefinite.
type FieldDiagnosis struct {
	// Asymmetry is ‖J − Jᵀ‖/‖J‖, or 0 if J is 0. The norm is the largest absolute row sum.
	Asymmetry float64
	// SmallestEigenvalue is the smallest eigenvalue of (J + Jᵀ)/2.
	SmallestEigenvalue float64
	// LambdaSum is Σλ. Unless it is 0, a step along λ moves the mean of the scores.
	LambdaSum float64
}

// DiagnoseField diagnoses λ of one query's loss at the given scores, by central differences of step h.
// If h is smaller than half the smallest gap between scores, all differences are taken within one cell,
// the set of scores with the same ranking. To compare cells, use [Circulation]. The diagnosis takes 2n
// evaluations, and O(n³) for the eigenvalues.
func DiagnoseField(b QueryLoss, scores []float64, h float64) FieldDiagnosis {
	n := len(scores)
	j := FieldJacobian(b, scores, h)
	skew, symmetric := make([]float64, n*n), make([]float64, n*n)
	for r := range n {
		for c := range n {
			skew[r*n+c] = j[r*n+c] - j[c*n+r]
			symmetric[r*n+c] = (j[r*n+c] + j[c*n+r]) / 2
		}
	}
	var d FieldDiagnosis
	if size := rowNorm(j, n); size > 0 {
		d.Asymmetry = rowNorm(skew, n) / size
	}
	if n > 0 {
		d.SmallestEigenvalue = symmetricEigenvalues(symmetric, n)[0]
	}
	lambda := make([]float64, n)
	b.Eval(scores, lambda, new(Scratch))
	for _, l := range lambda {
		d.LambdaSum += l
	}
	return d
}

// FieldJacobian returns the n×n Jacobian of −λ by central differences of step h. The element i·n + k is
// −∂λ_i/∂s_k.
func FieldJacobian(b QueryLoss, scores []float64, h float64) []float64 {
	n := len(scores)
	j := make([]float64, n*n)
	x, up, down := append([]float64(nil), scores...), make([]float64, n), make([]float64, n)
	var scratch Scratch
	for k := range n {
		x[k] = scores[k] + h
		b.Eval(x, up, &scratch)
		x[k] = scores[k] - h
		b.Eval(x, down, &scratch)
		x[k] = scores[k]
		for i := range n {
			j[i*n+k] = (down[i] - up[i]) / (2 * h)
		}
	}
	return j
}

// rowNorm returns the largest sum of absolute values of a row of an n×n matrix.
func rowNorm(a []float64, n int) float64 {
	var norm float64
	for r := range n {
		var sum float64
		for _, v := range a[r*n : (r+1)*n] {
			sum += math.Abs(v)
		}
		norm = max(norm, sum)
	}
	return norm
}

// Circle is a circle in the space of scores: Center + Radius·(cos θ·U + sin θ·V).
type Circle struct {
	Center []float64 // scores of the center, one per document
	U, V   []float64 // orthonormal directions, one element per document
	Radius float64   // in units of the scores
}

// RandomCircle returns a circle around center in a random plane, with orthonormal U and V. It panics if
// center has fewer than two elements.
func RandomCircle(center []float64, radius float64, rng *rand.Rand) Circle {
	if len(center) < 2 {
		panic("loss: a circle needs two dimensions")
	}
	c := Circle{center, make([]float64, len(center)), make([]float64, len(center)), radius}
	for i := range c.U {
		c.U[i], c.V[i] = random.Normal(rng), random.Normal(rng)
	}
	normalise(c.U)
	// Two passes make V orthogonal to U up to rounding errors.
	for range 2 {
		along := dot(c.U, c.V)
		for i, u := range c.U {
			c.V[i] -= float64(along * u)
		}
		normalise(c.V)
	}
	return c
}

// TieCircle returns the circle around the point at which three documents tie at the mean of their
// scores. On the circle, the scores of the first two documents vary and all other scores are constant.
// The circle passes through all six orders of the three documents.
//
// (If the mean of the three scores were constant instead, each order would have an equal part of the
// circle. In that case, the circulation of LambdaRank under NDCG is also 0, because the differences of
// three gains cancel in pairs.)
func TieCircle(scores []float64, tied [3]int, radius float64) Circle {
	n := len(scores)
	c := Circle{append([]float64(nil), scores...), make([]float64, n), make([]float64, n), radius}
	mean := (scores[tied[0]] + scores[tied[1]] + scores[tied[2]]) / 3
	for _, d := range tied {
		c.Center[d] = mean
	}
	c.U[tied[0]], c.V[tied[1]] = 1, 1
	return c
}

// Circulation returns the line integral ∮ λ·ds around a circle, by the midpoint rule with the given
// number of steps. It is 0 if λ is the gradient of a function. LambdaRank's λ jumps where documents tie,
// so its circulation is not 0. The error is of the order of a jump divided by steps, and much smaller if
// λ is smooth.
func Circulation(b QueryLoss, c Circle, steps int) float64 {
	n := len(c.Center)
	x, lambda := make([]float64, n), make([]float64, n)
	var scratch Scratch
	var sum float64
	for t := range steps {
		sin, cos := elementary.Sincos(2 * math.Pi * (float64(t) + 0.5) / float64(steps))
		for i := range x {
			x[i] = c.Center[i] + float64(c.Radius*(float64(cos*c.U[i])+float64(sin*c.V[i])))
		}
		b.Eval(x, lambda, &scratch)
		sum += float64(cos*dot(lambda, c.V)) - float64(sin*dot(lambda, c.U))
	}
	return float64(sum*c.Radius*(2*math.Pi)) / float64(steps)
}

func dot(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// normalise scales x to length 1.
func normalise(x []float64) {
	length := math.Sqrt(dot(x, x))
	for i := range x {
		x[i] /= length
	}
}

// symmetricEigenvalues returns the eigenvalues of the symmetric n×n matrix a in ascending order. It overwrites a.
func symmetricEigenvalues(a []float64, n int) []float64 {
	jacobi.Diagonalize(a, n, nil)
	values := make([]float64, n)
	for i := range values {
		values[i] = a[i*n+i]
	}
	slices.Sort(values)
	return values
}
