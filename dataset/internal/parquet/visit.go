package parquet

import (
	"fmt"
	"unsafe"

	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
)

// each calls visit with batches of all documents, in order. While visit runs, a goroutine makes the next
// batch.
func (r *reader) each(visit func(b *stream.Batch) error) error {
	held := r.held()
	if err := r.in.Mem.Take(held, "columns"); err != nil {
		return err
	}
	defer r.in.Mem.Give(held)
	free, full, stop := make(chan *place, 2), make(chan *place), make(chan struct{})
	for range cap(free) {
		free <- &place{x: make([]float32, r.most*r.columns)}
	}
	var fault error // error of make; set when full is closed
	go func() {
		defer close(full)
		fault = r.make(free, full, stop)
	}()
	defer func() {
		close(stop)
		for range full { // wait until make returns
		}
		r.release()
	}()
	for p := range full {
		r.observe(p.end)
		if len(p.batch.Grades) > 0 { // otherwise all documents were dropped
			r.kept += len(p.batch.Grades)
			if err := visit(&p.batch); err != nil {
				return err
			}
		}
		free <- p
	}
	return fault
}

// held returns the memory of the reader that does not depend on the content of columns. A few MB are not
// counted.
func (r *reader) held() int64 {
	const few = 4 << 20
	bytes := int64(unsafe.Sizeof(cursor{}))*int64(len(r.cursors)) + 3*4*int64(r.most)*int64(r.columns) // two batches, and one stored by column
	return max(0, bytes-few)
}

// place is reused memory for a batch.
type place struct {
	batch stream.Batch
	x     []float32
	end   int64 // number of rows read up to the end of the batch
}

// make makes batches until all rows are read or stop is closed.
func (r *reader) make(free <-chan *place, full chan<- *place, stop <-chan struct{}) error {
	for i := range r.groups {
		if err := r.open(&r.groups[i]); err != nil {
			return err
		}
		for r.left > 0 {
			if err := input.Context(r.opts).Err(); err != nil {
				return fmt.Errorf("%s: %w", r.in.Name, err)
			}
			var p *place
			select {
			case p = <-free:
			case <-stop: // visit returned an error
				return nil
			}
			if err := r.fill(p); err != nil {
				return err
			}
			select {
			case full <- p:
			case <-stop:
				return nil
			}
		}
	}
	return nil
}

// release releases the memory of the columns.
func (r *reader) release() {
	for _, c := range r.cursors {
		c.close()
	}
	for i := range r.tools {
		r.tools[i].release()
	}
	r.own.release()
}

// observe reports progress. Rows are converted to bytes of the file, and a survey is the first half.
func (r *reader) observe(rows int64) {
	if r.opts.Observe == nil {
		return
	}
	done := int64(float64(rows) / float64(r.rows()) * float64(r.file.in.Size))
	if r.columns > 0 {
		done += r.file.in.Size
	}
	r.opts.Observe(done, 2*r.file.in.Size)
}
