package propensity

import (
	"slices"

	"github.com/listwise/listwise/internal/elementary"
)

// dual learns a linear ranker and propensities together (Ai et al., SIGIR 2018). Both have a softmax loss. The
// ranker's weighs a click by the inverse of its slot's propensity, that of the propensities by the inverse of its
// document's, each relative to the first. Clicks of pages alone matter, so pages without clicks only count.
type dual struct {
	pages []dualPage
	all   [Groups]float64 // weight of all pages

	k, dim     int
	iterations int
}

// dualPage is a page with clicks.
type dualPage struct {
	group  uint8
	weight float64

	rows    [][]float64
	slots   []int
	clicked []bool
}

const (
	dualRate   = 0.5
	slotsRate  = 4 * dualRate
	mostWeight = 100 // of a click
)

// newDual returns the pages whose documents have features. A document without is left out of its page.
func (l *Log) newDual(order []int, o *Options) *dual {
	at, k := places(order, len(l.slots)), &l.clicked
	d := &dual{all: l.groups, k: len(order), dim: o.Features.dim - 1, iterations: o.Iterations}
	for i := range k.starts {
		to := int32(len(k.pairs))
		if i+1 < len(k.starts) {
			to = k.starts[i+1]
		}
		p := dualPage{group: k.groups[i], weight: k.weight[i]}
		for j := k.starts[i]; j < to; j++ {
			pair := l.pair(int(k.pairs[j]))
			if a := at[k.slots[j]]; a >= 0 && o.Features.Has(pair) {
				p.rows, p.slots, p.clicked = append(p.rows, o.Features.row(pair)[:d.dim]), append(p.slots, a), append(p.clicked, k.clicked[j])
			}
		}
		if slices.Contains(p.clicked, true) {
			d.pages = append(d.pages, p)
		}
	}
	return d
}

// fit returns the logarithms of the propensities after steps along the gradients over all pages.
func (d *dual) fit(weights []float64) ([]float64, error) {
	w, g := make([]float64, d.dim), make([]float64, d.k)
	all := 0.0
	for i, n := range d.all {
		if weights != nil {
			n *= weights[i]
		}
		all += n
	}
	var soft, gradient []float64
	for range d.iterations {
		dw, dg := make([]float64, d.dim), make([]float64, d.k)
		p := softmax(nil, g)
		for i := range d.pages {
			page := &d.pages[i]
			n := page.weight
			if weights != nil {
				n *= weights[page.group]
			}
			if n == 0 {
				continue
			}
			scores := soft[:0]
			for _, row := range page.rows {
				scores = append(scores, dot(w, row))
			}
			soft = softmax(scores, scores)
			gradient = gradient[:0]
			ranker, slots := 0.0, 0.0
			for r, k := range page.slots {
				a := 0.0
				if page.clicked[r] {
					a = float64(n * min(p[0]/p[k], mostWeight))
					b := float64(n * min(soft[0]/soft[r], mostWeight))
					dg[k] += b
					slots += b
				}
				gradient = append(gradient, a)
				ranker += a
			}
			for k := range dg {
				dg[k] -= float64(slots * p[k])
			}
			for r, row := range page.rows {
				v := gradient[r] - float64(ranker*soft[r])
				for c, x := range row {
					dw[c] += float64(v * x)
				}
			}
		}
		for c := range w {
			w[c] += float64(dualRate / all * dw[c])
		}
		for k := range g {
			g[k] += float64(slotsRate / all * dg[k])
		}
	}
	logs := make([]float64, d.k)
	for i := range logs {
		logs[i] = g[i] - g[0]
	}
	return logs, nil
}

// softmax writes the probabilities of scores to dst, which may be the scores.
func softmax(dst, scores []float64) []float64 {
	most, sum := slices.Max(scores), 0.0
	dst = append(dst[:0], scores...)
	for i, s := range dst {
		dst[i] = elementary.Exp(s - most)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
	return dst
}
