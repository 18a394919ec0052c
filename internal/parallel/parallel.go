// Package parallel distributes independent items over goroutines and adds up their results in a fixed
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

// For calls fn(worker, i) once for every i in [0, n), from at most workers
// goroutines (GOMAXPROCS of them if workers ≤ 0), and returns when all calls
// have. Workers take items one at a time in increasing order, so their costs
// may differ. Calls that get the same worker number, in [0, workers), do not
// overlap: fn may index scratch memory by it. Worker 0 is the caller itself, so
// one worker means no goroutine and items strictly in order.
//
// If a call panics, no further items are started and For panics with a [*Panic] once
// the other workers have finished theirs. A memory fault, as of a mapped file that was
// truncated, is a panic here.
func For(n, workers int, fn func(worker, i int)) {
	c := crews.Get().(*crew)
	c.run(Workers(workers, n), n, fn)
	crews.Put(c)
}

// crews are idle crews, kept so that many calls of For allocate no memory.
var crews = sync.Pool{New: func() any { return new(crew) }}

// Workers returns the number of workers that a call uses for n items: workers, or GOMAXPROCS (without the
// addition of [Spare]) if that is not positive. It is at least one and at most n.
func Workers(workers, n int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0) - int(spare.Load())
	}
	return max(1, min(workers, n))
}

// spare is what Spare has added to GOMAXPROCS.
var spare atomic.Int64

// Spare raises GOMAXPROCS by n, once; the number of workers stays the same. It is for programs whose
// workers compute data that other goroutines read from a disk. Without spare processors, these start to
// read only when a worker waits.
func Spare(n int) {
	if spare.CompareAndSwap(0, int64(n)) {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
}

// Unspare takes back what Spare added.
func Unspare() {
	if n := spare.Swap(0); n != 0 {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - int(n))
	}
}

// SetWorkers makes GOMAXPROCS n, without what [Spare] added, and returns what it was; 0 changes nothing.
func SetWorkers(n int) int {
	more := int(spare.Load())
	if n > 0 {
		n += more
	}
	return runtime.GOMAXPROCS(n) - more
}

// Panic is the value that [For] and [Sums.Run] panic with after a panic in the
// function they were given.
type Panic struct {
	Item  int    // the item (of For) or block (of Sums) whose call panicked; the lowest if several did
	Value any    // the original value; nil if the call ended its goroutine by runtime.Goexit
	Stack []byte // the stack of the goroutine that panicked
}

// Error describes the panic and where it came from.
func (p *Panic) Error() string {
	return fmt.Sprintf("item %d: %v\n\n%s", p.Item, p.Value, p.Stack)
}

// Unwrap returns the original value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// crew is a group of workers that share out items. It can run any number of
// times, one after the other, and allocates only when a run has more workers
// than every run before.
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

// work takes items until there are none left.
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

// fail records a panic and lets no further items start.
func (c *crew) fail(item int, value any) {
	c.next.Store(c.items)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil || item < c.failed.Item {
		c.failed = &Panic{Item: item, Value: value, Stack: debug.Stack()}
	}
}
