package model

// gctr is the global click-through rate: every click has the probability ρ.
type gctr struct{}

func newGCTR() *Kind {
	return &Kind{Name: "gctr", Title: "global click-through rate", shared: shared{"click_rate", one, byNothing}, law: gctr{}}
}

func (gctr) fit(f *fitting) error {
	shown := 0.0
	for _, n := range f.d.shown {
		shown += n
	}
	f.Shared[0] = laplace(f.d.clicks, shown)
	return nil
}

func (gctr) conditional(v *view) {
	for r := range v.out {
		v.out[r] = v.Shared[0]
	}
}

func (g gctr) full(v *view) { g.conditional(v) }

func (gctr) relevance(_, _ float64) (value, da, ds float64) { return 0, 0, 0 }

func (gctr) weigh(*fitting, *evidence) {}
