package optimize

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// The line search looks along φ(α) = f(x + α·dir) for a step that satisfies the
// strong Wolfe conditions (Nocedal and Wright, eq. 3.7)
//
//	φ(α) ≤ φ(0) + c₁αφ′(0)  and  |φ′(α)| ≤ c₂|φ′(0)|
//
// Near a minimum rounding hides how φ changes long before φ′ loses its meaning. So if φ(α) and φ(0) differ
// by no more than noise·|φ(0)|, the first condition is also met by φ′(α) ≤ (2c₁ − 1)φ′(0). On a parabola
// this is the same (W. Hager and H. Zhang, SIAM J. Optim. 16:170–192, 2005, eq. 4.1).
const (
	c1    = 1e-4
	c2    = 0.9
	noise = 0x1p-46

	maxTrials    = 60 // evaluations in one search
	maxExpansion = 20 // of them to find an upper end
	patience     = 12 // of them within a bracket before taking a step that just decreases φ
)

// point is a step α, φ(α) and φ′(α). A point at which the objective is not
// finite has f = +Inf.
type point struct{ step, f, slope float64 }

// search looks for an acceptable step, beginning with first, and reports whether it found one, as the
// trial point. slope is φ′(0) < 0.
//
// It is algorithm 3.5: lo moves out until a minimum is bracketed.
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

// zoom is algorithm 3.6. lo, one end of the bracket, is the best point so far, and φ falls from it towards
// hi.
func (r *lbfgsRun) zoom(w *wolfe, lo, hi point) bool {
	for enough := r.trials + patience; r.more(); {
		if r.trials >= enough && (w.fallback(lo).step > 0 || w.hopeless(hi)) {
			break
		}
		width := hi.step - lo.step
		step := lo.step + float64(width/2)
		// Bisecting now and then bounds the number of trials where
		// interpolation creeps.
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

// settle accepts the best point of a search that found no strong-Wolfe point.
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

// wolfe judges the points of one search.
type wolfe struct {
	origin point
	noise  float64 // differences of φ below it are rounding
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

// tooHigh reports whether a minimum lies between p and the lower point lo.
func (w *wolfe) tooHigh(p, lo point) bool {
	return !w.decreases(p) || p.f > lo.f+w.noise
}

// note keeps a point that lies beyond a minimum and is lower than the origin. At a kink there may be no
// strong-Wolfe point. A step just over the kink still gives a pair that reflects it and has positive
// curvature (A. Lewis and M. Overton, Math. Program. 141:135–163, 2013).
func (w *wolfe) note(p point) {
	if w.decreases(p) && p.slope >= c2*w.origin.slope && (w.beyond.step == 0 || p.f < w.beyond.f) {
		w.beyond = p
	}
}

// fallback returns the point to take without a better one: one beyond the minimum, or else lo, which may
// be the origin.
func (w *wolfe) fallback(lo point) point {
	if w.beyond.step > 0 {
		return w.beyond
	}
	return lo
}

// hopeless reports whether only rounding can be gained between the origin and hi.
func (w *wolfe) hopeless(hi point) bool { return hi.step*-w.origin.slope <= w.noise }

// cubicMinimum returns the minimiser of the cubic that has the values and slopes
// of a and b (eq. 3.59); NaN if there is none.
func cubicMinimum(a, b point) float64 {
	d1 := a.slope + b.slope - 3*(a.f-b.f)/(a.step-b.step)
	d2 := math.Copysign(math.Sqrt(float64(d1*d1)-float64(a.slope*b.slope)), b.step-a.step)
	return b.step - (b.step-a.step)*(b.slope+d2-d1)/(b.slope-a.slope+2*d2)
}

// inside moves v into the interval between a and b; NaN becomes its middle.
func inside(v, a, b float64) float64 {
	if math.IsNaN(v) {
		return a + float64((b-a)/2)
	}
	return math.Max(math.Min(a, b), math.Min(math.Max(a, b), v))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
