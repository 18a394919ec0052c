package ingest

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
)

// inOrder calls prepare concurrently for every chunk of a text, as Text.Each does. The same worker then calls
// finish for the chunk, while its text is valid. Calls of finish are in the order of the chunks, one at a
// time. inOrder stops at the first error of finish and returns it.
func inOrder(ctx context.Context, src Text, prepare func(worker int, c Chunk), finish func(worker int, c Chunk) error) error {
	t := &turns{ctx: ctx}
	t.moved.L = &t.mu
	t.stop.Store(math.MaxInt64)
	release := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.moved.Broadcast()
	})
	defer release()
	src.Each(&t.stop, func(worker int, c Chunk) {
		err := errPanicked
		defer func() {
			if err != nil { // end keeps the first error
				t.end(err)
			}
		}()
		prepare(worker, c)
		if !t.mine(c.Turn) {
			err = nil
			return
		}
		if err = finish(worker, c); err == nil {
			t.pass()
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.err
}

var errPanicked = errors.New("a worker panicked")

// turns is the synchronisation by which chunks are finished in order.
type turns struct {
	ctx  context.Context
	stop atomic.Int64

	mu    sync.Mutex
	moved sync.Cond
	next  int // Turn of the next chunk to finish
	err   error
}

// mine waits until the chunk with the given turn may be finished. It returns false if an error or the context
// ends the turns before.
func (t *turns) mine(turn int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != turn && t.err == nil && t.ctx.Err() == nil {
		t.moved.Wait()
	}
	return t.err == nil && t.ctx.Err() == nil
}

// pass gives the turn to the next chunk.
func (t *turns) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	t.moved.Broadcast()
}

// end ends the turns with an error, unless they have ended.
func (t *turns) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
	t.stop.Store(-1)
	t.moved.Broadcast()
}
