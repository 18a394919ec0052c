package datafile

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/atomicfile"
)

// Conversion describes files that are written as one.
type Conversion struct {
	Inputs []string      // files, "-" for Stdin
	Stdin  io.Reader     // what "-" stands for among the inputs
	Made   stream.Source // instead of Inputs, if not nil: what is made, or read from other files than data
	Name   string        // of Made in errors; "" for data that are made
	Out    string        // the file to write, "-" for Stdout
	Stdout io.Writer
	As     string // a name whose end tells the format of what goes to Stdout; "" for LETOR text

	// Options say how the inputs are read. Observe is not called. MaxBytes bounds the memory for queries and
	// long lines; for formats that cannot be streamed, it bounds all memory.
	Options dataset.Options

	// Refuse makes a query with scattered documents an error; otherwise they are put together, with a warning.
	Refuse bool

	Text TextOptions // of text that is written; Observe is called for every format

	// Reading, unless nil, is called before an input is surveyed. It returns a function to call with the bytes
	// read so far and the total, and one to call at the end.
	Reading func(name string) (observe func(done, total int64), end func())

	// Fault, unless nil, maps errors of opening and surveying an input to errors to report.
	Fault func(path string, err error) error

	some   bool                           // an input may have none of the queries that Options.Keep asks for
	within func(s *stream.Surveyed) error // of one shard, unless nil: arranges it as it is among all
	chunk  int64                          // bytes of text parsed at a time, the usual number if 0
}

// Converted describes the file that was written.
type Converted struct {
	Queries, Documents, Features int
	Warnings                     []string // of the readers, as [dataset.Dataset] has them
}

// Convert writes files of any format as one, in the format that [Write] would write, without holding their
// features in memory. It surveys all inputs, which gives every document its place. Then it copies the documents
// there. A stream is first written to a temporary file beside the output. So are documents that are written as
// text in another order than the input's. The result is that of [Open], [dataset.Concat] and [Write], byte by
// byte.
func Convert(c Conversion) (*Converted, error) {
	var done *Converted
	if err := c.expand(); err != nil {
		return nil, err
	}
	write := func(files []*stream.Surveyed) error {
		if c.within != nil {
			if err := c.within(files[0]); err != nil {
				return err
			}
		}
		p, err := stream.Join(input.Context(c.Options), files, c.Options.Missing)
		if err != nil {
			return &JoinError{err}
		}
		if c.some && c.Options.Keep != nil {
			if err := dataset.CheckKept(len(p.IDs), 0, p.QueryWeights); err != nil {
				return err
			}
		}
		if err := c.write(p); err != nil {
			return err
		}
		done = &Converted{len(p.IDs), p.Docs, p.Features, p.Warnings()}
		return nil
	}
	if c.Made == nil {
		err := c.survey(c.Inputs, nil, write)
		return done, err
	}
	name := cmp.Or(c.Name, "the data to make")
	made, err := stream.Survey(stream.File{Source: c.Made, Name: name, Mem: memory.New(name, c.Options)}, c.Refuse)
	if err == nil {
		err = write([]*stream.Surveyed{made})
	}
	return done, err
}

// expand puts the shards of inputs in their place.
func (c *Conversion) expand() error {
	var all []string
	for _, path := range c.Inputs {
		files, err := Files(input.Context(c.Options), path)
		if err != nil {
			return err
		}
		c.some = c.some || len(files) > 1
		all = append(all, files...)
	}
	c.Inputs = all
	return nil
}

// JoinError says why files do not make one data set.
type JoinError struct{ err error }

// Error implements error.
func (e *JoinError) Error() string { return "the files in the order given: " + e.err.Error() }

// Unwrap returns the cause.
func (e *JoinError) Unwrap() error { return e.err }

// survey surveys files, which stay open while use runs.
func (c *Conversion) survey(paths []string, files []*stream.Surveyed, use func([]*stream.Surveyed) error) error {
	if len(paths) == 0 {
		return use(files)
	}
	path, mine := paths[0], true // the error
	err := c.open(path, func(in *input.Input, opts dataset.Options, end func()) (err error) {
		defer end()
		src, err := c.source(in, opts)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, src.Close()) }()
		s, err := stream.Survey(stream.File{Source: src, Name: in.Name, Mem: in.Mem}, c.Refuse)
		if err != nil {
			return err
		}
		end()
		mine = false
		return c.survey(paths[1:], append(files, s), use)
	})
	if err != nil && mine && c.Fault != nil {
		return c.Fault(path, err)
	}
	return err
}

