package letor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/compress"
	"github.com/listwise/listwise/internal/input"
	"github.com/listwise/listwise/internal/parallel"
)

// A source is a text cut into chunks of whole lines. Chunk i holds the lines that
// begin within bytes [i·size, (i+1)·size) of the text, for any kind of
// source and the number of workers; a chunk in which no line begins is empty.
type source interface {
	// each calls visit for every chunk, concurrently but never twice at a time
	// for the same worker, until all are visited or stop holds an index below
	// the next chunk's: chunks up to that index are visited all the same, unless
	// the context is cancelled. The chunk's text is valid only during the call.
	each(stop *atomic.Int64, visit func(worker int, c chunk))

	// workers is the number of workers that each will use.
	workers() int

	// chunks is the number of chunks, math.MaxInt if that is not known before reading.
	chunks() int
}

// cutting is how a source cuts its text.
type cutting struct {
	ctx   context.Context
	mem   *input.Memory
	chunk int64 // bytes in a chunk
	line  int   // how far a chunk's last line may reach beyond it
	crew  int
}

// chunk is a piece of a text: whole lines, each with its line feed, followed by
// padding bytes that may be read but mean nothing.
type chunk struct {
	index int
	text  []byte // text[:len(text)-padding] are the lines; nil if there are none
	err   error  // why the text could not be read beyond these lines, or nil
}

// withoutMark returns the chunk without the byte order mark that a text in UTF-8
// may begin with.
func (c chunk) withoutMark() chunk {
	const mark = "\xef\xbb\xbf"
	if c.index == 0 && bytes.HasPrefix(c.text, []byte(mark)) && c.lines() > len(mark) {
		c.text = c.text[len(mark):]
	}
	return c
}

// lines returns the length of the chunk's lines.
func (c chunk) lines() int { return max(0, len(c.text)-padding) }

const (
	chunkSize   = 1 << 19
	alignment   = 4096
	chunkSlack  = 1 << 14   // read beyond a chunk in the hope of its last line's end
	longestLine = 256 << 20 // more is taken for something that is no text
	freeBuffer  = 1 << 21   // a buffer up to this size is not counted as memory
)

// textOf returns the text of an input in any encoding.
func textOf(in *input.Input, opts dataset.Options) (source, error) {
	head, err := in.Head(compress.HeadSize)
	if err != nil {
		return nil, err
	}
	c := cutting{ctx: input.Context(opts), mem: in.Mem, chunk: cmp.Or(in.Chunk, chunkSize), line: cmp.Or(in.Line, longestLine), crew: opts.Workers}
	r := observed(in.R, in.Size, opts.Observe)
	kind := compress.Detect(head, in.Name)
	if kind == compress.Plain {
		return &randomSource{r: r, size: in.Size, cutting: c}, nil
	}
	reopen := func() (io.ReadCloser, error) {
		return compress.Reader(io.NewSectionReader(r, 0, in.Size), kind)
	}
	return &streamSource{open: reopen, cutting: c}, nil
}

// tooLong is the error about a line.
func (c *cutting) tooLong() error {
	return &dataset.SyntaxError{Found: "a line longer than " + input.Bytes(float64(c.line)), Expected: "text"}
}

// randomSource is a text that can be read at any place: a file, or memory.
type randomSource struct {
	r    io.ReaderAt
	size int64
	cutting
}

func (s *randomSource) chunks() int { return int((s.size + s.chunk - 1) / s.chunk) }

func (s *randomSource) workers() int { return parallel.Workers(s.crew, s.chunks()) }

func (s *randomSource) each(stop *atomic.Int64, visit func(worker int, c chunk)) {
	buffers := make([][]byte, s.workers())
	parallel.For(s.chunks(), s.crew, func(worker, i int) {
		if int64(i) > stop.Load() || s.ctx.Err() != nil {
			return
		}
		text, err := s.load(i, &buffers[worker])
		visit(worker, chunk{index: i, text: text, err: err}.withoutMark())
	})
	for _, b := range buffers {
		s.mem.Give(counted(cap(b)))
	}
}

// load reads chunk i into the buffer, which it replaces by a larger one if need
// be. It starts one byte early, to see whether a line begins where the chunk does.
func (s *randomSource) load(i int, buffer *[]byte) ([]byte, error) {
	from := int64(i) * s.chunk
	to := min(from+s.chunk, s.size)
	base := max(0, from-alignment)
	buf, err := s.extend((*buffer)[:0], base, to+chunkSlack)
	*buffer = buf
	first := 0
	if from > 0 {
		before := min(int(from-base)-1, len(buf))
		n := bytes.IndexByte(buf[before:min(int(to-base), len(buf))], '\n')
		first = before + n + 1
		if n < 0 || base+int64(first) == to {
			return nil, err
		}
	}
	longest := int(to-base) + s.line // where the last line may end
	for searched := int(to - base - 1); err == nil; {
		end := bytes.IndexByte(buf[searched:], '\n') + searched
		ended := base+int64(len(buf)) == s.size
		switch {
		case end < searched && !ended && len(buf) <= longest:
		case end > longest || end < searched && len(buf) > longest:
			return wholeLines(buf[:min(len(buf), longest)])[first:], s.tooLong()
		case end < searched:
			return closeLine(buf)[first:], nil
		default:
			return buf[first : end+1+padding], nil
		}
		searched = len(buf)
		buf, err = s.extend(buf, base, base+int64(min(2*len(buf), longest+1)))
		*buffer = buf
	}
	return wholeLines(buf)[first:], err
}

// extend reads on from the end of buf, which holds the text from base, up to the
// place end in the text. The result has room for a line feed and the padding.
func (s *randomSource) extend(buf []byte, base, end int64) ([]byte, error) {
	have, want := len(buf), int(min(end, s.size)-base)
	buf, err := s.withRoom(buf, want)
	if err != nil {
		return buf, err
	}
	buf = buf[:want]
	if _, err := s.r.ReadAt(buf[have:], base+int64(have)); err != nil {
		if errors.Is(err, io.EOF) {
			err = dataset.ErrChanged
		}
		return buf[:have], err
	}
	return buf, nil
}

// withRoom returns buf, moved to a larger array if its capacity is less than n
// bytes, a line feed and the padding.
func (c *cutting) withRoom(buf []byte, n int) ([]byte, error) {
	n += 1 + padding
	if cap(buf) >= n {
		return buf, nil
	}
	if err := c.mem.Take(counted(n)-counted(cap(buf)), "lines"); err != nil {
		c.mem.Give(counted(n) - counted(cap(buf)))
		return buf, err
	}
	return append(make([]byte, 0, n), buf...), nil
}

// counted is how much of a buffer's memory counts: none unless a line is long.
func counted(size int) int64 {
	if size <= freeBuffer {
		return 0
	}
	return int64(size)
}

// closeLine returns the text with a line feed at its end, which its last line may
// lack, and the padding, for which there must be room.
func closeLine(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	return text[:len(text)+padding]
}

// wholeLines returns the text up to its last line feed, and the padding.
func wholeLines(text []byte) []byte {
	n := bytes.LastIndexByte(text, '\n') + 1
	if n == 0 {
		return nil
	}
	return text[:n+padding]
}
