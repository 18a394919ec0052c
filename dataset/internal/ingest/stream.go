package ingest

import (
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/parallel"
)

// streamSource is a text that must be read from its beginning, such as a compressed file. One goroutine reads
// and cuts it while others visit its chunks. It is reopened for each pass.
type streamSource struct {
	open func() (io.ReadCloser, error)
	Cutting
}

// Stream returns the text of a stream as a source. It calls open for each pass.
func Stream(open func() (io.ReadCloser, error), c Cutting) Source { return &streamSource{open, c} }

func (s *streamSource) quote([]bool) bool { return false }

func (s *streamSource) Chunks() int { return math.MaxInt }

func (s *streamSource) Workers() int { return parallel.Workers(s.Crew, 1<<16) }

func (s *streamSource) Each(stop *atomic.Int64, visit func(worker int, c Chunk)) {
	type loaded struct {
		Chunk
		buffer []byte
	}
	n := s.Workers()
	full, free := make(chan loaded, n), make(chan []byte, n+2)
	for range cap(free) {
		free <- nil
	}
	var crew sync.WaitGroup
	for worker := range n {
		crew.Go(func() {
			for c := range full {
				visit(worker, c.WithoutMark())
				free <- c.buffer
			}
		})
	}
	s.cut(stop, func() []byte { return <-free }, func(c Chunk, buffer []byte) { full <- loaded{c, buffer} })
	close(full)
	crew.Wait()
	for range len(free) {
		s.Mem.Give(counted(cap(<-free)))
	}
}

// cut reads the text into buffers from next, and passes each chunk to emit with its buffer. The last chunk has
// the error that ended the text, if any.
func (s *streamSource) cut(stop *atomic.Int64, next func() []byte, emit func(c Chunk, buffer []byte)) {
	buf := next()
	r, err := s.open()
	if err != nil {
		emit(Chunk{Err: err}, buf)
		return
	}
	var base int64 // the place in the text of buf[0], where a line begins
	for turn := 0; err == nil; turn++ {
		index := base / s.Chunk
		if index > stop.Load() || s.Context.Err() != nil {
			break
		}
		var c Chunk
		c.Index, c.Turn = int(index), turn
		buf, c.Text, err = s.readChunk(r, buf, int((index+1)*s.Chunk-base))
		if err != nil && !errors.Is(err, io.EOF) {
			c.Err = err
		}
		rest := buf[c.Lines():]
		spare, full := s.withRoom(next()[:0], len(rest))
		if full != nil && err == nil {
			c.Err, err = full, full
		}
		if full == nil {
			spare = append(spare, rest...)
		}
		base += int64(c.Lines())
		emit(c, buf)
		buf = spare
	}
	s.Mem.Give(counted(cap(buf)))
	_ = r.Close() // everything wanted has been read and checked
}

// readChunk reads on after buf, which begins with a line, to the end of the last line that begins within its
// first size bytes. It returns all it has read and the chunk; at the end of the text the error is io.EOF.
func (s *streamSource) readChunk(r io.Reader, buf []byte, size int) (all, text []byte, err error) {
	ends := recordEnd{quotes: s.Quotes}
	searched, longest := size-1, size+s.Line // longest is where the last line may end
	for {
		if len(buf) > searched {
			end := ends.find(buf, searched)
			switch {
			case end > longest || end < searched && len(buf) > longest:
				return buf, wholeLines(buf[:min(len(buf), longest)]), s.tooLong()
			case end >= searched:
				return buf, buf[:end+1+decimal.Padding], nil
			}
			searched = len(buf)
		}
		if cap(buf)-len(buf) < 2*decimal.Padding { // too little room for another read: a long line
			if buf, err = s.withRoom(buf, min(max(size+chunkSlack, 2*len(buf)), longest+1+decimal.Padding)); err != nil {
				return buf, wholeLines(buf), err
			}
		}
		n, err := r.Read(buf[len(buf) : cap(buf)-1-decimal.Padding])
		buf = buf[:len(buf)+n]
		if n > 0 {
			continue // an error comes again with the next call
		}
		if errors.Is(err, io.EOF) {
			text = CloseLine(buf)
			return text[:len(text)-decimal.Padding], text, io.EOF
		}
		if err != nil {
			return buf, wholeLines(buf), err
		}
	}
}