// source opens an input of any format.
func (c *Conversion) source(in *input.Input, opts dataset.Options) (stream.Source, error) {
	f, err := recognise(in, opts)
	if err != nil {
		return nil, err
	}
	if f.stream != nil {
		src, err := f.stream(in, opts)
		if err == nil && opts.Keep != nil {
			src = c.kept(src, opts.Keep)
		}
		return src, err
	}
	d, err := f.readKept(in, opts)
	if err != nil {
		return nil, err
	}
	if c.Refuse && d.InputRows() != nil {
		return nil, &dataset.SyntaxError{File: in.Name, Found: "a query whose documents stand in several places", Expected: "the documents of a query together"}
	}
	return stream.Of(d), nil
}

// kept returns a source of the queries in the sample.
func (c *Conversion) kept(src stream.Source, keep func(id string) bool) stream.Source {
	if c.some {
		return stream.KeptSome(src, keep)
	}
	return stream.Kept(src, keep)
}

// open opens an input for use, so that it can be read again. Calling end ends the display of progress.
func (c *Conversion) open(path string, use func(in *input.Input, opts dataset.Options, end func()) error) error {
	name, opts, end := path, c.Options, func() {}
	if path == "-" {
		name = "standard input"
	}
	if c.Reading != nil {
		opts.Observe, end = c.Reading(name)
	}
	defer func() { end() }()
	used := func(in *input.Input) error {
		in.Chunk = c.chunk
		return use(in, opts, end)
	}
	if path == "-" {
		return c.spool(c.Stdin, name, opts, used)
	}
	f, err := input.Await(input.Context(opts), func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return c.spool(f, name, opts, used)
	}
	return withFile(path, opts, nil, used)
}

// firstBytes is the length of the beginning of a stream that is checked before the rest is read. A shorter
// stream stays in memory.
const firstBytes = 1 << 18

// spool opens a stream for use, and holds only its beginning in memory.
func (c *Conversion) spool(r io.Reader, name string, opts dataset.Options, use func(in *input.Input) error) error {
	return input.Spool(r, name, opts, beginning(opts), firstBytes, c.folder(), use)
}

// folder returns the folder for temporary files: the output's, which has room for them.
func (c *Conversion) folder() string {
	if c.Out == "-" {
		return os.TempDir()
	}
	path, err := atomicfile.Target(c.Out)
	if info, e := os.Stat(path); err != nil || e == nil && !info.Mode().IsRegular() {
		return os.TempDir()
	}
	return filepath.Dir(path)
}

// write writes what was planned.
func (c *Conversion) write(p *stream.Plan) error {
	if p.Features == 0 {
		return noFeatures(c.Out)
	}
	if IsCache(c.Out) {
		return cache.WriteStream(c.Out, p, c.Text.Observe)
	}
	if p.Scattered || p.Missing() == dataset.MissingMin {
		return c.writeOrdered(p)
	}
	return c.writeText(p)
}

// writeOrdered writes text through a temporary cache. It is for documents that are not visited in the order of
// the output, and for values that depend on the other documents of the query.
func (c *Conversion) writeOrdered(p *stream.Plan) error {
	return atomicfile.Scratch(c.folder(), func(f *os.File) error {
		if err := cache.BuildStream(f, p, nil); err != nil {
			return err
		}
		opts := c.Options
		opts.Missing = dataset.MissingKeep
		return input.With(f.Name(), opts, nil, func(in *input.Input) (err error) {
			src, err := cache.Stream(in, opts)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, src.Close()) }()
			s, err := stream.Survey(stream.File{Source: src, Name: c.Out, Mem: in.Mem}, false)
			if err != nil {
				return err
			}
			ordered, err := stream.Join(input.Context(c.Options), []*stream.Surveyed{s}, opts.Missing)
			if err != nil {
				return err
			}
			return c.writeText(ordered)
		})
	})
}

// writeText writes text, documents in the order in which they are visited.
func (c *Conversion) writeText(p *stream.Plan) error {
	c.Text.MaxBytes = dataset.MemoryLimit(c.Options.MaxBytes)
	text := func(w io.Writer) error {
		name := c.Out
		if name == "-" {
			name = c.As
		}
		t, err := newWriter(w, name, p.Contents(), c.Text)
		if err != nil {
			return err
		}
		return p.Write(t, c.Text.Observe)
	}
	if c.Out == "-" {
		return through(c.Stdout, text)
	}
	return atomicfile.Write(c.Out, func(w io.Writer) error {
		return compressed(w, c.Out, text)
	})
}

// through writes through a buffer.
func through(w io.Writer, fn func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := fn(b); err != nil {
		return err
	}
	return b.Flush()
}
