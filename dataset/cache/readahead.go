package cache

import (
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
)

// readAhead reads parts of a matrix before they are asked for, some at a time, around the system's
// cache where it can. What was announced and is not read stays in its memory until there is too much.
type readAhead struct {
	file    *block.File
	offset  int64 // of the matrix
	align   int
	most    int // bytes that are held, but for one extent
	readers int // each of which is lent a buffer of any length, that is kept for its next read

	mu      sync.Mutex
	of      map[int]*extent // by query
	order   []*extent       // oldest first
	held    int             // bytes of extents
	free    [][]byte
	kept    int           // bytes of free
	pools   [2]pool       // of large and of small buffers
	queue   *block.Queue  // nil if there is none
	reading chan struct{} // has room for as many reads without a queue as may be under way
}

// extent is what is read at once: the bytes of some queries, and of few between them that nobody reads. They
// are lent, not copied, so that a pass over data costs the processor no more than the arithmetic and the
// system's part of reading.
type extent struct {
	of      *readAhead
	from    int // the first query
	to      int // the query after the last
	begin   int // in the matrix, of the first query
	head    int // bytes in memory before that
	bytes   []byte
	pool    *pool // that bytes are of, nil for none
	left    int   // announced queries not yet lent
	users   int   // loans, and the read while it is under way
	done    chan struct{}
	err     error
	dropped bool
}

const (
	mostReading = 8        // reads under way without a queue, for each core
	mostQueued  = 128      // reads under way with one
	perCore     = 16 << 20 // bytes that are read ahead
	mostFree    = 256
	page        = 2 << 20 // a large page
	slot        = page / 16
)

// pool has buffers of one length in large pages of memory: a disk writes to one page for less of a processor's time
// than to hundreds.
type pool struct {
	unit int
	free [][]byte // nil before the first is asked for
}

// take returns a buffer of n bytes, nil if there is none that fits or that is free. What is free at first is a bit more than
// so many bytes altogether.
func (p *pool) take(n, most int) []byte {
	if n <= p.unit/16 || n > p.unit || most < 8*page {
		return nil
	}
	if p.free == nil {
		all := block.Aligned(most/8*9, page)
		block.AdviseHuge(all)
		p.free = slices.Collect(slices.Chunk(all[:len(all)/p.unit*p.unit], p.unit))
	}
	last := len(p.free) - 1
	if last < 0 {
		return nil
	}
	b := p.free[last]
	p.free = p.free[:last]
	return b[:n]
}

// newReadAhead returns memory to read ahead in: a 32nd part of a limit, from 1 MiB to 16 for each core.
func newReadAhead(f *block.File, offset, limit int64, cores int) *readAhead {
	most := int(min(max(limit/32, 1<<20), int64(cores)*perCore))
	return &readAhead{
		file: f, offset: offset, most: most, readers: cores, align: f.Direct(),
		of: make(map[int]*extent), pools: [2]pool{{unit: page}, {unit: slot}},
		queue: f.NewQueue(mostQueued), reading: make(chan struct{}, cores*mostReading),
	}
}

// window returns how many bytes each of some readers may announce, so that all of it is held together with
// what is lent.
func (r *readAhead) window(readers int) int { return 3 * r.most / (8 * readers) }

// windows returns how many queries of a number of bytes each of some readers may announce: of such as are read with
// their neighbours, and of such as are read alone, which take a buffer each and what is known of it.
func (r *readAhead) windows(readers, query int) (together, alone int) {
	const least, most, known = 4, 4096, 512
	window := r.window(readers)
	return min(max(least, window/query), most), min(max(least, window/(known+max(query, r.unit(query+r.align)))), most)
}

// announcement is parts of a matrix, in ascending order, that are read at once, and the bytes begin ≤ i < end of the
// matrix from the first query's to the last one's.
type announcement struct {
	parts      []dataset.Part
	begin, end int
}

// span returns the first query and the query after the last.
func (a announcement) span() (from, to int) { return a.parts[0].From, a.parts[len(a.parts)-1].To }

// queries are those that will be read.
func (a announcement) queries() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, p := range a.parts {
			for q := p.From; q < p.To; q++ {
				if !yield(q) {
					return
				}
			}
		}
	}
}

// soon begins to read what is announced, but for that of which a part is being read already.
func (r *readAhead) soon(list []announcement) {
	if r.queue != nil {
		r.queue.Poll() // so that memory and places are free again
	}
	r.mu.Lock()
	defer r.mu.Unlock() // whoever finds an extent may wait for its read, so that has begun by then
	reads := make([]*block.Read, 0, len(list))
	for _, a := range list {
		if read := r.add(a); read != nil {
			reads = append(reads, read)
		}
	}
	r.begin(reads)
}

