package model

// cm is the cascade model (Craswell, Zoeter, Taylor and Ramsey, WSDM 2008): users look at each rank to the first
// click, which they make with probability α_qd, and at none below.
type cm struct{ byAttraction }

func newCM() *Kind {
	return &Kind{Name: "cm", Title: "cascade model", attracts: true, shared: shared{size: none}, law: cm{}}
}

// seen returns the number of pages on which users looked at each pair, and of those with a click on it.
func (cm) seen(d *Data) (looked, clicked []float64) {
	looked, clicked = make([]float64, d.names.len()), make([]float64, d.names.len())
	for i, c := range d.list {
		if c.Above == 0 {
			looked[c.Pair] += d.counts[i].Shown
			clicked[c.Pair] += d.counts[i].Clicked
		}
	}
	return looked, clicked
}

func (m cm) fit(f *fitting) error {
	looked, clicked := m.seen(f.d)
	f.rates(f.Attraction, &f.Unseen.Attraction, clicked, looked)
	return nil
}

func (cm) conditional(v *view) {
	look := 1.0
	for r, a := range v.a {
		v.out[r] = float64(a * look)
		if v.click[r] {
			look = 0
		}
	}
}

func (cm) full(v *view) {
	look := 1.0
	for r, a := range v.a {
		v.out[r] = float64(a * look)
		look = float64(look * (1 - a))
	}
}

func (m cm) weigh(f *fitting, e *evidence) {
	looked, _ := m.seen(f.d)
	copy(e.examined, looked)
	e.attraction = f.betaVariances(f.Attraction, looked)
}
