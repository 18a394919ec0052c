package model

import "github.com/listwise/listwise/click"

// ubm is the user browsing model (Dupret and Piwowarski, SIGIR 2008). Examination depends on the rank r and the
// last click above, j: P(click | clicks above) = α_qd g(r, j). Shared has g by rank, then by 1 + j, where 0
// means that there is no click above.
type ubm struct{ byAttraction }

func newUBM() *Kind {
	return &Kind{Name: "ubm", Title: "user browsing model", Iterates: true, attracts: true, shared: shared{"examination", perAbove, byRank}, law: ubm{}}
}

func (ubm) cells(d *Data) *cells {
	return d.cellsBy(func(c click.Cell) int { return triangle(int(c.Rank)) + int(c.Above) })
}

func (m ubm) fit(f *fitting) error { return f.ascend(newCellFit(f, m.cells(f.d))) }

func (ubm) conditional(v *view) {
	above := 0
	for r, a := range v.a {
		v.out[r] = float64(a * v.Shared[triangle(r)+above])
		if v.click[r] {
			above = r + 1
		}
	}
}

// full adds over the last click above: work[j] is the probability that it is j, and of no click between.
func (ubm) full(v *view) {
	v.work[0] = 1
	for r, a := range v.a {
		g, total := v.Shared[triangle(r):triangle(r+1)], 0.0
		for j, w := range v.work[:r+1] {
			p := float64(w * a * g[j])
			total += p
			v.work[j] = w - p
		}
		v.out[r], v.work[r+1] = total, total
	}
}

func (m ubm) weigh(f *fitting, e *evidence) { weighCells(f, m.cells(f.d), e) }
