// Package input opens the inputs of the readers of all formats. An input can be read at any place, counts
// memory, and ends with its context. It must not know any format. Start reading at [Input].
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

// Input is bytes that can be read at any place, of a regular file or of a stream that was read into memory.
type Input struct {
	R    io.ReaderAt
	Size int64
	Name string // for errors
	Mem  *memory.Account

	// How text is cut; tests make both small.
	Line  int   // bytes in the longest line, 0 for the usual number
	Chunk int64 // bytes that are parsed at a time, 0 for the usual number

	// Of a regular file, nil for others:
	file *os.File
	info os.FileInfo // when it was opened

	Parts []*Input // of a folder that is one table; nil for others, which R reads

	temporary *block.Temporary // that the bytes are in, nil for none
}

// Look checks the first bytes of a stream, before the rest is read. Its error ends the reading.
type Look func(first []byte, name string) error

// With opens a file for use; other inputs are read as by Stream. "-" is the standard input. A file that changes
// meanwhile is an error.
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
		return changed // which explains any other error
	}
	return err
}

// Hold reads a stream to its end. look, which may be nil, checks its beginning before the rest is read.
func Hold(r io.Reader, name string, opts dataset.Options, look Look) (*Input, error) {
	in, _, err := hold(r, name, opts, look, math.MaxInt64, memory.New(name, opts))
	return in, err
}

// hold is Hold with a limit of most bytes; more reports whether bytes are left.
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

// Afresh restarts the count of memory, for another way to read the input. Only bytes that the input holds stay
// counted.
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

// close closes the file, unless it was taken from the input.
func (in *Input) close() {
	if in.file != nil {
		_ = in.file.Close() // it was only read
	}
	if in.temporary != nil {
		_ = in.temporary.Close() // nobody reads it
	}
}

// changed returns an error if the file is another one than when it was opened.
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

// Map returns the input mapped into memory, or nil if it is no regular file or the
// system refuses. The file is then taken from the input.
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

// Await returns the result of do, or ctx's error as soon as that is cancelled. do then continues by itself, as a
// read from a silent pipe must.
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

// WithParts is With for a file, or for a folder of parts that form one input.
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
				err = changed // which explains any other error
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

// Whole returns an error if the input is a folder of parts of a format that has none.
func (in *Input) Whole(format string) error {
	if in.Parts == nil {
		return nil
	}
	return &dataset.SyntaxError{File: in.Name, Found: fmt.Sprintf("a folder of parts in the format %s", format), Expected: "parts in the format parquet"}
}
