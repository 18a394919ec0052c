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

// A byte of a body counts as factor bytes of memory: the byte, its copy if the body came in blocks,
// and as much again for garbage. The documents count as they are decoded. Memory is taken in pieces
// of at least piece bytes.
const (
	factor = 4
	piece  = 64 << 10
)

// The beginning of a body is read into a buffer of the length that the request states, at most
// firstBuffer bytes. The buffer grows to mostBuffer bytes. The rest is read into blocks, so that a large
// body takes no more memory than the part of it that has arrived.
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
	case b.read*factor > b.taken && !b.Take(max(b.read*factor-b.taken, piece)):
		return n, errMemory
	}
	return n, err
}

// Take takes memory for the request, unless there is not as much.
func (b *bodyReader) Take(n int64) bool {
	if !b.server.memory.take(n) {
		return false
	}
	b.taken += n
	return true
}

// keep gives back the memory that was taken but for n bytes.
func (b *bodyReader) keep(n int64) {
	b.server.memory.give(b.taken - n)
	b.taken = n
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
		b.keep(0)
	}
	*b = bodyReader{}
}

// fill reads the body to its end.
func (s *Server) fill(j *job, length int64) error {
	j.body = j.body[:0]
	if first := int(min(max(length, 0), firstBuffer)); cap(j.body) < first+rankjson.Padding+1 {
		j.body = make([]byte, 0, first+rankjson.Padding+1) // one byte more, to see the end
	}
	for {
		n, err := j.reader.Read(s.room(j))
		if len(j.blocks) > 0 {
			j.inLast += n
		} else {
			j.body = j.body[:len(j.body)+n]
		}
		if err != nil {
			if err == io.EOF { //nolint:errorlint // as io.Reader has it
				return nil
			}
			return err
		}
	}
}

// room returns memory for more of the body.
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

// text returns the whole body, which is the desk's if it came in blocks. The blocks are given back.
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

// dropBlocks gives back the blocks.
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

// read reads the body of a request.
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
