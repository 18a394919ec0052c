package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
)

// copyText writes a file's text to w, and a line feed where its last line lacks
// one.
func copyText(ctx context.Context, w io.Writer, path string) error {
	return eachText(ctx, path, func(text []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	})
}

// splitFile copies the lines of a file, which must be right, to new files: those
// of query id's documents to parts[part[id]], others nowhere. There must be as
// many documents as given.
func splitFile(ctx context.Context, path string, part map[string]int, docs int, parts []string) (err error) {
	s := splitter{part: part, out: make([]*bufio.Writer, len(parts))}
	for p, name := range parts {
		f, e := os.Create(name)
		if e != nil {
			return e
		}
		s.out[p] = bufio.NewWriter(f)
		defer func() { err = errors.Join(err, s.out[p].Flush(), f.Close()) }()
	}
	err = eachText(ctx, path, func(text []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return s.split(text)
	})
	if err == nil && s.docs != docs {
		err = ErrChanged
	}
	if errors.Is(err, ErrChanged) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return err
}

type splitter struct {
	part map[string]int
	out  []*bufio.Writer
	docs int
}

func (s *splitter) split(text []byte) error {
	for line := range bytes.Lines(text) {
		id, ok := queryOf(line)
		if !ok {
			continue
		}
		p, ok := s.part[string(id)]
		if !ok {
			return ErrChanged
		}
		s.docs++
		if _, err := s.out[p].Write(line); err != nil {
			return err
		}
	}
	return nil
}

// queryOf returns the query id of a line, which must be right, or false if it
// holds no document.
func queryOf(line []byte) (id []byte, ok bool) {
	p := skipBlanks(line, 0)
	if line[p] == '\n' || line[p] == '#' {
		return nil, false
	}
	if _, id, ok = bytes.Cut(line, []byte("qid:")); !ok {
		return nil, false
	}
	return id[:tokenEnd(id, 0)], true
}

// eachText calls visit with all of a file's text in order, some whole lines at a
// time, each with its line feed. A cache's are those that WriteText prints.
func eachText(ctx context.Context, path string, visit func(text []byte) error) error {
	return withInput(path, Options{Context: ctx}, func(in *input) error {
		kind, err := in.sniff()
		if err != nil {
			return err
		}
		if kind == binaryCache {
			d, err := openCache(in, Options{Context: ctx})
			if err != nil {
				return err
			}
			return errors.Join(WriteText(visitor(visit), d, TextOptions{}), d.Close())
		}
		var stop atomic.Int64
		stop.Store(math.MaxInt64)
		in.text(kind, Options{Context: ctx, Workers: 1}).each(&stop, func(_ int, c chunk) { // one worker: in order
			if err != nil {
				return
			}
			if err = visit(c.text[:c.lines()]); err == nil && c.err != nil {
				err = locate(c.err, in.name, 0)
			}
			if err != nil {
				stop.Store(0)
			}
		})
		return errors.Join(err, ctx.Err())
	})
}

// visitor is a function as a writer. WriteText writes whole lines.
type visitor func(text []byte) error

func (v visitor) Write(text []byte) (int, error) {
	if err := v(text); err != nil {
		return 0, err
	}
	return len(text), nil
}
