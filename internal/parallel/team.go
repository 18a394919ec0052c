package parallel

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Team divides short pieces of work, one after the other, among goroutines that poll for work. A
// piece takes some microseconds. A handoff to a polling goroutine takes a fraction of a
// microsecond, whereas starting or waking a goroutine takes several. After about 50 microseconds a
// polling goroutine goes to sleep and must be woken.
//
// A piece has a fixed number of parts, so the result need not depend on which goroutine runs a
// part. The caller runs the first part and then all parts that no goroutine has begun. So a piece
// waits only for goroutines that are inside a part.
//
// A Team serves one caller at a time. [Team.Close] ends its goroutines.
type Team struct {
	// Ahead is memory that the caller will read after the next piece of work. The goroutines read
	// it while they wait, which loads it into the caches. It has no other effect.
	Ahead []float32

	do      func(part int)
	members []member      // of parts 1, 2, …
	_       [128]byte     // keeps the polled fields in a cache line of their own
	round   atomic.Uint64 // the number of the last piece of work
	_       [128]byte
	closing atomic.Bool
	wg      sync.WaitGroup
}

// member is the goroutine that serves a part.
type member struct {
	_        [128]byte     // see Team
	begun    atomic.Uint64 // the last round whose part the member or the caller began
	finished atomic.Uint64 // the last round whose part is finished
	asleep   atomic.Bool
	wake     chan struct{}
	faults   atomic.Int64 // memory faults while reading Ahead
	failed   *Panic       // the panic of the current part
	sink     float32      // makes the reads of touch observable
	_        [128]byte
}

// patience is the number of polls before a member goes to sleep. A poll takes about a nanosecond.
const patience = 1 << 16

// NewTeam returns a Team for pieces of work with the given number of parts, at least one. It starts
// a goroutine for each part except the first, which the caller runs.
func NewTeam(parts int) *Team {
	t := &Team{members: make([]member, max(0, parts-1))}
	for i := range t.members {
		t.members[i].wake = make(chan struct{}, 1)
		t.wg.Go(func() { t.serve(i) })
	}
	return t
}

// Parts returns the number of parts. A nil Team has one.
func (t *Team) Parts() int {
	if t == nil {
		return 1
	}
	return len(t.members) + 1
}

// Close waits until the goroutines have finished their parts and ends them. A closed Team runs no
// work. Closing a nil Team does nothing.
func (t *Team) Close() {
	if t == nil {
		return
	}
	t.closing.Store(true)
	t.call(t.round.Load() + 1)
	t.wg.Wait()
}

// Run calls do once for every part, from 0 to Parts()−1, and returns when all calls have returned.
// It does not allocate. If a call in another goroutine panics, Run panics with a [*Panic].
func (t *Team) Run(do func(part int)) {
	t.do = do
	round := t.round.Load() + 1
	t.call(round)
	do(0)
	for i := range t.members {
		if t.members[i].begin(round) {
			do(i + 1)
			t.members[i].finished.Store(round)
		}
	}
	for i := range t.members {
		t.members[i].await(round)
	}
	t.do = nil
	for i := range t.members {
		if failed := t.members[i].failed; failed != nil {
			t.members[i].failed = nil
			panic(failed)
		}
	}
}

// call begins a round and wakes the sleeping members.
func (t *Team) call(round uint64) {
	t.round.Store(round)
	for i := range t.members {
		m := &t.members[i]
		if m.asleep.Load() && m.asleep.CompareAndSwap(true, false) {
			m.wake <- struct{}{}
		}
	}
}

// begin claims the member's part of a round. It returns false if the part was claimed before.
func (m *member) begin(round uint64) bool {
	return m.begun.CompareAndSwap(round-1, round)
}

// await waits until the member's part of a round is finished. The wait is short unless the
// operating system has suspended the member.
func (m *member) await(round uint64) {
	for looks := 1; m.finished.Load() != round; looks++ {
		if looks%1024 == 0 {
			runtime.Gosched()
		}
	}
}

// serve runs the part of member i in every round until the Team is closed.
func (t *Team) serve(i int) {
	debug.SetPanicOnFault(true) // this goroutine runs nothing else
	m := &t.members[i]
	for last := uint64(0); ; {
		round := t.next(m, last)
		if t.closing.Load() {
			return
		}
		if last = round; m.begin(round) {
			ahead := t.Ahead // the caller may change Ahead once the part is finished
			m.run(t.do, i+1)
			m.finished.Store(round)
			t.touch(m, share(ahead, i, len(t.members)), round)
		}
	}
}

// next waits until a round after last begins, and returns its number.
func (t *Team) next(m *member, last uint64) uint64 {
	for looks := 1; ; looks++ {
		round := t.round.Load()
		if round != last {
			return round
		}
		if looks%patience == 0 {
			t.sleep(m, last)
		}
	}
}

// sleep returns when a round after last has begun.
func (t *Team) sleep(m *member, last uint64) {
	m.asleep.Store(true)
	if t.round.Load() != last && m.asleep.CompareAndSwap(true, false) {
		return // the round began before the member slept, so no wake was sent
	}
	<-m.wake
}

// run runs a part and records its panic.
func (m *member) run(do func(part int), part int) {
	finished := false
	defer func() {
		if !finished {
			m.failed = &Panic{Item: part, Value: recover(), Stack: debug.Stack()}
		}
	}()
	do(part)
	finished = true
}

// touch reads one number of every cache line of x until the next round begins. It stops at a memory
// fault, which the caller will also meet.
func (t *Team) touch(m *member, x []float32, round uint64) {
	const line, atOnce = 16, 8
	defer func() {
		if recover() != nil {
			m.faults.Add(1)
		}
	}()
	var sum float32
	for len(x) >= line*atOnce && t.round.Load() == round {
		sum += x[0] + x[line] + x[2*line] + x[3*line] + x[4*line] + x[5*line] + x[6*line] + x[7*line]
		x = x[line*atOnce:]
	}
	m.sink = sum
}

// share returns part i of n parts of x.
func share(x []float32, i, n int) []float32 { return x[i*len(x)/n : (i+1)*len(x)/n] }
