package model

// dbn is the dynamic Bayesian network (Chapelle and Zhang, WWW 2009), a chain: a click satisfies with probability
// σ_qd, and satisfied users stop. Others go on with probability κ. The fit is exact expectation
// maximisation: posteriors of latent states are given all clicks of the page.
type dbn struct{}

func newDBN() *Kind {
	return &Kind{Name: "dbn", Title: "dynamic Bayesian network", Iterates: true, Patterns: true, attracts: true, satisfies: true, shared: shared{"continuation", one, byNothing}, law: dbn{}}
}

func (dbn) parts(shared, _, s, on []float64) float64 {
	for r, v := range s {
		on[r] = float64(shared[0] * (1 - v))
	}
	return shared[0]
}

func (m dbn) conditional(v *view) { conditionalChain(m, v) }

func (m dbn) full(v *view) { fullChain(m, v) }

func (dbn) relevance(a, s float64) (value, da, ds float64) { return float64(a * s), s, a }

func (m dbn) fit(f *fitting) error { return f.ascend(newChainFit(f, m)) }

// collect leaves out the last rank of the page, from which nobody goes on.
func (dbn) collect(f *chainFit, w *walk, pairs []int32, weight, z float64, could, went []float64) {
	n, l := len(pairs), w.last
	at, on := 0.0, 0.0
	if l >= 0 {
		f.satisfied[pairs[l]] += float64(z * w.s[l])
		up := float64(weight * float64(l))
		at, on = up, up
		if l < n-1 {
			at += float64(z * (1 - w.s[l]) * (1 - w.k0 + float64(w.k0*w.none[l+1])))
			on += float64(z * w.on[l] * w.none[l+1])
		}
	}
	for r := l + 1; r < n-1; r++ {
		at += float64(z * w.look[r] * w.none[r])
		on += float64(z * w.look[r+1] * w.none[r+1])
	}
	could[0] += at
	went[0] += on
}

func (dbn) maximise(f *chainFit, could, went []float64) {
	f.attract()
	f.satisfy()
	f.continues(could, went)
}

func (m dbn) weigh(f *fitting, e *evidence) { newChainFit(f, m).weigh(e, m.curve) }

// curve returns the curvature in the satisfaction: above the last click it was not satisfied, and the last click
// was satisfied or the tail has no clicks.
func (dbn) curve(w *walk, r int) (attraction, satisfaction float64) {
	if r < w.last {
		return 0, 1 / square(1-w.s[r])
	}
	return 0, square(float64(w.k0*(1-w.none[r+1])) / w.tail)
}
