package model

import (
	"cmp"
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// cells are the places of a log that a model with P(click) = x·y cannot tell apart: x is the parameter
// of the pair, y one of Shared. Cells are grouped by pair.
type cells struct {
	starts  []int32 // first cell of each pair, and the end
	at      []int32 // index in Shared
	clicked []float64
	rest    []float64 // shown and not clicked
}

// cellsBy groups the cells of the log. at returns the index in Shared.
func (d *Data) cellsBy(at func(click.Cell) int) *cells {
	type counted struct {
		at int32
		click.Count
	}
	c := &cells{starts: make([]int32, 1, len(d.starts))}
	var own []counted
	for pair := range d.names.len() {
		own = own[:0]
		for i := d.starts[pair]; i < d.starts[pair+1]; i++ {
			own = append(own, counted{int32(at(d.list[i])), d.counts[i]})
		}
		slices.SortStableFunc(own, func(a, b counted) int { return cmp.Compare(a.at, b.at) })
		for i, cell := range own {
			if i > 0 && cell.at == own[i-1].at {
				k := len(c.at) - 1
				c.clicked[k] += cell.Clicked
				c.rest[k] += cell.Shown - cell.Clicked
				continue
			}
			c.at = append(c.at, cell.at)
			c.clicked = append(c.clicked, cell.Clicked)
			c.rest = append(c.rest, cell.Shown-cell.Clicked)
		}
		c.starts = append(c.starts, int32(len(c.at)))
	}
	return c
}

// cellFit is expectation maximisation over cells. With a click, users looked and were attracted. Without,
//
//	q(attracted) = x(1−y)/(1−xy)   q(looked) = y(1−x)/(1−xy)
type cellFit struct {
	*fitting
	*cells
	sums      *parallel.Sums
	step      func(worker, from, to int, looked []float64) float64
	buffers   [][]float64 // of the workers
	attracted []float64   // expected number of attracted users without a click, by pair
	clicks    []float64   // by index in Shared
	shown     []float64   // by index in Shared
}

func newCellFit(f *fitting, c *cells) *cellFit {
	e := &cellFit{fitting: f, cells: c, attracted: make([]float64, len(f.Attraction)), clicks: make([]float64, len(f.Shared)), shown: make([]float64, len(f.Shared))}
	for i, at := range c.at {
		e.clicks[at] += c.clicked[i]
		e.shown[at] += c.clicked[i] + c.rest[i]
	}
	blocks := cuts(c.starts, len(f.Shared))
	e.sums = parallel.NewSums(len(f.Shared), blocks)
	largest := 0
	for b := range e.sums.Blocks() {
		from, to := blocks[b], blocks[b+1]
		largest = max(largest, int(c.starts[to]-c.starts[from]))
	}
	e.buffers = make([][]float64, parallel.Workers(f.o.Workers, e.sums.Blocks()))
	for i := range e.buffers {
		e.buffers[i] = make([]float64, largest)
	}
	e.step = e.expectRange
	return e
}

func (e *cellFit) expect() (x expectation) {
	var pairs, places float64
	x.loglik = e.sums.Run(len(e.buffers), e.step)
	x.logs.attraction, pairs = e.logs(e.Attraction, e.d.clicked)
	x.logs.shared, places = e.logs(e.Shared, e.clicks)
	x.loglik += pairs + places
	x.means.Attraction = e.d.clicks / (kernel.Sum(e.sums.Total) + e.d.clicks)
	return x
}

func (e *cellFit) expectRange(worker, from, to int, looked []float64) float64 {
	first, end := e.starts[from], e.starts[to]
	z := e.buffers[worker][:end-first]
	rest := e.rest[first:end]
	at := e.at[first:end]
	i := 0
	for pair := from; pair < to; pair++ {
		x, q := e.Attraction[pair], 0.0
		not := 1 - x
		for n := int(e.starts[pair+1] - first); i < n; i++ {
			k := at[i]
			y := e.Shared[k]
			none := 1 - float64(x*y)
			z[i] = none
			w := rest[i] / none
			looks := float64(w * y)
			q += w - looks
			looked[k] += float64(looks * not)
		}
		e.attracted[pair] = float64(q * x)
	}
	kernel.Log(z, z)
	return kernel.Dot(rest, z)
}

func (e *cellFit) maximise() {
	for pair, q := range e.attracted {
		e.Attraction[pair] = e.rate(e.Unseen.Attraction, e.d.clicked[pair]+q, e.d.shown[pair])
	}
	for at, q := range e.sums.Total {
		e.Shared[at] = laplace(e.clicks[at]+q, e.shown[at])
	}
}

// weighCells adds the expected examinations and the information about attraction of each pair.
func weighCells(f *fitting, c *cells, e *evidence) {
	info := make([]float64, len(f.Attraction))
	for pair, x := range f.Attraction {
		for i := c.starts[pair]; i < c.starts[pair+1]; i++ {
			y := f.Shared[c.at[i]]
			e.examined[pair] += float64((c.clicked[i] + c.rest[i]) * y)
			slope := y / (1 - float64(x*y))
			info[pair] += c.clicked[i]/float64(x*x) + float64(c.rest[i]*slope*slope)
		}
	}
	e.attraction = f.variances(f.Attraction, f.Unseen.Attraction, info)
}
