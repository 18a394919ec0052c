package dataset

import "github.com/listwise/listwise/internal/parallel"

// Change lets fn change the features in place. It calls fn once for every query, concurrently, with the
// row-major matrix of the query. For a streamed data set, it calls fn whenever features are read.
func (d *Dataset) Change(fn func(x []float32)) {
	if d.streamed {
		d.see(inPlaceLens(d.Features, fn))
		return
	}
	parallel.For(len(d.Queries), parallel.Workers(0, len(d.Queries)), func(_, i int) { fn(d.Queries[i].X) })
	d.missing = countMissing(d.x)
	d.Modified()
}

// see makes a streamed data set apply a lens to its features.
func (d *Dataset) see(l Lens) {
	before := *d
	d.Queries = before.Through(l).Queries
	d.Modified()
}
