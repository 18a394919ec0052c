package optimize

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// The correction pairs approximate the inverse Hessian H. With pairs
//
//	s = xₖ₊₁ − xₖ,  y = ∇f(xₖ₊₁) − ∇f(xₖ),  ρ = 1/sᵀy,  γ = sᵀy/yᵀy (newest pair)
//
// H starts from γI and takes up the pairs from the oldest to the newest by
//
//	H ← (I − ρsyᵀ) H (I − ρysᵀ) + ρssᵀ
//
// (Nocedal and Wright, eqs. 7.16, 7.17 and 7.20).

// direction sets r.dir to −H∇f by the two-loop recursion (algorithm 7.4) and
// returns its slope, dirᵀ∇f.
func (r *run) direction() float64 {
	s, y := r.st.s, r.st.y
	newest := len(s) - 1
	if newest < 0 {
		return r.steepest()
	}
	negate(r.dir, r.st.Grad)
	for i := newest; i >= 0; i-- {
		r.alpha[i] = float64(r.rho[i] * kernel.Dot(s[i], r.dir))
		kernel.Axpy(-r.alpha[i], y[i], r.dir)
	}
	gamma := 1 / (r.rho[newest] * kernel.Dot(y[newest], y[newest]))
	for i := range r.dir {
		r.dir[i] *= gamma
	}
	for i := range s {
		beta := float64(r.rho[i] * kernel.Dot(y[i], r.dir))
		kernel.Axpy(r.alpha[i]-beta, s[i], r.dir)
	}
	return kernel.Dot(r.dir, r.st.Grad)
}

// steepest sets r.dir to −∇f and returns its slope.
func (r *run) steepest() float64 {
	negate(r.dir, r.st.Grad)
	return kernel.Dot(r.dir, r.st.Grad)
}

// remember adds the pair of the step from the state's point to the trial point,
// unless its curvature is not clearly positive: H must stay positive definite.
func (r *run) remember() {
	st := &r.st
	n := len(st.s)
	s, y := r.spare()
	for i, x := range r.trialX {
		s[i] = x - st.X[i]
		y[i] = r.trialGrad[i] - st.Grad[i]
	}
	sy := kernel.Dot(s, y)
	if !usable(sy, kernel.Dot(y, y)) {
		return
	}
	st.s, st.y, r.rho = st.s[:n+1], st.y[:n+1], append(r.rho, 1/sy)
	if n == r.set.Memory {
		dropOldest(&st.s)
		dropOldest(&st.y)
		copy(r.rho, r.rho[1:])
		r.rho = r.rho[:n]
	}
}

// spare returns the memory of the pair to come, which lies behind the others.
func (r *run) spare() (s, y []float64) {
	n := len(r.st.s)
	return r.st.s[:n+1][n], r.st.y[:n+1][n]
}

// dropOldest removes the first vector and makes it the spare one.
func dropOldest(v *[][]float64) {
	old, last := (*v)[0], len(*v)-1
	copy(*v, (*v)[1:])
	(*v)[last] = old
	*v = (*v)[:last]
}

// forget removes all pairs.
func (r *run) forget() {
	r.st.s, r.st.y, r.rho = r.st.s[:0], r.st.y[:0], r.rho[:0]
}

// usable reports whether a pair has enough curvature to be kept.
func usable(sy, yy float64) bool {
	return sy > minCurvature*yy && !math.IsInf(1/sy, 0) && !math.IsInf(sy, 0)
}

func negate(dst, x []float64) {
	for i, v := range x {
		dst[i] = -v
	}
}