// add returns how an extent is to be read, nil if one of its queries has one already.
func (r *readAhead) add(a announcement) *block.Read {
	e := &extent{of: r, begin: a.begin, users: 1, done: make(chan struct{})}
	e.from, e.to = a.span()
	for q := range a.queries() {
		if r.of[q] != nil {
			return nil // as by another goroutine that reads the same queries in order
		}
		e.left++
	}
	r.hold(e, a.end)
	r.held += len(e.bytes)
	r.order = slices.DeleteFunc(r.order, func(o *extent) bool { return o.dropped })
	for len(r.order) > 0 && r.held > r.most {
		r.drop(r.order[0])
		r.order = r.order[1:]
	}
	r.order = append(r.order, e)
	for q := range a.queries() {
		r.of[q] = e
	}
	return &block.Read{Bytes: e.bytes, Offset: r.offset + int64(e.begin-e.head), Ended: func(err error) {
		e.err = err
		close(e.done)
		e.Return()
	}}
}

// begin begins to read.
func (r *readAhead) begin(reads []*block.Read) {
	if r.queue != nil {
		r.queue.Begin(reads)
		return
	}
	for _, read := range reads {
		go func() {
			r.reading <- struct{}{}
			err := r.file.ReadAt(read.Bytes, read.Offset)
			<-r.reading
			read.Ended(err)
		}()
	}
}

// drop forgets an extent. Whoever waits for it has it still. Its memory is used again when nobody does.
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
	r.settle(e)
}

// settle makes an extent that nobody uses any more memory for another.
func (r *readAhead) settle(e *extent) {
	if e.users > 0 || e.left > 0 && !e.dropped {
		return
	}
	if !e.dropped {
		r.drop(e)
		return
	}
	r.recycle(e)
}

// hold gives an extent memory for the bytes from its beginning to a place of the matrix, and for those
// before and after that are read because reads begin and end at multiples of a number.
func (r *readAhead) hold(e *extent, end int) {
	e.head = (int(r.offset) + e.begin) % r.align
	n := (e.head + end - e.begin + r.align - 1) / r.align * r.align
	for i := range r.pools {
		if b := r.pools[i].take(n, r.most); b != nil {
			e.bytes, e.pool = b, &r.pools[i]
			return
		}
	}
	for i := len(r.free) - 1; i >= 0; i-- {
		if f := r.free[i]; cap(f) >= n {
			r.free, r.kept = slices.Delete(r.free, i, i+1), r.kept-cap(f)
			e.bytes = f[:n]
			return
		}
	}
	if r.kept > r.most { // what is too short for this need not be kept beside it
		r.free, r.kept = nil, 0
	}
	unit := r.unit(n)
	e.bytes = block.Aligned((n+unit-1)/unit*unit, r.align)[:n]
}

// unit returns what the length of a buffer for n bytes is a multiple of, so that what is free fits most others.
func (r *readAhead) unit(n int) int {
	switch {
	case n <= 1<<13:
		return max(2*r.align, 1<<bits.Len(uint(n-1)))
	case n <= 1<<18:
		return 1 << 15
	}
	return 1 << 18
}

// lend returns the extent with a query, whose bytes begin and end at places of the matrix, for that one
// alone if it was not announced.
func (r *readAhead) lend(query, begin, end int) (*extent, error) {
	r.mu.Lock()
	e := r.of[query]
	if e == nil {
		e = &extent{of: r, begin: begin, users: 1, dropped: true}
		r.hold(e, end)
		r.mu.Unlock()
		return e, r.file.ReadAt(e.bytes, r.offset+int64(begin-e.head))
	}
	delete(r.of, query)
	e.left--
	e.users++
	r.mu.Unlock()
	if r.queue != nil {
		r.queue.Wait(e.done)
	} else {
		<-e.done
	}
	return e, e.err
}

// part returns the bytes between two places of the matrix.
func (e *extent) part(begin, end int) []byte {
	return e.bytes[e.head+begin-e.begin : e.head+end-e.begin]
}

// Return implements dataset.Loan for one of the queries.
func (e *extent) Return() {
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	e.users--
	e.of.settle(e)
}

// fetch reads bytes from a place of the matrix on, those of no query that is announced.
func (r *readAhead) fetch(b []byte, begin int) error {
	const none = -1
	e, err := r.lend(none, begin, begin+len(b))
	if err != nil {
		return err
	}
	copy(b, e.part(begin, begin+len(b)))
	e.Return()
	return nil
}

// recycle keeps an extent's memory for another read.
func (r *readAhead) recycle(e *extent) {
	b := e.bytes
	e.bytes = nil
	switch {
	case e.pool != nil:
		e.pool.free = append(e.pool.free, b[:e.pool.unit])
	case len(r.free) < r.readers || len(r.free) < mostFree && r.kept+cap(b) <= r.most:
		r.free, r.kept = append(r.free, b), r.kept+cap(b)
	}
}
