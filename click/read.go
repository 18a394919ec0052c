package click

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/flat"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/suggest"
)

// Read calls use for each page of a file in order. The content of the file tells its format: JSON lines with a page
// a line, or a table (CSV, TSV, Parquet) with a document a row. Text may be compressed by gzip or zstandard. The
// path "-" is standard input. The page and its slices are valid until use returns; its strings stay valid.
//
// A last page that is cut off is left out, since a log may still be written. So are pages of weight 0. Any other error in the content is a
// [*dataset.SyntaxError], which names the file and the line.
func Read(ctx context.Context, path string, o Options, use func(*Page) error) error {
	k := newIntake(path, o, use)
	in, blocks := o.Stdin, true
	var file *os.File
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.IsDir() {
			return &dataset.SyntaxError{File: path, Found: "a directory", Expected: "a file"}
		}
		if file, err = os.Open(path); err != nil {
			return err
		}
		in, blocks = file, !info.Mode().IsRegular()
		k.size = info.Size()
	}
	err := k.read(ctx, in, file, blocks)
	if err == nil && k.pages == 0 && k.weightless > 0 {
		err = &dataset.SyntaxError{File: k.name, Found: "weights of 0 alone", Expected: "a page with a positive weight"}
	}
	return err
}

// intake passes the pages of a file on.
type intake struct {
	Options

	name  string
	size  int64 // of the file, 0 if unknown
	use   func(*Page) error
	lines uint32 // of the files before
	pages int    // of this file

	weightless int // pages of this file
}

func newIntake(path string, o Options, use func(*Page) error) *intake {
	k := &intake{Options: o, name: path, use: use}
	if path == "-" {
		k.name = "standard input"
	}
	if k.Mem == nil {
		k.Mem = memory.New(k.name, dataset.Options{})
	}
	if k.Tally == nil {
		k.Tally = new(Tally)
	}
	k.lines = k.Tally.ids.file(k.name)
	return k
}

// read reads an input in the format of its content. It closes the file, which is nil for standard input.
func (k *intake) read(ctx context.Context, in io.Reader, file *os.File, blocks bool) error {
	text, head, err := k.open(in, file)
	if err != nil {
		return located(errors.Join(err, closed(file)), k.name, 1)
	}
	if len(head) == 0 || head[0] == '{' {
		return k.readLines(ctx, text, blocks)
	}
	defer text.Close() //nolint:errcheck // only read
	t := &table{intake: k}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case bytes.HasPrefix(head, []byte(flat.Magic)):
		o := dataset.Options{Context: ctx, MaxBytes: k.Mem.Limit(), Observe: k.Observe}
		choose := func(names []string) ([]int, error) {
			chosen, err := t.choose(names)
			return chosen, located(err, k.name, 0)
		}
		if k.size > 0 {
			err = flat.Read(k.name, o, choose, t.add)
		} else {
			err = flat.ReadFrom(text, k.name, o, choose, t.add)
		}
		if err == nil {
			err = t.end()
		}
		return err
	case bytes.ContainsRune(line, '\t'):
		return t.readDelimited(ctx, text, '\t')
	case bytes.ContainsRune(line, ','):
		return t.readDelimited(ctx, text, ',')
	}
	return located(bad(suggest.Quote(line), "pages: JSON lines, a CSV or TSV table or Parquet"), k.name, 1)
}

// closed closes a file that was only read.
func closed(file *os.File) error {
	if file == nil {
		return nil
	}
	return file.Close()
}

// source is a text with the file that it comes from.
type source struct {
	io.Reader

	close []io.Closer
}

func (s *source) Close() (err error) {
	for _, c := range s.close {
		err = errors.Join(err, c.Close())
	}
	return err
}

// open returns the text of an input, and its beginning without white space.
func (k *intake) open(in io.Reader, file *os.File) (text *source, head []byte, err error) {
	s := new(source)
	if file != nil {
		s.close = append(s.close, file)
	}
	if k.Observe != nil {
		in = &observed{Reader: in, size: k.size, observe: k.Observe}
	}
	raw := bufio.NewReaderSize(in, 1<<16)
	first, err := raw.Peek(compress.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	s.Reader = raw
	if kind := compress.Detect(first, k.name); kind != compress.Plain {
		z, err := compress.Reader(raw, kind, k.Mem.Limit())
		if err != nil {
			return nil, nil, err
		}
		s.close = append([]io.Closer{z}, s.close...)
		raw = bufio.NewReaderSize(z, 1<<16)
		s.Reader = raw
	}
	const headSize = 1 << 12
	head, err = raw.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return s, bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))), nil
}

// observed tells the number of bytes that were read.
type observed struct {
	io.Reader

	done, size int64
	observe    func(done, total int64)
}

func (o *observed) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	o.done += int64(n)
	o.observe(o.done, o.size)
	return n, err
}

// readLines reads JSON lines.
func (k *intake) readLines(ctx context.Context, text io.ReadCloser, blocks bool) error {
	return eachChunk(ctx, text, blocks, k.Mem, (*chunk).parseLines, func(c *chunk) error {
		k.ignored(c.unknown)
		for i := range c.pages {
			if err := k.page(&c.pages[i]); err != nil {
				return err
			}
		}
		if c.incomplete {
			k.Tally.Incomplete++
		}
		if c.fault != nil {
			return located(c.fault, k.name, c.faultLine)
		}
		if c.err != nil {
			return located(c.err, k.name, c.line+bytes.Count(c.text, []byte("\n")))
		}
		return nil
	})
}

// ignored notes names of members that are not known.
func (k *intake) ignored(names []string) {
	for _, name := range names {
		if len(k.Tally.Unknown) < mostUnknown && !slices.Contains(k.Tally.Unknown, name) {
			k.Tally.Unknown = append(k.Tally.Unknown, name)
		}
	}
}

// page passes a page on, unless it is to be left out.
func (k *intake) page(p *Page) error {
	if p.ID != "" {
		first, known, err := k.Tally.ids.add(p.ID, k.lines, p.Line, k.Mem)
		switch {
		case err != nil:
			return err
		case known && k.KeepFirst:
			k.Tally.Repeated++
			return nil
		case known:
			return located(bad("page "+suggest.Quote([]byte(p.ID))+", which is also in "+first, "each page once"), k.name, p.Line)
		}
	}
	if p.ID == "" && !p.Time.IsZero() {
		known, err := k.Tally.ids.addContent(p, k.lines, k.Mem)
		if err != nil {
			return err
		}
		if known {
			k.Tally.Copies++
		}
	}
	if !k.Since.IsZero() || !k.Until.IsZero() {
		if p.Time.IsZero() {
			return located(bad("a page without a time", "a time, to choose pages by time"), k.name, p.Line)
		}
		if p.Time.Before(k.Since) || !k.Until.IsZero() && !p.Time.Before(k.Until) {
			k.Tally.Outside++
			return nil
		}
	}
	if k.Drop != nil && p.User != "" && k.Drop(p.User) {
		k.Tally.Dropped++
		return nil
	}
	if p.Weight == 0 {
		k.weightless++
		k.Tally.Weightless++
		return nil
	}
	if err := k.Tally.Watch(p, k.Mem); err != nil {
		return err
	}
	k.pages++
	if err := k.use(p); err != nil {
		return located(err, k.name, p.Line)
	}
	return nil
}
