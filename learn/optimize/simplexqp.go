package optimize

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// simplexQP is the quadratic program
//
//	maximise  D(α) = b·α − ½ αᵀQα   over  α ≥ 0, Σα = 1,
//
// where Q is positive semidefinite. Variables can be added and removed. It is solved by the primal active-set method
// (J. Nocedal and S. J. Wright, Numerical Optimization, 2nd ed., algorithm 16.3). The variables above 0 are called
// free. A Cholesky factor over the free variables solves the problem in which all other variables are 0 and Σα = 1.
// The method starts from the last solution, so few steps are needed after a variable was added.
//
// Many variables may be linearly dependent. So a ridge is added to each Q_kk, with the relative size of a rounding
// error. The returned point is feasible in spite of rounding, so D is a lower bound on its maximum. The maximum
// exceeds D by at most max_k ∂D/∂α_k − Σ α_k ∂D/∂α_k. solve stops by this bound.
type simplexQP struct {
	q     [][]float64 // rows of Q
	b     []float64
	alpha []float64

	free  []int       // free variables, in the order of the factor's rows
	isIn  []bool      // whether a variable is free
	chol  [][]float64 // lower triangular factor of (Q + ridge + shift·11ᵀ) over free
	shift float64     // makes this matrix positive definite; adds a constant to D on the simplex

	u, v, step []float64 // working memory, one number for each free variable
}

// ridge is relative to Q_kk.
const ridge = 1e-14

// size returns the number of variables.
func (p *simplexQP) size() int { return len(p.b) }

// add appends a variable with the value 0, or 1 if it is the first one. row has the products of the variable with all
// variables, its own last. add keeps row.
func (p *simplexQP) add(row []float64, b float64) {
	k := p.size()
	for i := range k {
		p.q[i] = append(p.q[i], row[i])
	}
	p.q, p.b, p.alpha, p.isIn = append(p.q, row), append(p.b, b), append(p.alpha, 0), append(p.isIn, false)
	p.u, p.v, p.step = append(p.u, 0), append(p.v, 0), append(p.step, 0)
	if k == 0 {
		p.alpha[0] = 1
		p.free = append(p.free, 0)
		p.isIn[0] = true
	}
}

// remove removes the marked variables, which must not be free.
func (p *simplexQP) remove(drop []bool) {
	to, place := 0, make([]int, p.size())
	for k := range p.b {
		if drop[k] {
			continue
		}
		row, at := p.q[k], 0
		for i, v := range row {
			if !drop[i] {
				row[at] = v
				at++
			}
		}
		p.q[to], p.b[to], p.alpha[to], p.isIn[to] = row[:at], p.b[k], p.alpha[k], p.isIn[k]
		place[k] = to
		to++
	}
	p.q, p.b, p.alpha, p.isIn = p.q[:to], p.b[:to], p.alpha[:to], p.isIn[:to]
	p.u, p.v, p.step = p.u[:to], p.v[:to], p.step[:to]
	for i, k := range p.free {
		p.free[i] = place[k]
	}
}

// maxIdleEntries is the number of variables that may become free without a notable increase of D. After that, solve
// stops, because rounding errors alone seem to move variables in and out.
const maxIdleEntries = 20

// solve changes alpha until D is within tolerance of its maximum, or as near as rounding allows.
func (p *simplexQP) solve(tolerance float64) {
	p.factor()
	mark, idle := math.Inf(-1), 0
	for range 10 + 3*p.size() {
		if !p.advance() {
			continue
		}
		k, value := p.entering(tolerance)
		if idle++; value > mark+tolerance {
			mark, idle = value, 0
		}
		if k < 0 || idle >= maxIdleEntries {
			return
		}
		p.release(k)
	}
}

// factor computes the whole factor. The shift has the size of the diagonal of Q on the free variables or, if Q is 0
// there, of another diagonal element.
func (p *simplexQP) factor() {
	p.shift = 0
	for _, k := range p.free {
		p.shift += float64(p.alpha[k] * p.q[k][k])
	}
	for k := 0; p.shift == 0 && k < p.size(); k++ {
		p.shift = p.q[k][k]
	}
	if p.shift == 0 {
		p.shift = 1
	}
	for r := range p.free {
		p.factorRow(r)
	}
}

