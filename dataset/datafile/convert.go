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

// Conversion describes a conversion of files to one file.
type Conversion struct {
	Inputs []string      // files to read, "-" for Stdin
	Stdin  io.Reader     // the input "-"
	Made   stream.Source // if not nil, the input in place of Inputs, such as generated queries
	Name   string        // name of Made in errors; "" for generated data
	Out    string        // file to write, "-" for Stdout
	Stdout io.Writer     // the output "-"
	As     string        // file name whose ending selects the format of Stdout; "" means LETOR text

	// Options are the options with which the inputs are read. Observe is not called. MaxBytes limits the
	// memory for queries and long lines. For formats that cannot be streamed, it limits all memory.
	Options dataset.Options

	// Refuse makes a query with scattered documents an error. Otherwise such documents are put together, with
	// a warning.
	Refuse bool

	Text TextOptions // options for text; Observe is called for every format

	// Reading, if not nil, is called before an input is surveyed. It returns a function to call with the bytes
	// read so far and the total, and a function to call at the end.
	Reading func(name string) (observe func(done, total int64), end func())

	// Fault, if not nil, maps errors of opening and surveying an input to errors to report.
	Fault func(path string, err error) error

	some   bool                           // an input may have none of the queries that Options.Keep selects
	within func(s *stream.Surveyed) error // if not nil, gives a shard the features of its data set
	chunk  int64                          // number of bytes of text parsed at a time; 0 means the default
}

// Converted describes the file that was written.
type Converted struct {
	Queries, Documents, Features int      // numbers of each in the file
	Warnings                     []string // warnings of the readers, see [dataset.Dataset]
}

// Convert converts files of any format to one file. It selects the format as [Write] does. The features need
// not fit in memory. First it surveys all inputs to determine the position of every document in the output.
// Then it copies the documents to their positions.
//
// A stream is first copied to a temporary file next to the output. Documents that are written as text in
// another order than the input's also pass through a temporary file. The output is the same, byte by byte, as
// with [Open], [dataset.Concat] and [Write].
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

// expand replaces sharded inputs by their shards.
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

// survey surveys files and calls use. The files stay open until use returns.
func (c *Conversion) survey(paths []string, files []*stream.Surveyed, use func([]*stream.Surveyed) error) error {
	if len(paths) == 0 {
		return use(files)
	}
	path, mine := paths[0], true // mine reports whether an error is about path
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
		return nil, &dataset.SyntaxError{File: in.Name, Found: "a query with scattered documents", Expected: "the documents of a query together"}
	}
	return stream.Of(d), nil
}

// kept returns a source of the queries that keep selects.
func (c *Conversion) kept(src stream.Source, keep func(id string) bool) stream.Source {
	if c.some {
		return stream.KeptSome(src, keep)
	}
	return stream.Kept(src, keep)
}

// open opens an input for use, which can read it several times. Calling end ends the display of progress.
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

// firstBytes is the length of the beginning of a stream that is checked before the stream is copied. A shorter
// stream stays in memory.
const firstBytes = 1 << 18

// spool opens a stream for use. Only its beginning stays in memory.
func (c *Conversion) spool(r io.Reader, name string, opts dataset.Options, use func(in *input.Input) error) error {
	return input.Spool(r, name, opts, beginning(opts), firstBytes, c.folder(), use)
}

// folder returns the folder for temporary files. It is the output's folder if possible, because that should
// have enough space.
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

// write writes the data set of a plan.
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

// writeOrdered writes text through a temporary cache. It is used if documents are not visited in the order of
// the output, or if values depend on the other documents of the query.
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

// writeText writes text. Documents are in the order in which they are visited.
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

// through calls fn with a buffered writer to w.
func through(w io.Writer, fn func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := fn(b); err != nil {
		return err
	}
	return b.Flush()
}
