package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// input is bytes that can be read at any place: a regular file's, or those of a
// stream that were read into memory.
type input struct {
	r    io.ReaderAt
	size int64
	name string // for errors
	mem  *memory

	// Of a regular file, nil for others:
	file *os.File
	info os.FileInfo // when it was opened
}

// withInput opens a file for use, or reads what is none into memory. "-" is the
// standard input. A file that changes meanwhile is an error.
func withInput(path string, opts Options, use func(in *input) error) error {
	if path == "-" {
		in, err := hold(os.Stdin, "standard input", opts)
		if err != nil {
			return err
		}
		return use(in)
	}
	f, err := await(opts.context(), func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return err
	}
	in := &input{r: f, name: path, mem: opts.memory(path), file: f}
	defer in.close()
	in.info, err = f.Stat()
	switch {
	case err != nil:
		return err
	case in.info.IsDir():
		return &SyntaxError{File: path, Found: "a directory", Expected: "a file"}
	case !in.info.Mode().IsRegular():
		held, err := hold(f, path, opts)
		if err != nil {
			return err
		}
		return use(held)
	}
	in.size = in.info.Size()
	err = use(in)
	if changed := in.changed(); changed != nil {
		return changed // whatever else is wrong
	}
	return err
}

// hold reads a stream to its end. What is wrong with the lines at its beginning is
// told before the rest is read.
func hold(r io.Reader, name string, opts Options) (*input, error) {
	mem := opts.memory(name)
	look := func(first []byte) error {
		if detect(first, name) != plainText {
			return nil
		}
		return firstError(first, name, opts)
	}
	m, err := await(opts.context(), func() (*held, error) { return readAll(opts.context(), r, mem, look) })
	var syntax *SyntaxError
	if err != nil && !errors.As(err, &syntax) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	return &input{r: m, size: m.size, name: name, mem: mem}, nil
}

// close closes the file, unless it was taken from the input.
func (in *input) close() {
	if in.file != nil {
		_ = in.file.Close() // it was only read
	}
}

// changed returns an error if the file is another one than when it was opened.
func (in *input) changed() error {
	if in.file == nil {
		return nil
	}
	if now, err := in.file.Stat(); err != nil || altered(in.info, now) {
		return fmt.Errorf("%s: %w", in.name, ErrChanged)
	}
	return nil
}

// sniff tells the encoding of the input.
func (in *input) sniff() (encoding, error) {
	head := make([]byte, min(in.size, int64(len(cacheMagic))))
	if _, err := in.r.ReadAt(head, 0); err != nil && len(head) > 0 {
		return 0, fmt.Errorf("%s: %w", in.name, err)
	}
	return detect(head, in.name), nil
}

// text returns the text of an input of any encoding but the cache.
func (in *input) text(kind encoding, opts Options) source {
	c := opts.cutting(in.mem)
	r := observed(in.r, in.size, opts.Observe)
	if kind == plainText {
		return &randomSource{r: r, size: in.size, cutting: c}
	}
	reopen := func() (io.ReadCloser, error) {
		return decompress(io.NewSectionReader(r, 0, in.size), kind)
	}
	return &streamSource{open: reopen, cutting: c}
}
