package main

import (
	"sync"
	"time"
)

// fresh is the longest time that a connection may be idle before its next request. A server may
// close idle connections.
const fresh = 2 * time.Second

// stack has the idle connections of the open loop. The connection used last is used next, as in the
// pools of HTTP clients. So there are only as many connections as concurrent requests.
type stack struct {
	mu    sync.Mutex
	free  []*flight
	ready chan struct{} // one token for each element of free
}

func newStack(size int) *stack { return &stack{ready: make(chan struct{}, size)} }

func (s *stack) push(f *flight) {
	s.mu.Lock()
	s.free = append(s.free, f)
	s.mu.Unlock()
	s.ready <- struct{}{}
}

// pop returns an idle connection. It waits if there is none.
func (s *stack) pop() *flight {
	<-s.ready
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	f := s.free[last]
	s.free = s.free[:last]
	return f
}

// ready connects f if it is not connected, or was idle for so long that the server may have closed
// the connection.
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
