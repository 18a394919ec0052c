package parallel

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Claim: every item is run exactly once, for any number of workers.
func TestForRunsEveryItemOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 1000} {
		for _, workers := range []int{-1, 0, 1, 2, 3, 16, 5000} {
			ran := make([]atomic.Int32, n)
			For(n, workers, func(_, i int) { ran[i].Add(1) })
			for i := range ran {
				if got := ran[i].Load(); got != 1 {
					t.Fatalf("n %d, workers %d: item %d ran %d times", n, workers, i, got)
				}
			}
		}
	}
}

// Claim: calls with the same worker number never overlap, so scratch memory can be indexed
// by it. The counts are not atomic: the race detector would report it too.
func TestWorkersDoNotOverlap(t *testing.T) {
	const n, workers = 2000, 4
	busy := make([]atomic.Bool, workers)
	count := make([]int, workers)
	For(n, workers, func(w, _ int) {
		if busy[w].Swap(true) {
			t.Errorf("worker %d is in two calls", w)
		}
		count[w]++
		runtime.Gosched()
		busy[w].Store(false)
	})
	total := 0
	for _, c := range count {
		total += c
	}
	if total != n {
		t.Errorf("%d calls counted by worker, expected %d", total, n)
	}
}

// Claim: one worker means the caller's goroutine and items strictly in order.
func TestOneWorkerRunsInOrder(t *testing.T) {
	before := runtime.NumGoroutine()
	next := 0
	For(100, 1, func(w, i int) {
		if w != 0 || i != next {
			t.Fatalf("worker %d runs item %d, expected worker 0 and item %d", w, i, next)
		}
		if got := runtime.NumGoroutine(); got > before {
			t.Fatalf("%d goroutines, %d before", got, before)
		}
		next++
	})
}

// Claim: a panic in any worker reaches the caller with the item, the value and
// the stack of where it happened, after all other workers have stopped.
func TestPanicReachesCaller(t *testing.T) {
	cause := errors.New("broken item")
	for _, workers := range []int{1, 2, 8} {
		var running atomic.Int32
		p := catch(func() {
			For(100, workers, func(_, i int) {
				running.Add(1)
				defer running.Add(-1)
				runtime.Gosched()
				if i == 17 {
					explode(cause)
				}
			})
		})
		if p == nil {
			t.Fatalf("workers %d: no panic", workers)
		}
		if p.Item != 17 || !errors.Is(p, cause) {
			t.Errorf("workers %d: panic of item %d with %v", workers, p.Item, p.Value)
		}
		if text := p.Error(); !strings.Contains(text, "explode") || !strings.HasPrefix(text, "item 17: broken item") {
			t.Errorf("workers %d: the message does not lead to the cause:\n%s", workers, text)
		}
		if n := running.Load(); n != 0 {
			t.Errorf("workers %d: %d calls still running", workers, n)
		}
	}
}

// Claim: of several panics the one of the lowest item is reported, and items
// after a panic are no longer handed out.
func TestFirstPanicWins(t *testing.T) {
	var both, last atomic.Int32
	p := catch(func() {
		For(1000, 2, func(_, i int) {
			last.Store(max(last.Load(), int32(i)))
			if i < 2 {
				both.Add(1)
				for both.Load() < 2 {
					runtime.Gosched()
				}
				panic(i)
			}
		})
	})
	if p == nil || p.Item != 0 || p.Value != 0 || p.Unwrap() != nil {
		t.Errorf("panic %v, expected the one of item 0", p)
	}
	if last.Load() > 1 {
		t.Errorf("item %d was started after both workers had panicked", last.Load())
	}
}

// Claim: an item that ends its goroutine is not lost silently.
func TestGoexitIsReported(t *testing.T) {
	var exits atomic.Bool
	p := catch(func() {
		For(2, 2, func(w, _ int) {
			if w == 1 {
				exits.Store(true)
				runtime.Goexit()
			}
			for !exits.Load() {
				runtime.Gosched() // leave an item to the other worker
			}
		})
	})
	if p == nil || p.Value != nil {
		t.Errorf("panic %v, expected one without a value", p)
	}
}

func explode(err error) { panic(err) }

// catch returns the *Panic that f panics with, nil if it does not.
func catch(f func()) (p *Panic) {
	defer func() {
		if v := recover(); v != nil {
			p = v.(*Panic)
		}
	}()
	f()
	return nil
}

// Claim: Spare raises GOMAXPROCS once, and not the number of workers; SetWorkers does not count what it added, and
// Unspare takes it back.
func TestSpare(t *testing.T) {
	before, workers := runtime.GOMAXPROCS(0), Workers(0, 1000)
	defer runtime.GOMAXPROCS(before)
	defer spare.Store(0)
	Spare(3)
	Spare(5)
	if now := runtime.GOMAXPROCS(0); now != before+3 || Workers(0, 1000) != workers {
		t.Errorf("found GOMAXPROCS %d and %d workers, want %d and %d", now, Workers(0, 1000), before+3, workers)
	}
	if was := SetWorkers(5); was != workers || Workers(0, 1000) != 5 || SetWorkers(0) != 5 {
		t.Errorf("SetWorkers(5) returned %d, and left %d workers, want %d and 5", was, Workers(0, 1000), workers)
	}
	Unspare()
	Unspare()
	if now := runtime.GOMAXPROCS(0); now != 5 || Workers(0, 1000) != 5 {
		t.Errorf("found GOMAXPROCS %d and %d workers, want 5 and 5", now, Workers(0, 1000))
	}
}
