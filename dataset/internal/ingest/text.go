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
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/parallel"
)

// Text is a text that is divided into chunks of whole records. A record is a line, or a row of a table, whose
// quoted cells may contain line feeds. Chunk i has the records that begin within bytes [i·size, (i+1)·size) of
// the text. It is empty if no record begins there. The division does not depend on the number of workers.
type Text interface {
	// Each calls visit for every chunk whose index is at most stop. Calls are concurrent, but one at a time
	// for each worker. visit may lower stop. If the context is cancelled, Each ends early. The text of a chunk
	// is valid only during the call.
	Each(stop *atomic.Int64, visit func(worker int, c Chunk))

	// Workers is the number of workers that Each will use.
	Workers() int

	// Chunks is the number of chunks, or math.MaxInt if it is not known before reading.
	Chunks() int

	// quote makes later passes divide the text only at line feeds outside quotes. odd says, for each chunk of
	// the present division, whether an odd number of quotes precedes it. quote returns false if the text is
	// already divided in this way.
	quote(odd []bool) bool
}

// Cutting has the options for dividing a text into chunks.
type Cutting struct {
	Context context.Context
	Mem     *memory.Account
	Chunk   int64 // bytes in a chunk
	Line    int   // number of bytes by which the last record may extend beyond the chunk
	Crew    int   // number of workers; 0 means GOMAXPROCS
	Quotes  bool  // line feeds between quotes do not end a record
}

// Chunk is a part of a text. It has whole records, each with its line feed. Padding bytes follow, which a
// parser may read and must ignore.
type Chunk struct {
	Index int
	Turn  int    // position in the order of chunks; less than Index if empty chunks were not visited
	Text  []byte // Text[:Lines()] are the records; nil if there are none
	Err   error  // error that prevented reading beyond these records, or nil
}

// WithoutMark returns the chunk without the byte order mark of UTF-8, with which a text may begin.
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
	chunkSlack  = 1 << 14   // bytes read beyond a chunk, which usually include the end of its last line
	longestLine = 256 << 20 // a longer line is an error, because the file is probably no text
	freeBuffer  = 1 << 21   // buffers up to this size do not count toward the memory limit
)

// TextOf returns the text of an input, decompressed if necessary. With quotes, line feeds between quotes
// do not end a record.
func TextOf(in *input.Input, opts dataset.Options, quotes bool) (Text, error) {
	head, err := in.Head(compress.HeadSize)
	if err != nil {
		return nil, err
	}
	c := Cutting{Context: input.Context(opts), Mem: in.Mem, Chunk: cmp.Or(in.Chunk, chunkSize), Line: cmp.Or(in.Line, longestLine), Crew: opts.Workers}
	r := observed(in.R, in.Size, opts.Observe)
	kind := compress.Detect(head, in.Name)
	if kind == compress.Plain { // divided at any line feed at first, until counting finds quotes
		return &randomText{r: r, size: in.Size, Cutting: c}, nil
	}
	c.Quotes = quotes
	reopen := func() (io.ReadCloser, error) {
		return compress.Reader(io.NewSectionReader(r, 0, in.Size), kind, in.Mem.Limit())
	}
	return StreamText(reopen, c), nil
}

// tooLong returns the error for a line that is too long.
func (c *Cutting) tooLong() error {
	return &dataset.SyntaxError{Found: "a line longer than " + memory.Bytes(float64(c.Line)), Expected: "text"}
}

