package main

import (
	"sync"
	"time"
)

// fresh is how long a connection may wait for its next request: after seconds a server may have closed it.
const fresh = 2 * time.Second

// stack holds the connections of the open loop that wait for nothing. The one used last is used next, as in
// the pools of HTTP clients, so that there are no more of them than requests under way at once.
type stack struct {
	mu    sync.Mutex
	free  []*flight
	ready chan struct{} // a token for each of free
}

func newStack(size int) *stack { return &stack{ready: make(chan struct{}, size)} }

func (s *stack) push(f *flight) {
	s.mu.Lock()
	s.free = append(s.free, f)
	s.mu.Unlock()
	s.ready <- struct{}{}
}

// pop waits if none is free.
func (s *stack) pop() *flight {
	<-s.ready
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	f := s.free[last]
	s.free = s.free[:last]
	return f
}

// ready connects what is not connected yet, or has waited for so long that the server may have gone.
func (f *flight) ready(r *request, now time.Time) (err error) {
	if f.connection != nil {
		if now.Sub(f.used) < fresh {
			return nil
		}
		_ = f.Close()
	}
	f.connection, err = r.connect()
	return err
}
