package propensity

import "math"

// symmetric is a positive definite matrix, and after factor its Cholesky factor, in the lower triangle.
type symmetric struct {
	n int
	v []float64
}

func newSymmetric(n int) symmetric { return symmetric{n, make([]float64, n*n)} }

// add adds v to an element of the lower triangle.
func (m symmetric) add(i, j int, v float64) { m.v[i*m.n+j] += v }

// difference adds weight times the square of x_a − x_b, where x at −1 is 0.
func (m symmetric) difference(a, b int, weight float64) {
	if a >= 0 {
		m.add(a, a, weight)
	}
	if b >= 0 {
		m.add(b, b, weight)
	}
	if a >= 0 && b >= 0 {
		m.add(max(a, b), min(a, b), -weight)
	}
}

// factor reports whether the matrix is positive definite.
func (m symmetric) factor() bool {
	for j := range m.n {
		row := m.v[j*m.n : j*m.n+m.n]
		d := row[j]
		for k := range j {
			d -= float64(row[k] * row[k])
		}
		if !(d > 1e-12*row[j]) {
			return false
		}
		row[j] = math.Sqrt(d)
		for i := j + 1; i < m.n; i++ {
			other := m.v[i*m.n : i*m.n+m.n]
			s := other[j]
			for k := range j {
				s -= float64(other[k] * row[k])
			}
			other[j] = s / row[j]
		}
	}
	return true
}

// solve replaces b by the solution of the system whose matrix was factored.
func (m symmetric) solve(b []float64) {
	for i := range m.n {
		for k := range i {
			b[i] -= float64(m.v[i*m.n+k] * b[k])
		}
		b[i] /= m.v[i*m.n+i]
	}
	for i := m.n - 1; i >= 0; i-- {
		for k := i + 1; k < m.n; k++ {
			b[i] -= float64(m.v[k*m.n+i] * b[k])
		}
		b[i] /= m.v[i*m.n+i]
	}
}

// union tells which places are connected.
type union []int

func newUnion(n int) union {
	u := make(union, n)
	for i := range u {
		u[i] = i
	}
	return u
}

func (u union) root(i int) int {
	for u[i] != i {
		i = u[i]
	}
	return i
}

func (u union) join(a, b int) {
	a, b = u.root(a), u.root(b)
	u[max(a, b)] = min(a, b)
}
