// Package input opens the inputs of the readers of all formats. An input has random access, counts its memory,
// and stops when its context is cancelled. The package must not depend on any format. Start reading at
// [Input].
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/internal/block"
)

// Input is a sequence of bytes with random access. It is a regular file, or a stream that was copied to memory
// or to a temporary file.
type Input struct {
	R    io.ReaderAt
	Size int64
	Name string // for errors
	Mem  *memory.Account

	// Sizes for dividing text into chunks. Tests reduce them.
	Line  int   // largest number of bytes in a line, 0 for the default
	Chunk int64 // number of bytes in a chunk, 0 for the default

	// Set for a regular file:
	file *os.File
	info os.FileInfo // when it was opened

	Parts []*Input // parts of a table in a folder; nil for other inputs, which use R

	temporary *block.Temporary // temporary file with the bytes, or nil
}

// Look checks the first bytes of a stream before the remaining bytes are read. Its error stops the reading.
type Look func(first []byte, name string) error

// With opens a file and calls use. "-" is the standard input. Inputs other than regular files are read as by
// Stream. It is an error if the file changes before use returns.
func With(path string, opts dataset.Options, look Look, use func(in *Input) error) error {
	if path == "-" {
		return Stream(os.Stdin, "standard input", opts, look, use)
	}
	f, err := Await(Context(opts), func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return err
	}
	in := &Input{R: f, Name: path, Mem: memory.New(path, opts), file: f}
	defer in.close()
	in.info, err = f.Stat()
	switch {
	case err != nil:
		return err
	case in.info.IsDir():
		return &dataset.SyntaxError{File: path, Found: "a directory", Expected: "a file"}
	case !in.info.Mode().IsRegular():
		return Stream(f, path, opts, look, use)
	}
	in.Size = in.info.Size()
	err = use(in)
	if changed := in.changed(); changed != nil {
		return changed // the change explains any other error
	}
	return err
}

// Hold copies a stream to memory. look, which may be nil, checks the first bytes before the remaining bytes
// are read.
func Hold(r io.Reader, name string, opts dataset.Options, look Look) (*Input, error) {
	in, _, err := hold(r, name, opts, look, math.MaxInt64, memory.New(name, opts))
	return in, err
}

// hold does the work of Hold, but stops once it has most bytes or more. The result more reports whether it
// stopped before the end.
func hold(r io.Reader, name string, opts dataset.Options, look Look, most int64, mem *memory.Account) (in *Input, more bool, err error) {
	see := func(first []byte) error {
		if look == nil {
			return nil
		}
		return look(first, name)
	}
	m, err := Await(Context(opts), func() (m *held, err error) {
		m, more, err = readAll(Context(opts), r, mem, most, see)
		return m, err
	})
	if err != nil {
		return nil, false, Named(name, err)
	}
	return &Input{R: m, Size: m.size, Name: name, Mem: mem}, more, nil
}

// Afresh resets the count of memory, so that the input can be read in another way. Only the bytes of the input
// itself stay counted.
func (in *Input) Afresh(opts dataset.Options) {
	in.Mem = memory.New(in.Name, opts)
	for _, part := range in.Parts {
		part.Mem = in.Mem
	}
	if m, ok := in.R.(*held); ok {
		in.Mem.Held(m.size)
	}
}

// Named adds the name of an input to an error that lacks it.
func Named(name string, err error) error {
	if _, ok := errors.AsType[*dataset.SyntaxError](err); ok || err == nil {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// close closes the file, unless Map has taken it.
func (in *Input) close() {
	if in.file != nil {
		_ = in.file.Close() // it was only read
	}
	if in.temporary != nil {
		_ = in.temporary.Close() // nobody reads it
	}
}

// changed returns an error if the file was changed or replaced since it was opened.
func (in *Input) changed() error {
	if in.file == nil {
		return nil
	}
	if now, err := in.file.Stat(); err != nil || block.Altered(in.info, now) {
		return fmt.Errorf("%s: %w", in.Name, dataset.ErrChanged)
	}
	return nil
}

// Head returns the first n bytes of the input, or all if it has less.
func (in *Input) Head(n int) ([]byte, error) {
	if in.Parts != nil {
		return in.Parts[0].Head(n)
	}
	head := make([]byte, min(in.Size, int64(n)))
	if _, err := in.R.ReadAt(head, 0); err != nil && len(head) > 0 {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return head, nil
}

// Map returns the input mapped into memory. It returns nil if the input is not a file or the system refuses.
// The mapping then owns the file.
func (in *Input) Map() *block.File {
	if in.temporary != nil {
		f := in.temporary.Map(in.Name)
		if f != nil {
			in.temporary = nil
		}
		return f
	}
	if in.file == nil {
		return nil
	}
	f := block.Map(in.file, in.info, in.Name)
	if f != nil {
		in.file = nil
	}
	return f
}

// Context returns the options' context, or the background context.
func Context(o dataset.Options) context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// Await returns the result of do, or ctx's error as soon as ctx is cancelled. In the latter case do keeps
// running, because a read from a silent pipe cannot be interrupted.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	if ctx.Done() == nil {
		return do()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// WithParts does the work of With. path may also be a folder with the parts of a table.
func WithParts(path string, opts dataset.Options, look Look, use func(in *Input) error) (err error) {
	parts, err := shards.Parts(path)
	if err != nil {
		return err
	}
	if parts == nil {
		return With(path, opts, look, use)
	}
	in := &Input{Name: path, Mem: memory.New(path, opts)}
	defer func() {
		for _, part := range in.Parts {
			if changed := part.changed(); changed != nil {
				err = changed // the change explains any other error
			}
			part.close()
		}
	}()
	for _, name := range parts {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		part := &Input{R: f, Name: name, Mem: in.Mem, file: f}
		in.Parts = append(in.Parts, part)
		if part.info, err = f.Stat(); err != nil {
			return err
		}
		if !part.info.Mode().IsRegular() {
			return &dataset.SyntaxError{File: name, Found: "no regular file", Expected: "a part of a Parquet table"}
		}
		part.Size = part.info.Size()
		in.Size += part.Size
	}
	return use(in)
}

// Whole returns an error if the input is a folder of parts. Formats other than Parquet call it. format is the
// name of the format.
func (in *Input) Whole(format string) error {
	if in.Parts == nil {
		return nil
	}
	return &dataset.SyntaxError{File: in.Name, Found: fmt.Sprintf("a folder of parts in the format %s", format), Expected: "parts in the format parquet"}
}
