package datafile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/stream"
)

// copyText writes the text of a file to w. It appends a line feed if the last line has none.
func copyText(w io.Writer, path string, opts dataset.Options) error {
	ctx := input.Context(opts)
	return eachText(path, opts, func(text []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	})
}

// splitFile copies the lines of a valid file to new files. Documents of query id go to parts[part[id]]. Each
// new file begins with the names of features, if there are names. The file must have exactly docs documents.
func splitFile(path string, part map[string]int, names []string, docs int, parts []string, opts dataset.Options) (err error) {
	ctx := input.Context(opts)
	s := splitter{part: part, out: make([]*bufio.Writer, len(parts))}
	for p, name := range parts {
		f, e := os.Create(name)
		if e != nil {
			return e
		}
		s.out[p] = bufio.NewWriter(f)
		if _, e := letor.NewWriter(s.out[p], stream.Contents{FeatureNames: names}, letor.WriteOptions{}); e != nil {
			return e
		}
		defer func() { err = errors.Join(err, s.out[p].Flush(), f.Close()) }()
	}
	err = eachText(path, opts, func(text []byte) error {
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

// eachText calls visit with the text of a data set in order, some whole lines at a time. Data that are not
// LETOR text are formatted as letor.Write does.
func eachText(path string, opts dataset.Options, visit func(text []byte) error) error {
	opts.Missing = dataset.MissingKeep
	files, err := Files(input.Context(opts), path)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := eachTextOf(file, opts, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachTextOf does the work of eachText for one file.
func eachTextOf(path string, opts dataset.Options, visit func(text []byte) error) error {
	return withFile(path, opts, beginning(opts), func(in *input.Input) error {
		f, err := recognise(in, opts)
		if err != nil {
			return err
		}
		if f.each != nil && opts.Negative == dataset.NegativeDrop {
			return &dataset.SyntaxError{File: path, Found: "text, whose lines are copied as they stand", Expected: "no documents to leave out"}
		}
		if f.each != nil {
			return f.each(in, opts, visit)
		}
		d, err := f.read(in, opts)
		if err != nil {
			return err
		}
		if d.Features == 0 {
			return noFeatures(path)
		}
		return errors.Join(letor.Write(visitor(visit), d, letor.WriteOptions{}), d.Close())
	})
}

// visitor makes a function an io.Writer. The function gets whole lines, because letor.Write ends each Write at
// the end of a line.
type visitor func(text []byte) error

func (v visitor) Write(text []byte) (int, error) {
	if err := v(text); err != nil {
		return 0, err
	}
	return len(text), nil
}
