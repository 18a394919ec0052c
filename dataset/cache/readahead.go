package cache

import (
	"slices"
	"sync"

	"github.com/listwise/listwise/internal/block"
)

// readAhead reads parts of a matrix before they are asked for, some at a time, around the system's
// cache where it can. What was announced and is not read stays in its memory until there is too much.
type readAhead struct {
	file   *block.File
	offset int64 // of the matrix
	align  int
	most   int // bytes that are held, but for one extent

	mu      sync.Mutex
	of      map[int]*extent // by query
	order   []*extent       // oldest first
	held    int             // bytes of extents
	free    [][]byte
	kept    int           // bytes of free
	reading chan struct{} // has room for as many reads as may be under way
}

// extent is what is read at once: the bytes of some queries.
type extent struct {
	from    int // the first query
	to      int // the query after the last
	begin   int // in the matrix, of the first query
	head    int // bytes in memory before that
	bytes   []byte
	left    int // queries not yet read
	done    chan struct{}
	err     error
	dropped bool
}

const (
	mostReading = 16
	mostFree    = 48
	largestRead = 1 << 20 // of a pooled buffer; longer ones are not kept
)

// newReadAhead returns memory to read ahead in: a 32nd part of a limit, from 1 to 32 MiB.
func newReadAhead(f *block.File, offset, limit int64) *readAhead {
	most := int(min(max(limit/32, 1<<20), 32<<20))
	return &readAhead{file: f, offset: offset, most: most, align: f.Direct(), of: make(map[int]*extent), reading: make(chan struct{}, mostReading)}
}

// soon begins to read the bytes begin ≤ i < end of the matrix, those of the queries from ≤ q < to,
// unless they are being read already.
func (r *readAhead) soon(from, to, begin, end int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for q := from; q < to; q++ {
		if r.of[q] != nil {
			return // as by another goroutine that reads the same queries in order
		}
	}
	e := &extent{from: from, to: to, begin: begin, left: to - from, done: make(chan struct{})}
	e.head, e.bytes = r.buffer(begin, end)
	r.held += len(e.bytes)
	r.order = slices.DeleteFunc(r.order, func(o *extent) bool { return o.dropped })
	for len(r.order) > 0 && r.held > r.most {
		r.drop(r.order[0])
		r.order = r.order[1:]
	}
	r.order = append(r.order, e)
	for q := from; q < to; q++ {
		r.of[q] = e
	}
	go func() {
		r.reading <- struct{}{}
		e.err = r.file.ReadAt(e.bytes, r.offset+int64(begin-e.head))
		<-r.reading
		close(e.done)
	}()
}

// drop forgets an extent. Whoever waits for it has it still.
func (r *readAhead) drop(e *extent) {
	if e.dropped {
		return
	}
	e.dropped = true
	r.held -= len(e.bytes)
	for q := e.from; q < e.to; q++ {
		if r.of[q] == e {
			delete(r.of, q)
		}
	}
}

// buffer returns memory for bytes of the matrix, and how many there are before them because reads
// begin and end at multiples of a number.
func (r *readAhead) buffer(begin, end int) (head int, b []byte) {
	at := int(r.offset) + begin
	head = at % r.align
	n := (head + end - begin + r.align - 1) / r.align * r.align
	for i := len(r.free) - 1; i >= 0; i-- {
		if f := r.free[i]; cap(f) >= n {
			r.free, r.kept = append(r.free[:i], r.free[i+1:]...), r.kept-cap(f)
			return head, f[:n]
		}
	}
	unit := 1 << 15 // so that what is free fits most others
	if n > 1<<18 {
		unit = 1 << 18
	}
	return head, block.Aligned((n+unit-1)/unit*unit, r.align)[:n]
}

// read sets b to the bytes of a query, which begin at a place of the matrix.
func (r *readAhead) read(b []byte, query, begin int) error {
	r.mu.Lock()
	e := r.of[query]
	if e != nil {
		delete(r.of, query)
	}
	r.mu.Unlock()
	if e == nil {
		return r.fetch(b, begin)
	}
	<-e.done
	if e.err != nil {
		return e.err
	}
	copy(b, e.bytes[e.head+begin-e.begin:])
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.left--; e.left == 0 {
		r.drop(e)
		r.recycle(e.bytes)
	}
	return nil
}

// fetch reads bytes from a place of the matrix on.
func (r *readAhead) fetch(b []byte, begin int) error {
	r.mu.Lock()
	head, whole := r.buffer(begin, begin+len(b))
	r.mu.Unlock()
	if err := r.file.ReadAt(whole, r.offset+int64(begin-head)); err != nil {
		return err
	}
	copy(b, whole[head:])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recycle(whole)
	return nil
}

// recycle keeps memory for another read.
func (r *readAhead) recycle(b []byte) {
	if cap(b) <= 2*largestRead && len(r.free) < mostFree && r.kept+cap(b) <= r.most {
		r.free, r.kept = append(r.free, b), r.kept+cap(b)
	}
}
