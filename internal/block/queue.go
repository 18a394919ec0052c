package block

import (
	"slices"
	"sync"
)

// Queue has reads of a file that are under way while whoever began them computes: the system reads by itself, and
// neither a thread nor a processor's time goes into waiting. Several goroutines may use it.
type Queue struct {
	file  *File
	ring  ring
	token chan struct{} // held by the one that takes from the system what has been read
	done  []*Read       // of that one

	mu      sync.Mutex
	reads   []*Read // under way, by slot; what the system writes to is reachable from here
	free    []int   // slots
	waiting []*Read // none unless all slots are taken
	closed  bool
}

// Read is a part of a file that is read by a queue.
type Read struct {
	Bytes  []byte // as for [File.ReadAt]
	Offset int64
	Ended  func(err error) // called once, by one of the goroutines that use the queue
}

// ended is a read that the system has ended: with so many bytes, or with an error.
type ended struct {
	slot, n int
	err     error
}

// queues are those that are not closed: what they read into must outlive the reading.
var queues struct {
	sync.Mutex
	list []*Queue
}

// NewQueue returns a queue with so many reads under way at most; others wait. It returns nil where the system has
// none, or no reading around its cache (see [File.Direct]), without which reads would not go on by themselves.
// Closing the file closes it.
func (m *File) NewQueue(depth int) *Queue {
	if m.Direct() == 1 || m.direct == nil {
		return nil
	}
	q := &Queue{file: m, token: make(chan struct{}, 1), reads: make([]*Read, depth)}
	if !q.ring.open(m.direct, depth) {
		return nil
	}
	for slot := range depth {
		q.free = append(q.free, slot)
	}
	queues.Lock()
	defer queues.Unlock()
	queues.list = append(queues.list, q)
	m.queue = q
	return q
}

// Begin begins to read several parts. It calls no Ended.
func (q *Queue) Begin(reads []*Read) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, reads...)
	q.submit()
}

// Poll ends what has been read meanwhile, unless somebody else does.
func (q *Queue) Poll() {
	select {
	case q.token <- struct{}{}:
		q.reap(0)
		<-q.token
	default:
	}
}

// alone is the least length of reads that are given to the system one by one. Of these it must not wait with the
// first for the others, nor make one of neighbours.
const alone = 256 << 10

// submit gives the system as many of the reads that wait as there are slots, short ones together: it tells the disk of
// these but once, which on a virtual one takes longer than what else there is to do.
func (q *Queue) submit() {
	n := 0
	for n < len(q.waiting) && len(q.free) > 0 && !q.closed {
		next := 1
		for most := min(len(q.waiting)-n, len(q.free)); next < most && len(q.waiting[n].Bytes) < alone && len(q.waiting[n+next].Bytes) < alone; {
			next++
		}
		q.give(q.waiting[n : n+next])
		n += next
	}
	q.waiting = slices.Delete(q.waiting, 0, n)
}

// give gives the system reads for which there are slots. It may refuse.
func (q *Queue) give(reads []*Read) {
	slots := q.free[len(q.free)-len(reads):]
	begun := q.ring.submit(slots, reads)
	for i, r := range reads {
		if i < begun {
			q.reads[slots[i]] = r
		} else {
			go func() { r.Ended(q.file.ReadAt(r.Bytes, r.Offset)) }()
		}
	}
	q.free = q.free[:len(q.free)-len(reads)+copy(slots, slots[begun:])]
}

// Wait returns when done is closed, as by the Ended of a read that was begun before.
func (q *Queue) Wait(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		select {
		case <-done:
			return
		case q.token <- struct{}{}:
		}
		if !q.step(done) {
			<-done
		}
	}
}

// step, for who holds the token, waits for a read to end unless done is closed already, and gives the token back. It
// reports whether there was one: what is read without the system's queue is not waited for here.
func (q *Queue) step(done <-chan struct{}) bool {
	defer func() { <-q.token }()
	select {
	case <-done:
		return true
	default:
		return q.reap(1)
	}
}

// reap ends reads that the system has ended, and waits for so many of them at least. It reports whether any
// was under way. Only who holds the token may call it.
func (q *Queue) reap(least int) bool {
	if !q.busy() {
		return false
	}
	list := q.ring.ended(least)
	q.mu.Lock()
	q.done = q.done[:0]
	for _, e := range list {
		q.done = append(q.done, q.reads[e.slot])
		q.reads[e.slot] = nil
		q.free = append(q.free, e.slot)
	}
	q.submit()
	q.mu.Unlock()
	for i, e := range list {
		r := q.done[i]
		r.Ended(q.file.complete(e.n, r.Bytes, r.Offset, e.err))
	}
	return true
}

// busy reports whether a read is under way. While the token is held, none ends.
func (q *Queue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.free) < len(q.reads)
}

// close waits for what is under way. Reads that wait are never ended.
func (q *Queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.token <- struct{}{}
	for q.reap(1) {
	}
	q.ring.close()
	queues.Lock()
	defer queues.Unlock()
	queues.list = slices.DeleteFunc(queues.list, func(other *Queue) bool { return other == q })
}