// advance moves to the maximum over the free variables and returns true. If a variable would become negative, it
// moves until this variable is 0, takes the variable out of the free ones, and returns false.
//
// newtonStep solves for the change of alpha. The right side is the gradient of D minus its mean. The mean moves
// nothing on the simplex. Equations for alpha itself would lose all digits if Q is tiny compared with b.
func (p *simplexQP) advance() bool {
	p.newtonStep()
	length, blocking := 1.0, -1
	for i, k := range p.free {
		step := p.step[i]
		if p.alpha[k]+step >= 0 {
			continue
		}
		if t := p.alpha[k] / -step; t < length || blocking < 0 {
			length, blocking = min(t, 1), i
		}
	}
	sum := 0.0
	for i, k := range p.free {
		p.alpha[k] = max(0, p.alpha[k]+float64(length*p.step[i]))
		if i == blocking {
			p.alpha[k] = 0
		}
		sum += p.alpha[k]
	}
	for _, k := range p.free {
		p.alpha[k] /= sum
	}
	if blocking >= 0 {
		p.fix(blocking)
	}
	return blocking < 0
}

// newtonStep sets step to the change of the free variables that leads to their maximum. Its sum is 0 in spite of
// rounding. If the change is not finite, step is 0.
func (p *simplexQP) newtonStep() {
	n := len(p.free)
	u, v, step := p.u[:n], p.v[:n], p.step[:n]
	mean := 0.0
	for i, k := range p.free {
		u[i], v[i] = p.gain(k), 1
		mean += float64(p.alpha[k] * u[i])
	}
	for i := range u {
		u[i] -= mean
	}
	p.solveFactor(u)
	p.solveFactor(v)
	multiplier := kernel.Sum(u) / kernel.Sum(v)
	for i := range step {
		step[i] = u[i] - float64(multiplier*v[i])
	}
	drift := kernel.Sum(step)
	if !finite(drift) {
		clear(step)
		return
	}
	for i, k := range p.free {
		step[i] -= float64(drift * p.alpha[k])
	}
}

// gain returns ∂D/∂α_k.
func (p *simplexQP) gain(k int) float64 {
	g, row := p.b[k], p.q[k]
	for _, i := range p.free {
		g -= float64(row[i] * p.alpha[i])
	}
	return g
}

// entering returns the variable whose increase raises D most, among the variables at 0, and the value of D. The
// variable is −1 if no change can raise D by more than the tolerance.
func (p *simplexQP) entering(tolerance float64) (best int, value float64) {
	most, mean := 0.0, 0.0
	best = -1
	for k, b := range p.b {
		gain := p.gain(k)
		mean += float64(p.alpha[k] * gain) // αᵀb − αᵀQα after the loop
		value += float64(p.alpha[k] * b)
		if !p.isIn[k] && (best < 0 || gain > most) {
			best, most = k, gain
		}
	}
	if best >= 0 && most-mean <= tolerance {
		best = -1
	}
	return best, (value + mean) / 2
}

// release makes variable k free.
func (p *simplexQP) release(k int) {
	p.free = append(p.free, k)
	p.isIn[k] = true
	p.factorRow(len(p.free) - 1)
}

// fix takes the i-th free variable out of the free ones.
func (p *simplexQP) fix(i int) {
	p.isIn[p.free[i]] = false
	p.free = append(p.free[:i], p.free[i+1:]...)
	for r := i; r < len(p.free); r++ {
		p.factorRow(r)
	}
}

// factorRow computes row r of the factor from the rows before it.
func (p *simplexQP) factorRow(r int) {
	if len(p.chol) == r {
		p.chol = append(p.chol, make([]float64, 0, 2*r+8))
	}
	k, row := p.free[r], p.chol[r]
	if cap(row) < r+1 {
		row = make([]float64, 0, 2*r+8)
	}
	row = row[:r+1]
	for c := range r {
		other := p.chol[c]
		row[c] = (p.q[k][p.free[c]] + p.shift - kernel.Dot(row[:c], other[:c])) / other[c]
	}
	own := p.q[k][k] + p.shift
	row[r] = math.Sqrt(max(own+float64(ridge*own)-kernel.Dot(row[:r], row[:r]), ridge*own))
	p.chol[r] = row
}

// solveFactor replaces x by the solution of chol·cholᵀ·y = x.
func (p *simplexQP) solveFactor(x []float64) {
	for r := range x {
		row := p.chol[r]
		x[r] = (x[r] - kernel.Dot(row[:r], x[:r])) / row[r]
	}
	for r := len(x) - 1; r >= 0; r-- {
		row := p.chol[r]
		x[r] /= row[r]
		kernel.Axpy(-x[r], row[:r], x[:r])
	}
}
