package boost

import (
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// Columns gives the features of a data set one at a time, from a temporary file.
type Columns struct {
	stored  *stored
	values  []float32
	last    int
	workers int
}

// NewColumns reads a data set once, which may be streamed. Of the options it takes Workers, Memory, of which it holds
// what the longest query needs at least, and Note.
func NewColumns(d *dataset.Dataset, o Options) (*Columns, error) {
	part := 16 << 20
	if o.Memory > 0 {
		part = int(min(int64(part), o.Memory))
	}
	s, err := newStored(d, wholeLayout(d), false, part, o)
	if err != nil {
		return nil, err
	}
	return &Columns{stored: s, values: block.New(padded(d.Docs())), last: math.MinInt, workers: o.Workers}, nil
}

// Of returns a feature of all documents, valid until the next call. If reading fails it panics with a value
// that [dataset.GuardFaults] makes an error of.
func (c *Columns) Of(feature int) []float32 {
	if feature != c.last {
		block.ReadTemporary(c.stored.file, c.values, c.stored.column(feature))
		c.last = feature
	}
	return c.values[:c.stored.docs]
}

// Close removes the file.
func (c *Columns) Close() error { return c.stored.file.Close() }

// Score sets dst to the documents' scores by a linear function, and reads the features whose weights are not 0, which
// must be finite. The scores are equal to those of [scorer.Linear]: sums of the same products in the same order. If
// reading fails it panics as Of does.
func (c *Columns) Score(dst, weights []float64) {
	p := pickLanes(weights)
	if p.width == 0 {
		clear(dst)
		return
	}
	room := padded(1 << 14)
	parts := (len(dst) + room - 1) / room
	columns, rows := make([][]float32, parallel.Workers(c.workers, parts)), make([][]float32, parallel.Workers(c.workers, parts))
	parallel.For(parts, c.workers, func(worker, i int) {
		if rows[worker] == nil {
			columns[worker], rows[worker] = block.New(room), block.New(room*p.width)
		}
		from := i * room
		n := min(room, len(dst)-from)
		column, x := columns[worker][:padded(n)], rows[worker][:n*p.width]
		for k, f := range p.features {
			block.ReadTemporary(c.stored.file, column, c.stored.column(f)+4*int64(from))
			at := p.places[k]
			for _, v := range column[:n] {
				x[at] = v
				at += p.width
			}
		}
		kernel.Gemv(dst[from:from+n], x, p.weights)
	})
}

// picked are the features whose weights are not 0, and where they are in rows that have no others, so that each is in
// the lane of kernel.Dot32 that it is in with all features.
type picked struct {
	features, places []int
	width            int
	weights          []float64 // of such a row
}

func pickLanes(weights []float64) picked {
	var p picked
	var used [kernel.Lanes32]int
	for f, w := range weights {
		if w == 0 {
			continue
		}
		lane := kernel.Lane32(f, len(weights))
		p.features, p.places = append(p.features, f), append(p.places, lane+kernel.Lanes32*used[lane])
		used[lane]++
		p.width = max(p.width, kernel.Lanes32*used[lane])
	}
	p.weights = make([]float64, p.width)
	for k, at := range p.places {
		p.weights[at] = weights[p.features[k]]
	}
	return p
}