// randomText is a text with random access: a file, or memory.
type randomText struct {
	r    io.ReaderAt
	size int64
	odd  []bool // for each chunk that begins at any line feed, whether it begins between quotes
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

// load reads chunk i into the buffer, or into a larger one that replaces it. It also reads bytes before the
// chunk, to see whether a line begins at its first byte.
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
	longest := int(to-base) + s.Line // limit of the end of the last line
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

// A recordEnd searches for the line feed that ends a record.
type recordEnd struct {
	quotes bool // only line feeds outside quotes end a record
	at     int  // end of the text that has been searched
	odd    bool // the searched text has an odd number of quotes
}

// find returns the index of the first line feed at or after from that ends a record. It returns a negative
// number if there is none. The text may be longer than in the call before.
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

// extend appends text to buf, up to the position end. buf begins at the position base of the text. The result
// has capacity for a line feed and the padding.
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

// withRoom returns buf with capacity for n bytes, a line feed and the padding. It copies buf to a larger
// array if necessary.
func (c *Cutting) withRoom(buf []byte, n int) ([]byte, error) {
	n += 1 + decimal.Padding
	if cap(buf) >= n {
		return buf, nil
	}
	need := counted(n)
	if need > 0 { // small buffers are available even if the limit is exhausted
		if err := c.Mem.Take(need, "lines"); err != nil {
			c.Mem.Give(need)
			return buf, err
		}
	}
	moved := append(make([]byte, 0, n), buf...)
	c.Mem.Give(counted(cap(buf)))
	return moved, nil
}

// counted returns the part of a buffer's memory that counts toward the limit. It is 0 unless a line is long.
func counted(size int) int64 {
	if size <= freeBuffer {
		return 0
	}
	return int64(size)
}

// CloseLine returns the text with padding. It first appends a line feed if the last line has none. The
// capacity of text must be large enough for both.
func CloseLine(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	return text[:len(text)+decimal.Padding]
}

// wholeLines returns the text up to its last line feed, with padding.
func wholeLines(text []byte) []byte {
	n := bytes.LastIndexByte(text, '\n') + 1
	if n == 0 {
		return nil
	}
	return text[:n+decimal.Padding]
}

// streamText is a text that can only be read sequentially, such as a compressed file. One goroutine reads it
// and divides it into chunks, while others visit the chunks. The text is reopened for each pass.
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

// cut reads the text and divides it into chunks. It gets buffers from next, and passes each chunk with its
// buffer to emit. If reading fails, the last chunk has the error.
func (s *streamText) cut(stop *atomic.Int64, next func() []byte, emit func(c Chunk, buffer []byte)) {
	buf := next()
	r, err := s.open()
	if err != nil {
		emit(Chunk{Err: err}, buf)
		return
	}
	var base int64 // position of buf[0] in the text, at the beginning of a line
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
	_ = r.Close() // errors of reading were reported before
}

// readChunk appends text to buf, which begins with a line. It reads to the end of the last line that begins
// within the first size bytes. It returns all text it has read, and the part of it that is the chunk. At the
// end of the text the error is io.EOF.
func (s *streamText) readChunk(r io.Reader, buf []byte, size int) (all, text []byte, err error) {
	ends := recordEnd{quotes: s.Quotes}
	searched, longest := size-1, size+s.Line // longest is the limit of the end of the last line
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
		if cap(buf)-len(buf) < 2*decimal.Padding { // the line is long: make room for another read
			if buf, err = s.withRoom(buf, min(max(size+chunkSlack, 2*len(buf)), longest+1+decimal.Padding)); err != nil {
				return buf, wholeLines(buf), err
			}
		}
		n, err := r.Read(buf[len(buf) : cap(buf)-1-decimal.Padding])
		buf = buf[:len(buf)+n]
		if n > 0 {
			continue // the next call returns the error again
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

// passes is the number of times that a text is read.
const passes = 2

// observedReader calls observe with the number of bytes read in all passes.
type observedReader struct {
	io.ReaderAt

	total   int64
	done    atomic.Int64
	observe func(done, total int64)
}

// observed returns r, or a reader that calls observe if that is not nil.
func observed(r io.ReaderAt, size int64, observe func(done, total int64)) io.ReaderAt {
	if observe == nil {
		return r
	}
	return &observedReader{ReaderAt: r, total: passes * size, observe: observe}
}

// ReadAt implements io.ReaderAt. Reads of adjacent chunks overlap, so the sum of their bytes may exceed the
// total. The number passed to observe does not.
func (o *observedReader) ReadAt(b []byte, at int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(b, at)
	o.observe(min(o.done.Add(int64(n)), o.total), o.total)
	return n, err
}
