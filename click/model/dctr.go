package model

// dctr is the click-through rate of documents: a click on document d of query q has the probability α_qd.
type dctr struct{ byAttraction }

func newDCTR() *Kind {
	return &Kind{Name: "dctr", Title: "click-through rate by query and document", attracts: true, shared: shared{size: none}, law: dctr{}}
}

func (dctr) fit(f *fitting) error {
	f.rates(f.Attraction, &f.Unseen.Attraction, f.d.clicked, f.d.shown)
	return nil
}

func (dctr) conditional(v *view) { copy(v.out, v.a) }

func (dctr) full(v *view) { copy(v.out, v.a) }

func (dctr) weigh(f *fitting, e *evidence) {
	copy(e.examined, f.d.shown)
	e.attraction = f.betaVariances(f.Attraction, f.d.shown)
}

// byAttraction is the relevance of models without satisfaction.
type byAttraction struct{}

func (byAttraction) relevance(a, _ float64) (value, da, ds float64) { return a, 1, 0 }
