package propensity

import (
	"math"
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/elementary"
)

// edge compares the clicks in two slots on the pages where chance decided which documents stood there. Every
// document was as likely in either slot, so the ratio of clicks estimates that of the propensities
// (Joachims et al., WSDM 2017; for neighbours Radlinski and Joachims, AAAI 2006).
type edge struct {
	edgeKey

	strata [2][Groups]drawn // of swaps: not exchanged, exchanged; of shuffled pages only the first
}

type edgeKey struct {
	a, b     uint16 // slots
	shuffled bool
}

// drawn is the weight of the pages of a group, and of those with a click in either slot.
type drawn struct{ pages, a, b float64 }

// addEdges counts what was drawn on a page.
func (l *Log) addEdges(p *click.Page, slots []uint16, group uint8) {
	if p.Shuffled == 0 && p.Pairs == 0 && p.Swapped == [2]int{} {
		return
	}
	touched := make([]bool, len(slots))
	add := func(r, s int, shuffled bool, stratum int) {
		k := edgeKey{slots[r], slots[s], shuffled}
		i, ok := l.edgeOf[k]
		if !ok {
			if l.edgeOf == nil {
				l.edgeOf = map[edgeKey]int32{}
			}
			i = int32(len(l.edges))
			l.edgeOf[k] = i
			l.edges = append(l.edges, edge{edgeKey: k})
		}
		touched[r], touched[s] = true, true
		d := &l.edges[i].strata[stratum][group]
		d.pages += p.Weight
		if p.Clicked(r) {
			d.a += p.Weight
		}
		if p.Clicked(s) {
			d.b += p.Weight
		}
	}
	for r := 1; r < p.Shuffled; r++ {
		add(0, r, true, 0)
	}
	if s := p.Swapped; s != [2]int{} {
		add(min(s[0], s[1]), max(s[0], s[1]), false, stratum(p.Swap))
	}
	for r := p.Pairs - 1; p.Pairs > 0 && r+1 < len(slots); r += 2 {
		add(r, r+1, false, stratum(slices.Contains(p.Exchanged, r)))
	}
	for r, slot := range slots {
		if touched[r] {
			l.slots[slot].drawn += p.Weight
		}
	}
}

func stratum(exchanged bool) int {
	if exchanged {
		return 1
	}
	return 0
}

// ratio is the logarithm of θ_b/θ_a with the influence of each group. Pages that were exchanged and pages that
// were not count alike, whatever their shares: clicks are weighted by 1/share.
type ratio struct {
	a, b      int // places in the order
	log       float64
	clicks    [2]float64
	influence [Groups]float64
}

func (e *edge) ratio(a, b int) (r ratio, ok bool) {
	r.a, r.b = a, b
	strata := e.strata[:]
	if e.shuffled {
		strata = strata[:1]
	}
	var sums [2]drawn
	for s := range strata {
		for g := range strata[s] {
			d := &strata[s][g]
			sums[s].pages += d.pages
			sums[s].a += d.a
			sums[s].b += d.b
		}
		if sums[s].pages == 0 {
			return r, false
		}
		r.clicks[0] += sums[s].a
		r.clicks[1] += sums[s].b
	}
	var rates [2]float64
	for s := range strata {
		rates[0] += sums[s].a / sums[s].pages
		rates[1] += sums[s].b / sums[s].pages
	}
	if !(rates[0] > 0 && rates[1] > 0) {
		return r, false
	}
	r.log = elementary.Log(rates[1] / rates[0])
	for g := range Groups {
		z := 0.0
		for s := range strata {
			d, all := strata[s][g], sums[s]
			z += (d.b - float64(all.b/all.pages*d.pages)) / all.pages / rates[1]
			z -= (d.a - float64(all.a/all.pages*d.pages)) / all.pages / rates[0]
		}
		r.influence[g] = z
	}
	return r, true
}

// ratios returns the ratios of the slots of an order, from shuffled pages or from exchanges.
func (l *Log) ratios(order []int, shuffled bool) []ratio {
	at := places(order, len(l.slots))
	var list []ratio
	for i := range l.edges {
		e := &l.edges[i]
		a, b := at[e.a], at[e.b]
		if e.shuffled != shuffled || a < 0 || b < 0 {
			continue
		}
		if r, ok := e.ratio(a, b); ok && min(r.clicks[0], r.clicks[1]) >= LeastClicks {
			list = append(list, r)
		}
	}
	return list
}

// groupCount returns the number of groups that have pages.
func (l *Log) groupCount() (n float64) {
	for _, w := range l.groups {
		if w > 0 {
			n++
		}
	}
	return n
}

// interventions estimates the logarithms of the propensities by least squares on those of the ratios. With
// one ratio a slot, it is the product of ratios from the first slot down.
func (l *Log) interventions(order []int, shuffled bool) (*fitted, error) {
	k := len(order)
	list := l.ratios(order, shuffled)
	a, y := newSymmetric(k-1), make([]float64, k-1)
	influence := make([][]float64, Groups)
	for g := range influence {
		influence[g] = make([]float64, k-1)
	}
	for i := range list {
		r := &list[i]
		w := r.clicks[0] * r.clicks[1] / (r.clicks[0] + r.clicks[1]) // the inverse of the variance of independent clicks
		a.difference(r.b-1, r.a-1, w)
		toward(y, r.b-1, r.a-1, float64(w*r.log))
		for g := range influence {
			toward(influence[g], r.b-1, r.a-1, float64(w*r.influence[g]))
		}
	}
	if !a.factor() {
		return nil, errSingular
	}
	a.solve(y)
	for g := range influence {
		a.solve(influence[g])
		influence[g] = append([]float64{0}, influence[g]...) // of the first slot
	}
	n := l.groupCount()
	f := &fitted{logs: append([]float64{0}, y...)}
	f.errors, f.covariance = spread(influence, n/(n-1), k, k)
	return f, nil
}

// spread returns the standard deviations of the columns of rows, and the covariances of the first k, in the lower
// triangle. Columns have the mean 0, and factor times their sum of squares is the variance.
func spread(rows [][]float64, factor float64, columns, k int) (deviations []float64, covariance [][]float64) {
	deviations = make([]float64, columns)
	for i := range deviations {
		for _, row := range rows {
			deviations[i] += float64(row[i] * row[i])
		}
		deviations[i] = math.Sqrt(deviations[i] * factor)
	}
	if k > mostCovariances || slices.ContainsFunc(deviations[:k], func(v float64) bool { return known(v) == nil }) {
		return deviations, nil
	}
	for i := range k {
		list := make([]float64, i+1)
		for _, row := range rows {
			for j := range list {
				list[j] += float64(row[i] * row[j])
			}
		}
		for j := range list {
			list[j] *= factor
		}
		covariance = append(covariance, list)
	}
	return deviations, covariance
}

// mostCovariances is the largest number of slots with covariances, which a file has.
const mostCovariances = 100

// toward adds v to place a and subtracts it from place b. Place −1 is that of the first slot, which is fixed.
func toward(to []float64, a, b int, v float64) {
	if a >= 0 {
		to[a] += v
	}
	if b >= 0 {
		to[b] -= v
	}
}
