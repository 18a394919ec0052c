package optimize

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// The line search looks for a step α along φ(α) = f(x + α·dir) that satisfies the strong Wolfe conditions (Nocedal
// and Wright, eq. 3.7)
//
//	φ(α) ≤ φ(0) + c₁αφ′(0)  and  |φ′(α)| ≤ c₂|φ′(0)|.
//
// Near a minimum, rounding errors hide the change of φ while φ′ is still accurate. So if φ(α) and φ(0) differ by at
// most noise·|φ(0)|, the condition φ′(α) ≤ (2c₁ − 1)φ′(0) may replace the first one. On a parabola both are
// equivalent (W. Hager and H. Zhang, SIAM J. Optim. 16:170–192, 2005, eq. 4.1).
const (
	c1    = 1e-4
	c2    = 0.9
	noise = 0x1p-46

	maxTrials    = 60 // largest number of evaluations in one search
	maxExpansion = 20 // largest number of evaluations before the minimum is bracketed
	patience     = 12 // number of evaluations in a bracket, after which any step that decreases φ is taken
)

// point is a step α with φ(α) and φ′(α). If the objective is not finite there, f is +Inf.
type point struct{ step, f, slope float64 }

// search searches for an acceptable step, beginning with first. It makes the step the trial point, and reports
// whether it found one. slope is φ′(0) < 0. This is algorithm 3.5: lo moves out until a minimum is bracketed.
func (r *lbfgsRun) search(first, slope float64) bool {
	w := wolfe{origin: point{0, r.st.F, slope}, noise: noise * math.Abs(r.st.F)}
	r.trials = 0
	lo, step := w.origin, first
	for r.more() && r.trials < maxExpansion {
		p := r.probe(&w, step)
		switch {
		case w.tooHigh(p, lo):
			return r.zoom(&w, lo, p)
		case w.flat(p):
			return true
		case p.slope >= 0:
			return r.zoom(&w, p, lo)
		}
		far := p.step - lo.step
		step = inside(cubicMinimum(lo, p), p.step+far, p.step+float64(9*far))
		lo = p
	}
	return r.settle(&w, lo)
}

// zoom searches in a bracket by algorithm 3.6. lo is the end with the best value so far, and φ decreases from lo
// towards hi.
func (r *lbfgsRun) zoom(w *wolfe, lo, hi point) bool {
	for enough := r.trials + patience; r.more(); {
		if r.trials >= enough && (w.fallback(lo).step > 0 || w.hopeless(hi)) {
			break
		}
		width := hi.step - lo.step
		step := lo.step + float64(width/2)
		// Interpolation can converge slowly, so every fourth trial bisects.
		if !math.IsInf(hi.f, 1) && r.trials%4 != 3 {
			step = inside(cubicMinimum(lo, hi), lo.step+float64(0.1*width), hi.step-float64(0.1*width))
		}
		if step == lo.step || step == hi.step {
			break
		}
		p := r.probe(w, step)
		switch {
		case w.tooHigh(p, lo):
			hi = p
			continue
		case w.flat(p):
			return true
		case p.slope*width >= 0:
			hi = lo
		}
		lo = p
	}
	return r.settle(w, lo)
}

// settle makes the best point of a search without a strong-Wolfe point the trial point. It returns false if no point
// is better than the origin.
func (r *lbfgsRun) settle(w *wolfe, lo point) bool {
	p := w.fallback(lo)
	if r.interrupted || p.step == 0 {
		return false
	}
	if p.step != r.trial.step {
		r.probe(w, p.step)
	}
	return true
}

// more reports whether the search may evaluate again.
func (r *lbfgsRun) more() bool {
	if r.ctx.Err() != nil {
		r.interrupted = true
	}
	return !r.interrupted && r.trials < maxTrials
}

// probe evaluates the objective at a step and makes it the trial point.
func (r *lbfgsRun) probe(w *wolfe, step float64) point {
	copy(r.trialX, r.st.X)
	kernel.Axpy(step, r.dir, r.trialX)
	f := r.obj.Eval(r.trialX, r.trialGrad)
	r.trials++
	r.st.Evaluations++
	r.trialNorm = norm(r.trialGrad)
	p := point{step, f, kernel.Dot(r.dir, r.trialGrad)}
	if !finite(f) || !finite(r.trialNorm) || !finite(p.slope) {
		p.f, p.slope = math.Inf(1), 0
	}
	r.trial = p
	w.note(p)
	return p
}

// wolfe judges the points of a search.
type wolfe struct {
	origin point
	noise  float64 // differences of φ up to noise count as rounding errors
	beyond point   // the lowest point that meets the weak Wolfe conditions; step 0 if none
}

// decreases reports whether p meets the first condition.
func (w *wolfe) decreases(p point) bool {
	if p.f <= w.origin.f+float64(c1*p.step*w.origin.slope) {
		return true
	}
	return math.Abs(p.f-w.origin.f) <= w.noise && p.slope <= (2*c1-1)*w.origin.slope
}

// flat reports whether p meets the second condition.
func (w *wolfe) flat(p point) bool { return math.Abs(p.slope) <= -c2*w.origin.slope }

// tooHigh reports whether p is so high that a minimum lies between p and lo, the lower point.
func (w *wolfe) tooHigh(p, lo point) bool {
	return !w.decreases(p) || p.f > lo.f+w.noise
}

// note stores p if p is beyond a minimum and lower than the origin. At a kink there may be no strong-Wolfe point. A
// step just beyond the kink still gives a correction pair that reflects the kink and has positive curvature (A. Lewis
// and M. Overton, Math. Program. 141:135–163, 2013).
func (w *wolfe) note(p point) {
	if w.decreases(p) && p.slope >= c2*w.origin.slope && (w.beyond.step == 0 || p.f < w.beyond.f) {
		w.beyond = p
	}
}

// fallback returns the point to take if there is no strong-Wolfe point: the stored point beyond a minimum, or else
// lo, which may be the origin.
func (w *wolfe) fallback(lo point) point {
	if w.beyond.step > 0 {
		return w.beyond
	}
	return lo
}

// hopeless reports whether φ can decrease only by rounding errors between the origin and hi.
func (w *wolfe) hopeless(hi point) bool { return hi.step*-w.origin.slope <= w.noise }

// cubicMinimum returns the minimiser of the cubic with the values and slopes of a and b (eq. 3.59), or NaN if there
// is none.
func cubicMinimum(a, b point) float64 {
	d1 := a.slope + b.slope - 3*(a.f-b.f)/(a.step-b.step)
	d2 := math.Copysign(math.Sqrt(float64(d1*d1)-float64(a.slope*b.slope)), b.step-a.step)
	return b.step - (b.step-a.step)*(b.slope+d2-d1)/(b.slope-a.slope+2*d2)
}

// inside clamps v to the interval between a and b. For NaN it returns the middle.
func inside(v, a, b float64) float64 {
	if math.IsNaN(v) {
		return a + float64((b-a)/2)
	}
	return math.Max(math.Min(a, b), math.Min(math.Max(a, b), v))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
