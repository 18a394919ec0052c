package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/compress"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/parallel"
)

// Text is text that is cut into chunks of whole records: lines, or rows of a table whose quoted cells may hold
// line feeds. Chunk i has the records that begin within bytes [i·size, (i+1)·size) of the text, for every kind
// of text and number of workers. It is empty if no record begins there.
type Text interface {
	// Each calls visit for every chunk, concurrently but never twice at a time for the same worker. It ends when
	// all chunks are visited, or when stop is less than the index of the next chunk. Chunks up to stop are
	// visited, unless the context is cancelled. The chunk's text is valid only during the call.
	Each(stop *atomic.Int64, visit func(worker int, c Chunk))

	// Workers is the number of workers that Each will use.
	Workers() int

	// Chunks is the number of chunks, math.MaxInt if that is not known before reading.
	Chunks() int

	// quote makes the text be cut outside quotes. odd says for each chunk of lines whether an odd number of
	// quotes precede it. It returns false if that is so already.
	quote(odd []bool) bool
}

// Cutting says how a text is cut.
type Cutting struct {
	Context context.Context
	Mem     *memory.Account
	Chunk   int64 // bytes in a chunk
	Line    int   // how far a chunk's last record may reach beyond it
	Crew    int   // the number of workers
	Quotes  bool  // line feeds between quotes end no record
}

// Chunk is a piece of a text: whole records, each with its line feed, followed by
// padding bytes that may be read but mean nothing.
type Chunk struct {
	Index int
	Turn  int    // the number of chunks visited before, or at the same time, of smaller index
	Text  []byte // Text[:Lines()] are the records; nil if there are none
	Err   error  // why the text could not be read beyond these records, or nil
}

// WithoutMark returns the chunk without the byte order mark that a text in UTF-8
// may begin with.
func (c Chunk) WithoutMark() Chunk {
	const mark = "\xef\xbb\xbf"
	if c.Index == 0 && bytes.HasPrefix(c.Text, []byte(mark)) && c.Lines() > len(mark) {
		c.Text = c.Text[len(mark):]
	}
	return c
}

// Lines returns the length of the chunk's records.
func (c Chunk) Lines() int { return max(0, len(c.Text)-decimal.Padding) }

const (
	chunkSize   = 1 << 19
	alignment   = 4096
	chunkSlack  = 1 << 14   // read beyond a chunk in the hope of its last line's end
	longestLine = 256 << 20 // more is taken for something that is no text
	freeBuffer  = 1 << 21   // a buffer up to this size is not counted as memory
)

// TextOf returns the text of an input in any encoding. With quotes, line feeds between
// quotes end no record.
func TextOf(in *input.Input, opts dataset.Options, quotes bool) (Text, error) {
	head, err := in.Head(compress.HeadSize)
	if err != nil {
		return nil, err
	}
	c := Cutting{Context: input.Context(opts), Mem: in.Mem, Chunk: cmp.Or(in.Chunk, chunkSize), Line: cmp.Or(in.Line, longestLine), Crew: opts.Workers}
	r := observed(in.R, in.Size, opts.Observe)
	kind := compress.Detect(head, in.Name)
	if kind == compress.Plain { // cut at all line feeds until quotes are found
		return &randomText{r: r, size: in.Size, Cutting: c}, nil
	}
	c.Quotes = quotes
	reopen := func() (io.ReadCloser, error) {
		return compress.Reader(io.NewSectionReader(r, 0, in.Size), kind, in.Mem.Limit())
	}
	return StreamText(reopen, c), nil
}

// tooLong is the error about a line that is too long.
func (c *Cutting) tooLong() error {
	return &dataset.SyntaxError{Found: "a line longer than " + memory.Bytes(float64(c.Line)), Expected: "text"}
}

// randomText is a text that can be read at any place: a file, or memory.
type randomText struct {
	r    io.ReaderAt
	size int64
	odd  []bool // of every chunk cut at all line feeds: does it begin between quotes?
	Cutting
}

func (s *randomText) quote(odd []bool) bool {
	s.odd, s.Quotes = odd, true
	return true
}

func (s *randomText) Chunks() int { return int((s.size + s.Chunk - 1) / s.Chunk) }

func (s *randomText) Workers() int { return parallel.Workers(s.Crew, s.Chunks()) }

func (s *randomText) Each(stop *atomic.Int64, visit func(worker int, c Chunk)) {
	buffers := make([][]byte, s.Workers())
	parallel.For(s.Chunks(), s.Crew, func(worker, i int) {
		if int64(i) > stop.Load() || s.Context.Err() != nil {
			return
		}
		text, err := s.load(i, &buffers[worker])
		visit(worker, Chunk{Index: i, Turn: i, Text: text, Err: err}.WithoutMark())
	})
	for _, b := range buffers {
		s.Mem.Give(counted(cap(b)))
	}
}

