package dataset

import "github.com/listwise/listwise/internal/parallel"

// Change calls fn with the feature vectors of every query, the row-major matrix that its X
// is, to change them in place: from several goroutines, each query once.
func (d *Dataset) Change(fn func(x []float32)) {
	if d.streamed {
		d.see(inPlaceLens(d.Features, fn))
		return
	}
	parallel.For(len(d.Queries), parallel.Workers(0, len(d.Queries)), func(_, i int) { fn(d.Queries[i].X) })
	d.missing = countMissing(d.x)
	d.Modified()
}

// see puts a lens before the features of a streamed data set.
func (d *Dataset) see(l Lens) {
	before := *d
	d.Queries = before.Through(l).Queries
	d.Modified()
}
