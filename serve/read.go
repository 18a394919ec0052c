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

// memory counts the bytes that all requests together may still take.
type memory struct {
	left atomic.Int64
}

// take takes n bytes and returns true. It returns false if fewer are left.
func (m *memory) take(n int64) bool {
	if m.left.Add(-n) >= 0 {
		return true
	}
	m.left.Add(n)
	return false
}

func (m *memory) give(n int64) { m.left.Add(n) }

// A byte of a body counts as factor bytes of memory: the byte, its copy if the body came in blocks,
// and two more for garbage. Documents count when they are decoded. A request takes memory in pieces
// of at least piece bytes.
const (
	factor = 4
	piece  = 64 << 10
)

// The beginning of a body is read into a buffer of the length that the request states, at most
// firstBuffer bytes at first. The buffer may grow to mostBuffer bytes. The rest is read into
// blocks. So a large body takes no more memory than the part of the body that has arrived.
const (
	firstBuffer = 64 << 10
	mostBuffer  = 1 << 20
)

// block is a part of a large body.
type block [64 << 10]byte

var (
	errLarge  = errors.New("the body is too large")
	errMemory = errors.New("there is no memory for the request")
)

// bodyReader reads the body of a request. It counts the bytes, takes memory for them as they
// arrive, and limits the time between them.
type bodyReader struct {
	server  *Server
	request *http.Request
	answer  http.ResponseWriter
	begun   time.Time
	read    int64 // bytes
	taken   int64 // bytes of memory taken; done gives them back
}

// Read reads the bytes that have arrived.
func (b *bodyReader) Read(p []byte) (int, error) {
	b.wait() // also before the first Read, which may wait for an incomplete chunk
	n, err := b.request.Body.Read(p)
	b.read += int64(n)
	switch {
	case b.read > b.server.limits.Body:
		return n, errLarge
	case b.read*factor > b.taken && !b.Take(max(b.read*factor-b.taken, piece)):
		return n, errMemory
	}
	return n, err
}

// Take takes n bytes of memory for the request and returns true. It returns false if fewer are
// left.
func (b *bodyReader) Take(n int64) bool {
	if !b.server.memory.take(n) {
		return false
	}
	b.taken += n
	return true
}

// keep gives back the memory of the request except for n bytes.
func (b *bodyReader) keep(n int64) {
	b.server.memory.give(b.taken - n)
	b.taken = n
}

// wait sets the deadline for the next part of the body. Connections without deadlines, as in tests,
// have no limit.
func (b *bodyReader) wait() {
	end, next := b.begun.Add(b.server.limits.Read), time.Now().Add(b.server.limits.Pause)
	if next.Before(end) {
		end = next
	}
	if d, ok := b.answer.(deadliner); ok {
		_ = d.SetReadDeadline(end)
		return
	}
	_ = http.NewResponseController(b.answer).SetReadDeadline(end) // for a wrapped response writer
}

// deadliner is implemented by net/http's response writers. http.NewResponseController would call
// the method, too, but allocates for each request.
type deadliner interface {
	SetReadDeadline(time.Time) error
}

// done gives back all memory of the request.
func (b *bodyReader) done() {
	if b.taken > 0 {
		b.keep(0)
	}
	*b = bodyReader{}
}

// fill reads the body to its end.
func (s *Server) fill(j *job, length int64) error {
	j.body = j.body[:0]
	if first := int(min(max(length, 0), firstBuffer)); cap(j.body) < first+rankjson.Padding+1 {
		j.body = make([]byte, 0, first+rankjson.Padding+1) // one more byte, to detect the end
	}
	for {
		n, err := j.reader.Read(s.room(j))
		if len(j.blocks) > 0 {
			j.inLast += n
		} else {
			j.body = j.body[:len(j.body)+n]
		}
		if err != nil {
			if err == io.EOF { //nolint:errorlint // as the contract of io.Reader says
				return nil
			}
			return err
		}
	}
}

// room returns memory for the next part of the body: the free end of the buffer or of a block.
func (s *Server) room(j *job) []byte {
	if len(j.blocks) == 0 {
		if end := cap(j.body) - rankjson.Padding; len(j.body) < end {
			return j.body[len(j.body):end]
		}
		if size := 2 * cap(j.body); size <= mostBuffer {
			j.body = append(make([]byte, 0, size), j.body...)
			return j.body[len(j.body) : size-rankjson.Padding]
		}
		j.inLast = len(block{})
	}
	if j.inLast == len(block{}) {
		j.blocks, j.inLast = append(j.blocks, s.blocks.Get().(*block)), 0
	}
	return j.blocks[len(j.blocks)-1][j.inLast:]
}

// text returns the whole body. If the body came in blocks, text copies it to the desk's memory and
// frees the blocks.
func (s *Server) text(j *job) []byte {
	if len(j.blocks) == 0 {
		return j.body
	}
	size := len(j.body) + (len(j.blocks)-1)*len(block{}) + j.inLast
	if cap(j.long) < size+rankjson.Padding {
		j.long = make([]byte, 0, size+rankjson.Padding)
	}
	j.long = append(j.long[:0], j.body...)
	for i, b := range j.blocks {
		end := len(b)
		if i == len(j.blocks)-1 {
			end = j.inLast
		}
		j.long = append(j.long, b[:end]...)
	}
	s.dropBlocks(j)
	return j.long
}

// dropBlocks returns the blocks to their pool.
func (s *Server) dropBlocks(j *job) {
	if len(j.blocks) == 0 {
		return
	}
	for _, b := range j.blocks {
		s.blocks.Put(b)
	}
	clear(j.blocks)
	j.blocks, j.inLast = j.blocks[:0], 0
	s.tidy()
}

// read reads the body of a request and turns errors into problems.
func (s *Server) read(j *job, w http.ResponseWriter, r *http.Request) error {
	j.reader = bodyReader{server: s, request: r, answer: w, begun: time.Now()}
	err := errLarge
	if r.ContentLength <= s.limits.Body {
		err = s.fill(j, r.ContentLength)
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
