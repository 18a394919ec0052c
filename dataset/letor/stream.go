package letor

import (
	"bytes"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/internal/parallel"
)

// streamSource is a text that can be read only from its beginning, such as a
// compressed file's: one goroutine reads and cuts it while others visit its
// chunks. It is opened anew whenever it is read again.
type streamSource struct {
	open func() (io.ReadCloser, error)
	cutting
}

func (s *streamSource) chunks() int { return math.MaxInt }

func (s *streamSource) workers() int { return parallel.Workers(s.crew, 1<<16) }

func (s *streamSource) each(stop *atomic.Int64, visit func(worker int, c chunk)) {
	type loaded struct {
		chunk
		buffer []byte
	}
	n := s.workers()
	full, free := make(chan loaded, n), make(chan []byte, n+2)
	for range cap(free) {
		free <- nil
	}
	var crew sync.WaitGroup
	for worker := range n {
		crew.Go(func() {
			for c := range full {
				visit(worker, c.withoutMark())
				free <- c.buffer
			}
		})
	}
	s.cut(stop, func() []byte { return <-free }, func(c chunk, buffer []byte) { full <- loaded{c, buffer} })
	close(full)
	crew.Wait()
	for range len(free) {
		s.mem.Give(counted(cap(<-free)))
	}
}

// cut reads the text into buffers that it gets from next and hands each chunk to
// emit with its buffer, the last with the error that ended the text, if any.
func (s *streamSource) cut(stop *atomic.Int64, next func() []byte, emit func(c chunk, buffer []byte)) {
	buf := next()
	r, err := s.open()
	if err != nil {
		emit(chunk{err: err}, buf)
		return
	}
	var base int64 // the place in the text of buf[0], where a line begins
	for err == nil {
		index := base / s.chunk
		if index > stop.Load() || s.ctx.Err() != nil {
			break
		}
		var c chunk
		c.index = int(index)
		buf, c.text, err = s.readChunk(r, buf, int((index+1)*s.chunk-base))
		if err != nil && !errors.Is(err, io.EOF) {
			c.err = err
		}
		rest := buf[c.lines():]
		spare, full := s.withRoom(next()[:0], len(rest))
		if full != nil && err == nil {
			c.err, err = full, full
		}
		if full == nil {
			spare = append(spare, rest...)
		}
		base += int64(c.lines())
		emit(c, buf)
		buf = spare
	}
	s.mem.Give(counted(cap(buf)))
	_ = r.Close() // everything wanted has been read and checked
}

// readChunk reads on behind buf, which begins with a line, up to the end of the
// last line that begins within its first size bytes. It returns all it has read
// and the chunk; at the end of the text the error is io.EOF.
func (s *streamSource) readChunk(r io.Reader, buf []byte, size int) (all, text []byte, err error) {
	searched, longest := size-1, size+s.line // longest is where the last line may end
	for {
		if len(buf) > searched {
			end := bytes.IndexByte(buf[searched:], '\n') + searched
			switch {
			case end > longest || end < searched && len(buf) > longest:
				return buf, wholeLines(buf[:min(len(buf), longest)]), s.tooLong()
			case end >= searched:
				return buf, buf[:end+1+padding], nil
			}
			searched = len(buf)
		}
		if cap(buf)-len(buf) < 2*padding { // too little room for another read: a long line
			if buf, err = s.withRoom(buf, min(max(size+chunkSlack, 2*len(buf)), longest+1+padding)); err != nil {
				return buf, wholeLines(buf), err
			}
		}
		n, err := r.Read(buf[len(buf) : cap(buf)-1-padding])
		buf = buf[:len(buf)+n]
		if n > 0 {
			continue // an error comes again with the next call
		}
		if errors.Is(err, io.EOF) {
			text = closeLine(buf)
			return text[:len(text)-padding], text, io.EOF
		}
		if err != nil {
			return buf, wholeLines(buf), err
		}
	}
}
