package datafile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/letor"
	"github.com/listwise/listwise/internal/input"
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
		err = dataset.ErrChanged
	}
	if errors.Is(err, dataset.ErrChanged) {
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
		id, ok := letor.QueryOf(line)
		if !ok {
			continue
		}
		p, ok := s.part[string(id)]
		if !ok {
			return dataset.ErrChanged
		}
		s.docs++
		if _, err := s.out[p].Write(line); err != nil {
			return err
		}
	}
	return nil
}

// eachText calls visit with all of a file's text in order, some whole lines at a
// time, each with its line feed. A file's that is no text are those that letor.Write
// prints.
func eachText(ctx context.Context, path string, visit func(text []byte) error) error {
	opts := dataset.Options{Context: ctx}
	return input.With(path, opts, beginning(opts), func(in *input.Input) error {
		f, err := recognise(in, opts)
		if err != nil {
			return err
		}
		if f.each != nil {
			return f.each(in, opts, visit)
		}
		d, err := f.read(in, opts)
		if err != nil {
			return err
		}
		return errors.Join(letor.Write(visitor(visit), d, letor.Options{}), d.Close())
	})
}

// visitor is a function as a writer. letor.Write writes whole lines.
type visitor func(text []byte) error

func (v visitor) Write(text []byte) (int, error) {
	if err := v(text); err != nil {
		return 0, err
	}
	return len(text), nil
}
