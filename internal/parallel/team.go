package parallel

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Team divides pieces of work of some microseconds, one after the other, among goroutines that wait
// without going to sleep. A handoff takes a fraction of a microsecond; starting or waking a goroutine
// takes several. After about 50 microseconds a waiting goroutine does go to sleep and must be woken.
//
// The parts of a piece are fixed, so that the computation need not depend on who does them. After its own
// part, the caller does the parts that no goroutine has begun. So a piece never waits for a goroutine that
// the operating system does not run, unless that goroutine was in its part.
//
// A Team serves one goroutine at a time. Its goroutines end with [Team.Close].
type Team struct {
	// Ahead is memory that will be read after the next piece of work. The goroutines read it while they wait,
	// which brings it nearer to the processors; nothing else depends on it.
	Ahead []float32

	do      func(part int)
	members []member      // of parts 1, 2, …
	_       [128]byte     // what goroutines wait for shares no cache line with what others write
	round   atomic.Uint64 // of the last piece of work
	_       [128]byte
	closing atomic.Bool
	wg      sync.WaitGroup
}

// member is the goroutine of a part.
type member struct {
	_        [128]byte     // see Team
	begun    atomic.Uint64 // the last round whose part was begun, by the member or the caller
	finished atomic.Uint64 // the last round whose part is finished
	asleep   atomic.Bool
	wake     chan struct{}
	faults   atomic.Int64 // met ahead
	failed   *Panic       // of the part under way
	sink     float32      // what touch has read
	_        [128]byte
}

// patience is the number of looks for work before a member goes to sleep, each of about a nanosecond.
const patience = 1 << 16

// NewTeam returns a Team for pieces of work of a number of parts, at least one: the caller does the first, a
// goroutine each of the others.
func NewTeam(parts int) *Team {
	t := &Team{members: make([]member, max(0, parts-1))}
	for i := range t.members {
		t.members[i].wake = make(chan struct{}, 1)
		t.wg.Go(func() { t.serve(i) })
	}
	return t
}

// Parts returns the number of parts; 1 for a nil Team.
func (t *Team) Parts() int {
	if t == nil {
		return 1
	}
	return len(t.members) + 1
}

// Close ends the goroutines, after what they are doing. A closed Team runs no work. Closing nil does nothing.
func (t *Team) Close() {
	if t == nil {
		return
	}
	t.closing.Store(true)
	t.call(t.round.Load() + 1)
	t.wg.Wait()
}

// Run calls do once for every part, from 0 to Parts()−1, and returns when all calls have. It allocates nothing.
// If a call by another goroutine panics, so does Run, with a [*Panic].
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

// call begins a round.
func (t *Team) call(round uint64) {
	t.round.Store(round)
	for i := range t.members {
		m := &t.members[i]
		if m.asleep.Load() && m.asleep.CompareAndSwap(true, false) {
			m.wake <- struct{}{}
		}
	}
}

// begin reports whether a part is now the caller's: nobody had begun it.
func (m *member) begin(round uint64) bool {
	return m.begun.CompareAndSwap(round-1, round)
}

// await waits until a part is finished. That is after a moment, unless the system has taken the processor from who does it.
func (m *member) await(round uint64) {
	for looks := 1; m.finished.Load() != round; looks++ {
		if looks%1024 == 0 {
			runtime.Gosched()
		}
	}
}

// serve does the parts of a member until the Team is closed.
func (t *Team) serve(i int) {
	debug.SetPanicOnFault(true) // this goroutine runs nothing else
	m := &t.members[i]
	for last := uint64(0); ; {
		round := t.next(m, last)
		if t.closing.Load() {
			return
		}
		if last = round; m.begin(round) {
			ahead := t.Ahead // which is the caller's again when the part is finished
			m.run(t.do, i+1)
			m.finished.Store(round)
			t.touch(m, share(ahead, i, len(t.members)), round)
		}
	}
}

// next waits for a round after the last.
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

// sleep returns when there is a round after the last.
func (t *Team) sleep(m *member, last uint64) {
	m.asleep.Store(true)
	if t.round.Load() != last && m.asleep.CompareAndSwap(true, false) {
		return // it began in between, and nobody has sent a wake
	}
	<-m.wake
}

// run does a part.
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

// touch reads a number of every cache line until the next round begins. It ends on a fault, which the user
// of the memory will meet, too.
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

// share returns the i-th of n parts of x.
func share(x []float32, i, n int) []float32 { return x[i*len(x)/n : (i+1)*len(x)/n] }
