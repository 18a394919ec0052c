package optimize

import (
	"math"

	"github.com/listwise/listwise/internal/parallel"
)

// LeastSquares computes the w that minimises
//
//	Σᵢ vᵢ (yᵢ − b − w·xᵢ)² + ‖w‖²/C
//
// in closed form (ridge regression). b is an intercept for each group of rows, at its best value. LeastSquares stores
// the normal equations, features² numbers: the second moments of the rows about the means of their groups. Until a
// group ends, its moments are about its first row, which avoids cancellation for features whose mean is large
// compared with their spread. A LeastSquares must not be used by several goroutines at once.
type LeastSquares struct {
	features, workers int

	xx []float64 // Σ v·x·xᵀ, lower triangle
	xy []float64 // Σ v·x·y
	yy float64   // Σ v·y²

	// Of the current group: Σ v·x, Σ v·y and Σ v, with x relative to origin.
	sumX        []float64
	sumY, total float64
	origin      []float64

	// Pending rows of the group, which are not yet in the sums over x: x relative to origin, v and y.
	x             []float64
	weight, score []float64
}

const (
	heldRows   = 128 // number of pending rows that are added together; they stay in a core's cache
	rowsAtOnce = 4   // number of rows of xx that a worker processes at a time
)

// NewLeastSquares returns a problem without rows. workers is the number of goroutines; 0 means GOMAXPROCS. The result
// does not depend on workers.
func NewLeastSquares(features, workers int) *LeastSquares {
	return &LeastSquares{
		features: features,
		workers:  workers,
		xx:       make([]float64, features*features),
		xy:       make([]float64, features),
		sumX:     make([]float64, features),
		origin:   make([]float64, features),
	}
}

// LeastSquaresBytes returns the bytes that a problem needs, including the copy of the sums that Solve makes.
func LeastSquaresBytes(features int) float64 {
	n := float64(features)
	return 8 * float64(n*(2*n+heldRows+5))
}

// Add adds a row x, with a weight ≥ 0, to the group. It panics if x has fewer elements than features.
func (e *LeastSquares) Add(x []float32, y, weight float64) {
	if e.total == 0 {
		e.flush() // the pending rows have no weight
		for j := range e.origin {
			e.origin[j] = float64(x[j])
		}
	}
	for j, o := range e.origin {
		e.x = append(e.x, float64(x[j])-o)
	}
	e.total += weight
	e.sumY += float64(weight * y)
	e.yy += float64(weight * y * y)
	e.weight, e.score = append(e.weight, weight), append(e.score, y)
	if len(e.weight) == heldRows {
		e.flush()
	}
}

// flush adds the pending rows to the sums. Rows of xx are independent, and each adds the pending rows in order. So
// the sums depend neither on the number of workers nor on when flush is called.
func (e *LeastSquares) flush() {
	if len(e.weight) == 0 {
		return
	}
	parallel.For((e.features+rowsAtOnce-1)/rowsAtOnce, e.workers, func(_, part int) {
		for k := range rowsAtOnce { // the long ones first
			if j := e.features - 1 - part*rowsAtOnce - k; j >= 0 {
				e.addRow(j)
			}
		}
	})
	e.x, e.weight, e.score = e.x[:0], e.weight[:0], e.score[:0]
}

// addRow adds the pending rows to all sums that contain feature j and no later feature.
func (e *LeastSquares) addRow(j int) {
	row := e.xx[j*e.features : j*e.features+j+1]
	one := func(i int) []float64 { return e.x[i*e.features : i*e.features+j+1] }
	times := func(i int) float64 {
		v := float64(e.x[i*e.features+j] * e.weight[i])
		e.sumX[j] += v
		e.xy[j] += float64(v * e.score[i])
		return v
	}
	i := 0
	for ; i+4 <= len(e.weight); i += 4 {
		a, b, c, d := times(i), times(i+1), times(i+2), times(i+3)
		if a == 0 && b == 0 && c == 0 && d == 0 {
			continue // frequent in sparse features
		}
		addFour(row, one(i), one(i+1), one(i+2), one(i+3), a, b, c, d)
	}
	for ; i < len(e.weight); i++ {
		v := times(i)
		for k, x := range one(i) {
			row[k] += float64(v * x)
		}
	}
}

// addFour adds a·p, b·q, c·r and d·s to row, one after the other.
func addFour(row, p, q, r, s []float64, a, b, c, d float64) {
	p, q, r, s = p[:len(row)], q[:len(row)], r[:len(row)], s[:len(row)]
	for k := range row {
		v := row[k] + float64(a*p[k])
		v += float64(b * q[k])
		v += float64(c * r[k])
		row[k] = v + float64(d*s[k])
	}
}

// EndGroup ends a group. It converts the moments of the group to moments about the group's means.
func (e *LeastSquares) EndGroup() {
	e.flush()
	if e.total == 0 {
		return
	}
	for j, s := range e.sumX {
		mean := s / e.total
		e.xy[j] -= float64(mean * e.sumY)
		row := e.xx[j*e.features : j*e.features+j+1]
		for k := range row {
			row[k] -= float64(mean * e.sumX[k])
		}
	}
	e.yy -= e.sumY * e.sumY / e.total
	clear(e.sumX)
	e.sumY, e.total = 0, 0
}

// Solve returns w = (XᵀVX + I/C)⁻¹ XᵀVy of the groups that have ended. It returns an error if the matrix is singular
// to working precision.
func (e *LeastSquares) Solve(c float64) ([]float64, error) {
	a, w := append([]float64(nil), e.xx...), append([]float64(nil), e.xy...)
	for j := range w {
		a[j*e.features+j] += 1 / c
	}
	return w, SolveDefinite(a, w)
}

// gradient returns half the gradient of the objective, (XᵀVX + I/C)w − XᵀVy.
func (e *LeastSquares) gradient(w []float64, c float64) []float64 {
	g := make([]float64, len(w))
	for j := range g {
		g[j] += w[j]/c - e.xy[j]
		for k := range j + 1 {
			v := e.xx[j*e.features+k]
			g[j] += float64(v * w[k])
			if k < j {
				g[k] += float64(v * w[j])
			}
		}
	}
	return g
}

// Objective returns the weighted sum of squared errors plus the penalty at w.
func (e *LeastSquares) Objective(w []float64, c float64) float64 {
	value := e.yy
	for j, g := range e.gradient(w, c) { // wᵀ(A·w − 2b) = wᵀ(g − b)
		value += float64(w[j] * (g - e.xy[j]))
	}
	return value
}

// GradNorm returns the norm of the gradient of the objective at w.
func (e *LeastSquares) GradNorm(w []float64, c float64) float64 {
	var square float64
	for _, g := range e.gradient(w, c) {
		square += float64(4 * g * g)
	}
	return math.Sqrt(square)
}
