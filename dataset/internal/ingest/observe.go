package ingest

import (
	"io"
	"sync/atomic"
)

// passes is how often text is read.
const passes = 2

// observedReader reports how much of a text was read in all passes.
type observedReader struct {
	io.ReaderAt

	total   int64
	done    atomic.Int64
	observe func(done, total int64)
}

// observed returns r with calls of observe, unless that is nil.
func observed(r io.ReaderAt, size int64, observe func(done, total int64)) io.ReaderAt {
	if observe == nil {
		return r
	}
	return &observedReader{ReaderAt: r, total: passes * size, observe: observe}
}

// ReadAt implements io.ReaderAt. Chunks overlap by the end of a line, so the sum may exceed the total.
func (o *observedReader) ReadAt(b []byte, at int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(b, at)
	o.observe(min(o.done.Add(int64(n)), o.total), o.total)
	return n, err
}
