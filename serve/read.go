package serve

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/listwise/listwise/serve/rankjson"
)

// memory counts the bytes that the requests of a server may take, all together.
type memory struct {
	left atomic.Int64
}

// take takes bytes, unless there are not as many.
func (m *memory) take(n int64) bool {
	if m.left.Add(-n) >= 0 {
		return true
	}
	m.left.Add(n)
	return false
}

func (m *memory) give(n int64) { m.left.Add(n) }

// A byte of a body stands for at most factor bytes of memory: itself, the features that it is
// decoded to and its part of the answer. Memory is taken in pieces of at least piece bytes. What a
// request says of its length makes the server take no more than beginning bytes before they come.
const (
	factor    = 4
	piece     = 64 << 10
	beginning = 64 << 10
)

var (
	errLarge  = errors.New("the body is too large")
	errMemory = errors.New("there is no memory for the request")
)

// bodyReader reads the body of a request. It counts its bytes, takes memory for them as they
// come, and bounds the time between them.
type bodyReader struct {
	server  *Server
	request *http.Request
	answer  http.ResponseWriter
	begun   time.Time
	read    int64 // bytes
	taken   int64 // of memory, given back by done
}

// Read reads what has come.
func (b *bodyReader) Read(p []byte) (int, error) {
	b.wait() // also the first time: a chunk that has begun may keep all of this one Read waiting
	n, err := b.request.Body.Read(p)
	b.read += int64(n)
	switch {
	case b.read > b.server.limits.Body:
		return n, errLarge
	case b.read*factor > b.taken && !b.take(b.read*factor-b.taken):
		return n, errMemory
	}
	return n, err
}

func (b *bodyReader) take(n int64) bool {
	n = max(n, piece)
	if !b.server.memory.take(n) {
		return false
	}
	b.taken += n
	return true
}

// wait sets the time until which more of the body has to come. Connections that have no
// deadlines, as in tests, go without.
func (b *bodyReader) wait() {
	end, next := b.begun.Add(b.server.limits.Read), time.Now().Add(b.server.limits.Pause)
	if next.Before(end) {
		end = next
	}
	if d, ok := b.answer.(deadliner); ok {
		_ = d.SetReadDeadline(end)
		return
	}
	_ = http.NewResponseController(b.answer).SetReadDeadline(end) // of one that is wrapped
}

// deadliner is what responses of net/http are. A ResponseController asks for it, too, but is memory
// of each request.
type deadliner interface {
	SetReadDeadline(time.Time) error
}

// done gives back the memory that was taken.
func (b *bodyReader) done() {
	if b.taken > 0 {
		b.server.memory.give(b.taken)
	}
	*b = bodyReader{}
}

// read reads the body of a request.
func (s *Server) read(j *job, w http.ResponseWriter, r *http.Request) error {
	j.body.Reset()
	j.reader = bodyReader{server: s, request: r, answer: w, begun: time.Now()}
	err := errLarge
	if length := r.ContentLength; length <= s.limits.Body {
		err = errMemory
		if first := min(max(length, 0), beginning); j.reader.take(first * factor) {
			j.body.Grow(int(first) + 512 + rankjson.Padding) // ReadFrom wants 512 bytes to see the end
			_, err = j.body.ReadFrom(&j.reader)
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLarge):
		w.Header().Set("Connection", "close")
		return problemf(http.StatusRequestEntityTooLarge, "found a body of more than %d bytes", s.limits.Body)
	case errors.Is(err, errMemory):
		w.Header().Set("Connection", "close")
		return problemf(http.StatusTooManyRequests, "found requests of more than %d bytes at once, expected no more: try again", s.limits.Memory/factor)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return problemf(http.StatusBadRequest, "the body ended before its end")
	}
	w.Header().Set("Connection", "close")
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return problemf(http.StatusRequestTimeout, "the body did not arrive in time")
	}
	return problemf(http.StatusBadRequest, "found a body that cannot be read: it was broken off, or its chunks are none")
}
