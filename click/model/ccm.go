package model

// ccm is the click chain model (Guo and others, WWW 2009), a chain: a click satisfies with the probability
// of attraction. Users go on with probability τ₁ without a click, τ₂ after a click that did not satisfy, and
// τ₃ after one that did. The fit is exact expectation maximisation.
type ccm struct{}

func newCCM() *Kind {
	return &Kind{Name: "ccm", Title: "click chain model", Iterates: true, Patterns: true, attracts: true, shared: shared{"continuation", three, byNothing}, law: ccm{}}
}

func (ccm) parts(shared, a, _, on []float64) float64 {
	for r, v := range a {
		on[r] = float64(shared[1]*(1-v)) + float64(shared[2]*v)
	}
	return shared[0]
}

func (m ccm) conditional(v *view) { conditionalChain(m, v) }

func (m ccm) full(v *view) { fullChain(m, v) }

func (ccm) relevance(a, _ float64) (value, da, ds float64) { return float64(a * a), 2 * a, 0 }

func (m ccm) fit(f *fitting) error { return f.ascend(newChainFit(f, m)) }

// collect leaves out the last rank of the page, from which nobody goes on.
func (ccm) collect(f *chainFit, w *walk, pairs []int32, weight, z float64, could, went []float64) {
	n, l := len(pairs), w.last
	t2, t3 := f.Shared[1], f.Shared[2]
	for r := range l {
		if !w.click[r] {
			could[0] += weight
			went[0] += weight
			continue
		}
		satisfied := float64(weight*w.a[r]*t3) / w.on[r]
		f.satisfied[pairs[r]] += satisfied
		could[2] += satisfied
		went[2] += satisfied
		could[1] += weight - satisfied
		went[1] += weight - satisfied
	}
	if l >= 0 {
		a, none := w.a[l], w.none[l+1]
		satisfied := float64(z * a * (1 - t3 + float64(t3*none)))
		f.satisfied[pairs[l]] += satisfied
		if l < n-1 {
			could[2] += satisfied
			went[2] += float64(z * a * t3 * none)
			could[1] += weight - satisfied
			went[1] += float64(z * (1 - a) * t2 * none)
		}
	}
	for r := l + 1; r < n-1; r++ {
		could[0] += float64(z * w.look[r] * w.none[r])
		went[0] += float64(z * w.look[r+1] * w.none[r+1])
	}
}

// maximise counts attraction twice for a click: as what was clicked, and as what satisfied.
func (ccm) maximise(f *chainFit, could, went []float64) {
	for pair, q := range f.attracted {
		f.Attraction[pair] = f.rate(f.Unseen.Attraction, f.d.clicked[pair]+q+f.satisfied[pair], f.d.shown[pair]+f.d.clicked[pair])
	}
	f.continues(could, went)
}

func (m ccm) weigh(f *fitting, e *evidence) {
	slope := f.Shared[2] - f.Shared[1] // of K¹ in the attraction
	newChainFit(f, m).weigh(e, func(w *walk, r int) (attraction, satisfaction float64) {
		if r < w.last {
			return square(slope / w.on[r]), 0
		}
		return square(float64(slope*(1-w.none[r+1])) / w.tail), 0
	})
}
