package model

// rctr is the click-through rate by slot: a click in slot k has the probability ρ_k.
type rctr struct{}

func newRCTR() *Kind {
	return &Kind{Name: "rctr", Title: "click-through rate by slot", shared: shared{"click_rate", perSlot, bySlot}, law: rctr{}}
}

func (rctr) fit(f *fitting) error {
	shown, clicked := make([]float64, len(f.Shared)), make([]float64, len(f.Shared))
	for i, c := range f.d.list {
		shown[c.Slot] += f.d.counts[i].Shown
		clicked[c.Slot] += f.d.counts[i].Clicked
	}
	for k := range f.Shared {
		f.Shared[k] = laplace(clicked[k], shown[k])
	}
	return nil
}

func (rctr) conditional(v *view) {
	for r, k := range v.slot {
		v.out[r] = v.Shared[k]
	}
}

func (m rctr) full(v *view) { m.conditional(v) }

func (rctr) relevance(_, _ float64) (value, da, ds float64) { return 0, 0, 0 }

func (rctr) weigh(*fitting, *evidence) {}