// load reads chunk i into the buffer, which it replaces by a larger one if need
// be. It starts one byte early, to see whether a line begins where the chunk does.
func (s *randomText) load(i int, buffer *[]byte) ([]byte, error) {
	from := int64(i) * s.Chunk
	to := min(from+s.Chunk, s.size)
	base := max(0, from-alignment)
	buf, err := s.extend((*buffer)[:0], base, to+chunkSlack)
	*buffer = buf
	first := 0
	if from > 0 {
		before := min(int(from-base)-1, len(buf))
		n := bytes.IndexByte(buf[before:min(int(to-base), len(buf))], '\n')
		first = before + n + 1
		if n >= 0 && s.Quotes && i < len(s.odd) && s.odd[i] { // the line begins between quotes
			ends := recordEnd{quotes: true, at: first, odd: true}
			n = ends.find(buf[:min(int(to-base), len(buf))], first)
			first = n + 1
		}
		if n < 0 || base+int64(first) == to {
			return nil, err
		}
	}
	ends := recordEnd{quotes: s.Quotes, at: first}
	longest := int(to-base) + s.Line // where the last line may end
	for searched := int(to - base - 1); err == nil; {
		end := ends.find(buf, searched)
		ended := base+int64(len(buf)) == s.size
		switch {
		case end < searched && !ended && len(buf) <= longest:
		case end > longest || end < searched && len(buf) > longest:
			return wholeLines(buf[:min(len(buf), longest)])[first:], s.tooLong()
		case end < searched:
			return CloseLine(buf)[first:], nil
		default:
			return buf[first : end+1+decimal.Padding], nil
		}
		searched = len(buf)
		buf, err = s.extend(buf, base, base+int64(min(2*len(buf), longest+1)))
		*buffer = buf
	}
	return wholeLines(buf)[first:], err
}

// A recordEnd looks for the line feed that ends a record.
type recordEnd struct {
	quotes bool // only line feeds outside quotes do
	at     int  // the text before it has been looked at
	odd    bool // an odd number of quotes stand in it
}

// find returns the place of the first line feed at or after from that ends a record, or a negative number. The
// text may have grown since the call before.
func (e *recordEnd) find(text []byte, from int) int {
	if !e.quotes {
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			return from + n
		}
		return -1
	}
	if from > e.at {
		e.odd = e.odd != (bytes.Count(text[e.at:from], []byte(`"`))%2 == 1)
		e.at = from
	}
	for ; e.at < len(text); e.at++ {
		switch text[e.at] {
		case '"':
			e.odd = !e.odd
		case '\n':
			if !e.odd {
				return e.at
			}
		}
	}
	return -1
}

// extend reads on from the end of buf, which holds the text from base, up to the
// place end in the text. The result has room for a line feed and the padding.
func (s *randomText) extend(buf []byte, base, end int64) ([]byte, error) {
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
func (c *Cutting) withRoom(buf []byte, n int) ([]byte, error) {
	n += 1 + decimal.Padding
	if cap(buf) >= n {
		return buf, nil
	}
	need := counted(n)
	if need > 0 { // even where others have taken all there is
		if err := c.Mem.Take(need, "lines"); err != nil {
			c.Mem.Give(need)
			return buf, err
		}
	}
	moved := append(make([]byte, 0, n), buf...)
	c.Mem.Give(counted(cap(buf)))
	return moved, nil
}

// counted returns how much of a buffer's memory counts: none unless a line is long.
func counted(size int) int64 {
	if size <= freeBuffer {
		return 0
	}
	return int64(size)
}

// CloseLine returns the text with a line feed at its end, which its last line may
// lack, and the padding, for which there must be room.
func CloseLine(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	return text[:len(text)+decimal.Padding]
}

// wholeLines returns the text up to its last line feed, and the padding.
func wholeLines(text []byte) []byte {
	n := bytes.LastIndexByte(text, '\n') + 1
	if n == 0 {
		return nil
	}
	return text[:n+decimal.Padding]
}

// streamText is a text that must be read from its beginning, such as a compressed file. One goroutine reads
// and cuts it while others visit its chunks. It is reopened for each pass.
type streamText struct {
	open func() (io.ReadCloser, error)
	Cutting
}

// StreamText returns the text of a stream. It calls open for each pass.
func StreamText(open func() (io.ReadCloser, error), c Cutting) Text { return &streamText{open, c} }

func (s *streamText) quote([]bool) bool { return false }

func (s *streamText) Chunks() int { return math.MaxInt }

func (s *streamText) Workers() int { return parallel.Workers(s.Crew, 1<<16) }

func (s *streamText) Each(stop *atomic.Int64, visit func(worker int, c Chunk)) {
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
func (s *streamText) cut(stop *atomic.Int64, next func() []byte, emit func(c Chunk, buffer []byte)) {
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
func (s *streamText) readChunk(r io.Reader, buf []byte, size int) (all, text []byte, err error) {
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

// passes is how often text is read.
const passes = 2

// observedReader reports how much of a text was read in all passes.
type observedReader struct {
	io.ReaderAt

	total   int64
	done    atomic.Int64
	observe func(done, total int64)
}

// observed returns r with calls of observe, unless that is nil.
func observed(r io.ReaderAt, size int64, observe func(done, total int64)) io.ReaderAt {
	if observe == nil {
		return r
	}
	return &observedReader{ReaderAt: r, total: passes * size, observe: observe}
}

// ReadAt implements io.ReaderAt. Chunks overlap by the end of a line, so the sum may exceed the total.
func (o *observedReader) ReadAt(b []byte, at int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(b, at)
	o.observe(min(o.done.Add(int64(n)), o.total), o.total)
	return n, err
}
