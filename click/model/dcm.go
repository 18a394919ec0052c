package model

// dcm is the dependent click model (Guo, Liu and Wang, WSDM 2009), a chain. After a click at rank r, users go on with
// probability λ_r. Without a click they always go on. The closed form assumes that users stopped at the last click
// and looked at the whole page without one.
type dcm struct{ byAttraction }

func newDCM() *Kind {
	return &Kind{Name: "dcm", Title: "dependent click model", Patterns: true, Exact: true, attracts: true, shared: shared{"continuation", perRank, byRank}, law: dcm{}}
}

func (dcm) parts(shared, _, _, on []float64) float64 {
	copy(on, shared)
	return 1
}

func (m dcm) conditional(v *view) { conditionalChain(m, v) }

func (m dcm) full(v *view) { fullChain(m, v) }

func (m dcm) fit(f *fitting) error {
	if f.Exact {
		return f.ascend(newChainFit(f, m))
	}
	looked, _ := f.d.lastStops()
	f.rates(f.Attraction, &f.Unseen.Attraction, f.d.clicked, looked)
	clicks, on := make([]float64, len(f.Shared)), make([]float64, len(f.Shared))
	for i, weight := range f.d.weight {
		for r, click := range f.d.click[f.d.page[i]:f.d.page[i+1]] {
			if click {
				clicks[r] += weight
				if r < int(f.d.last[i]) {
					on[r] += weight
				}
			}
		}
	}
	for r := range f.Shared {
		f.Shared[r] = laplace(on[r], clicks[r])
	}
	return nil
}

// lastStops returns the number of pages on which users looked at each pair, and of those with the last click on it, if
// they stopped at the last click.
func (d *Data) lastStops() (looked, stopped []float64) {
	looked, stopped = make([]float64, d.names.len()), make([]float64, d.names.len())
	for i, weight := range d.weight {
		pairs := d.pair[d.page[i]:d.page[i+1]]
		if last := d.last[i]; last >= 0 {
			pairs = pairs[:last+1]
			stopped[pairs[last]] += weight
		}
		for _, pair := range pairs {
			looked[pair] += weight
		}
	}
	return looked, stopped
}

func (dcm) collect(_ *chainFit, w *walk, _ []int32, weight, z float64, could, went []float64) {
	for r := range w.last {
		if w.click[r] {
			could[r] += weight
			went[r] += weight
		}
	}
	if l := w.last; l >= 0 && l < len(w.a)-1 {
		could[l] += weight
		went[l] += float64(z * w.on[l] * w.none[l+1])
	}
}

func (dcm) maximise(f *chainFit, could, went []float64) {
	f.attract()
	f.continues(could, went)
}

func (m dcm) weigh(f *fitting, e *evidence) {
	if f.Exact {
		newChainFit(f, m).weigh(e, func(*walk, int) (float64, float64) { return 0, 0 })
		return
	}
	looked, _ := f.d.lastStops()
	copy(e.examined, looked)
	e.attraction = f.betaVariances(f.Attraction, looked)
}
