package model

// sdbn is the simplified dynamic Bayesian network (Chapelle and Zhang, WWW 2009): a DBN whose users go on unless
// they are satisfied. The closed form assumes that the last click satisfied, and that users looked at the
// whole page without one. The exact fit is that of a DBN with κ = 1.
type sdbn struct{ dbn }

func newSDBN() *Kind {
	return &Kind{Name: "sdbn", Title: "simplified dynamic Bayesian network", Patterns: true, Exact: true, attracts: true, satisfies: true, shared: shared{size: none}, law: sdbn{}}
}

func (sdbn) parts(_, _, s, on []float64) float64 {
	for r, v := range s {
		on[r] = 1 - v
	}
	return 1
}

func (m sdbn) conditional(v *view) { conditionalChain(m, v) }

func (m sdbn) full(v *view) { fullChain(m, v) }

func (m sdbn) fit(f *fitting) error {
	if f.Exact {
		return f.ascend(newChainFit(f, m))
	}
	looked, stopped := f.d.lastStops()
	f.rates(f.Attraction, &f.Unseen.Attraction, f.d.clicked, looked)
	f.rates(f.Satisfaction, &f.Unseen.Satisfaction, stopped, f.d.clicked)
	return nil
}

func (sdbn) collect(f *chainFit, w *walk, pairs []int32, _, z float64, _, _ []float64) {
	if w.last >= 0 {
		f.satisfied[pairs[w.last]] += float64(z * w.s[w.last])
	}
}

func (sdbn) maximise(f *chainFit, _, _ []float64) {
	f.attract()
	f.satisfy()
}

func (m sdbn) weigh(f *fitting, e *evidence) {
	if f.Exact {
		newChainFit(f, m).weigh(e, m.curve)
		return
	}
	looked, _ := f.d.lastStops()
	copy(e.examined, looked)
	e.attraction = f.betaVariances(f.Attraction, looked)
	e.satisfaction = f.betaVariances(f.Satisfaction, f.d.clicked)
}
