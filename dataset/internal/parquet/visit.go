package parquet

import (
	"fmt"
	"unsafe"

	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
)

// each visits all documents. While a batch is visited the next one is made.
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
	var fault error // of what is made, once full is closed
	go func() {
		defer close(full)
		fault = r.make(free, full, stop)
	}()
	defer func() {
		close(stop)
		for range full { // until no more is made
		}
		r.release()
	}()
	for p := range full {
		r.observe(p.end)
		if len(p.batch.Grades) > 0 { // else all were dropped
			r.kept += len(p.batch.Grades)
			if err := visit(&p.batch); err != nil {
				return err
			}
		}
		free <- p
	}
	return fault
}

// held returns the memory for columns of any content. A few MB are not counted.
func (r *reader) held() int64 {
	const few = 4 << 20
	bytes := int64(unsafe.Sizeof(cursor{}))*int64(len(r.cursors)) + 3*4*int64(r.most)*int64(r.columns) // of two batches, and of one column by column
	return max(0, bytes-few)
}

// place is room for a batch.
type place struct {
	batch stream.Batch
	x     []float32
	end   int64 // the row of the file behind it
}

// make makes batches until stop is closed.
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
			case <-stop: // and the place that was visited last is not free
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

// release gives back what the columns hold.
func (r *reader) release() {
	for _, c := range r.cursors {
		c.close()
	}
	for i := range r.tools {
		r.tools[i].release()
	}
	r.own.release()
}

// observe reports progress in rows; a survey is half of the total.
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
