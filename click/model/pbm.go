package model

import "github.com/listwise/listwise/click"

// pbm is the position-based model (Craswell, Zoeter, Taylor and Ramsey, WSDM 2008): users look at slot k with
// probability θ_k, and P(click) = α_qd θ_k.
type pbm struct{ byAttraction }

func newPBM() *Kind {
	return &Kind{Name: "pbm", Title: "position-based model", Iterates: true, attracts: true, shared: shared{"examination", perSlot, bySlot}, law: pbm{}}
}

func (pbm) cells(d *Data) *cells { return d.cellsBy(func(c click.Cell) int { return int(c.Slot) }) }

func (m pbm) fit(f *fitting) error { return f.ascend(newCellFit(f, m.cells(f.d))) }

func (pbm) conditional(v *view) {
	for r, k := range v.slot {
		v.out[r] = float64(v.a[r] * v.Shared[k])
	}
}

func (m pbm) full(v *view) { m.conditional(v) }

func (m pbm) weigh(f *fitting, e *evidence) { weighCells(f, m.cells(f.d), e) }
