package click

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/parallel"
)

const (
	chunkBytes  = 1 << 18   // approximate size of a chunk
	freeChunk   = 1 << 20   // chunks up to this size do not count toward the memory limit
	longestLine = 256 << 20 // a longer line is an error, because the file is probably no text
)

// chunk is a part of a text that has whole lines.
type chunk struct {
	text []byte
	line int   // number of its first line
	open bool  // the last line has no line feed
	err  error // that prevented reading beyond this text, or nil

	done chan struct{} // receives a value when the chunk is parsed
	batch
}

// eachChunk divides a text into chunks, parses several at a time, and calls use with them in order. The chunk is
// reused afterwards. eachChunk closes the text. If the text cannot block, it does so before it returns.
func eachChunk(ctx context.Context, text io.ReadCloser, blocks bool, mem *memory.Account, parse func(c *chunk), use func(c *chunk) error) error {
	workers := parallel.Workers(0, 1<<16)
	free, work, order := make(chan *chunk, workers+2), make(chan *chunk, workers+2), make(chan *chunk, workers+2)
	for range cap(free) {
		free <- &chunk{done: make(chan struct{}, 1)}
	}
	stop := make(chan struct{})
	var parsers, reader sync.WaitGroup
	for range workers {
		parsers.Go(func() {
			for c := range work {
				parse(c)
				c.done <- struct{}{}
			}
		})
	}
	reader.Go(func() {
		cut(text, mem, free, stop, func(c *chunk) {
			order <- c
			work <- c
		})
		close(order)
		close(work)
		_ = text.Close() // errors of reading were reported
	})
	defer func() {
		close(stop)
		if !blocks {
			reader.Wait()
			parsers.Wait()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, more := <-order:
			if !more {
				return nil
			}
			<-c.done
			if err := use(c); err != nil {
				return err
			}
			free <- c
		}
	}
}

// cut reads a text, divides it into chunks from free, and passes them to emit. If reading fails, the last chunk has
// the error.
func cut(text io.Reader, mem *memory.Account, free <-chan *chunk, stop <-chan struct{}, emit func(c *chunk)) {
	var rest []byte
	for line := 1; ; {
		var c *chunk
		select {
		case c = <-free:
		case <-stop:
			return
		}
		c.line = line
		end := c.fill(text, rest, mem)
		rest = append(rest[:0], c.text[end:]...)
		c.text = c.text[:end]
		line += bytes.Count(c.text, []byte("\n"))
		last := c.err != nil
		if errors.Is(c.err, io.EOF) {
			c.err = nil
		}
		c.open = last && c.err == nil && end > 0 && c.text[end-1] != '\n'
		emit(c)
		if last {
			return
		}
	}
}

// fill reads a chunk that begins with rest, and returns the end of its lines. c.err is the error that ended the
// text, which may be io.EOF.
func (c *chunk) fill(text io.Reader, rest []byte, mem *memory.Account) (end int) {
	c.err = nil
	buf := c.text[:0]
	buf = append(buf, rest...)
	defer func() { c.text = buf }()
	for searched := 0; ; {
		if len(buf) >= chunkBytes {
			if k := bytes.LastIndexByte(buf[searched:], '\n'); k >= 0 {
				return searched + k + 1
			}
			searched = len(buf)
		}
		if len(buf) == cap(buf) {
			if c.err = c.grow(&buf, mem); c.err != nil {
				return bytes.LastIndexByte(buf, '\n') + 1
			}
		}
		n, err := text.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			c.err = err
			if errors.Is(err, io.EOF) {
				return len(buf)
			}
			return bytes.LastIndexByte(buf, '\n') + 1
		}
	}
}

// grow doubles the capacity of a buffer.
func (c *chunk) grow(buf *[]byte, mem *memory.Account) error {
	size := max(chunkBytes+chunkBytes/2, 2*cap(*buf))
	if size > 2*longestLine {
		return bad("a line longer than "+memory.Bytes(longestLine), "text")
	}
	if size > freeChunk {
		if err := mem.Take(int64(size), "a long line"); err != nil {
			return err
		}
		if cap(*buf) > freeChunk {
			mem.Give(int64(cap(*buf)))
		}
	}
	*buf = append(make([]byte, 0, size), *buf...)
	return nil
}
