// Package parallel distributes independent items over goroutines and adds their results in a fixed
// order. So the number of cores changes the time of a computation, but no bit of its result.
//
// Start reading at [For], which runs a function for every item. [Sums] is the reduction of an empirical
// risk: it adds the losses and gradients of many queries to one value and one vector. The package must not
// know what it adds.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// For calls fn(worker, i) once for every i in [0, n) and returns when all calls have returned. It
// uses at most workers goroutines, or GOMAXPROCS if workers ≤ 0. Workers take items one at a time
// in increasing order, so the costs of items may differ. worker is in [0, workers). Calls with the
// same worker do not overlap, so fn may index scratch memory by worker. Worker 0 is the caller. One
// worker therefore means no goroutine and strict order.
//
// If a call panics, For starts no further items. It panics with a [*Panic] when the other workers
// have finished their items. A memory fault counts as a panic, such as a fault of a truncated
// mapped file.
func For(n, workers int, fn func(worker, i int)) {
	c := crews.Get().(*crew)
	c.run(Workers(workers, n), n, fn)
	crews.Put(c)
}

// crews are idle crews, kept so that many calls of For allocate no memory.
var crews = sync.Pool{New: func() any { return new(crew) }}

// Workers returns the number of workers that For uses for n items. The number is workers, or
// GOMAXPROCS without the addition of [Spare] if workers ≤ 0, limited to the range from 1 to n.
func Workers(workers, n int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0) - int(spare.Load())
	}
	return max(1, min(workers, n))
}

// spare is the number that Spare has added to GOMAXPROCS.
var spare atomic.Int64

// Spare raises GOMAXPROCS by n. Calls after the first do nothing until [Unspare]. The number of
// workers stays the same. Spare is for programs whose workers process data that other goroutines
// read from a disk. Without spare processors, the reading goroutines run only while a worker waits.
func Spare(n int) {
	if spare.CompareAndSwap(0, int64(n)) {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
}

// Unspare undoes Spare.
func Unspare() {
	if n := spare.Swap(0); n != 0 {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - int(n))
	}
}

// SetWorkers sets GOMAXPROCS to n plus the addition of [Spare] and returns the previous value
// without the addition. n = 0 changes nothing.
func SetWorkers(n int) int {
	more := int(spare.Load())
	if n > 0 {
		n += more
	}
	return runtime.GOMAXPROCS(n) - more
}

// Panic is the value with which [For], [Sums.Run] and [Team.Run] panic after a panic in the
// caller's function.
type Panic struct {
	Item  int    // the item (For), block (Sums) or part (Team) whose call panicked; the lowest if several did
	Value any    // the original value; nil if the call ended its goroutine by runtime.Goexit
	Stack []byte // the stack of the goroutine that panicked
}

// Error returns the original value with the stack of its goroutine.
func (p *Panic) Error() string {
	return fmt.Sprintf("item %d: %v\n\n%s", p.Item, p.Value, p.Stack)
}

// Unwrap returns the original value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// crew is a group of workers that share items. It can run any number of times, one run after the
// other. A run allocates only if it has more workers than every run before.
type crew struct {
	do    func(worker, item int)
	items int64
	next  atomic.Int64 // the next item to start
	wg    sync.WaitGroup
	start []func() // start[w] is what the goroutine of worker w+1 runs

	mu     sync.Mutex
	failed *Panic
}

func (c *crew) run(workers, items int, do func(worker, item int)) {
	c.do, c.items, c.failed = do, int64(items), nil
	c.next.Store(0)
	for len(c.start) < workers-1 {
		w := len(c.start) + 1
		// A go statement with arguments would allocate at every run.
		c.start = append(c.start, func() {
			defer c.wg.Done()
			c.work(w)
		})
	}
	c.wg.Add(workers - 1)
	for _, f := range c.start[:workers-1] {
		go f()
	}
	c.work(0)
	c.wg.Wait()
	c.do = nil
	if c.failed != nil {
		panic(c.failed)
	}
}

// work processes items until none remain.
func (c *crew) work(worker int) {
	var item int64
	finished := false
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if !finished {
			c.fail(int(item), recover())
		}
	}()
	for item = c.next.Add(1) - 1; item < c.items; item = c.next.Add(1) - 1 {
		c.do(worker, int(item))
	}
	finished = true
}

// fail records a panic and prevents the start of further items.
func (c *crew) fail(item int, value any) {
	c.next.Store(c.items)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil || item < c.failed.Item {
		c.failed = &Panic{Item: item, Value: value, Stack: debug.Stack()}
	}
}
