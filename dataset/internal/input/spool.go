package input

import (
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
)

// heldShare is the inverse share of the memory that the bytes of a stream may take if they can be put in a file.
// Text usually takes at least twice the memory of its features.
const heldShare = 4

// Stream reads a stream to its end for use, and holds it in memory. With Options.Stream a long one is put in a
// temporary file instead. look is as for Hold.
func Stream(r io.Reader, name string, opts dataset.Options, look Look, use func(in *Input) error) error {
	if opts.Stream {
		return Spool(r, name, opts, look, dataset.MemoryLimit(opts.MaxBytes)/heldShare, "", use)
	}
	in, err := Hold(r, name, opts, look)
	if err != nil {
		return err
	}
	return use(in)
}

// Spool reads a stream to its end for use. A stream of more than most bytes is put in a temporary file in
// folder, or in the system's folder if that is "". look is as for Hold.
func Spool(r io.Reader, name string, opts dataset.Options, look Look, most int64, folder string, use func(in *Input) error) error {
	in, more, err := hold(r, name, opts, look, most, memory.Unlimited()) // most is the limit
	if err != nil {
		return err
	}
	in.Afresh(opts)
	if more {
		if in, err = spooled(in, r, opts, folder); err != nil {
			return Named(name, err)
		}
		defer in.close()
	}
	return use(in)
}

// spooled copies the beginning of a stream and the rest to a temporary file.
func spooled(first *Input, rest io.Reader, opts dataset.Options, folder string) (*Input, error) {
	t, err := block.NewTemporary(folder, first.Size)
	if err != nil {
		return nil, err
	}
	n, err := Await(Context(opts), func() (int64, error) {
		begun := io.NewSectionReader(first.R, 0, first.Size)
		return io.Copy(t.File(), io.MultiReader(begun, rest))
	})
	if err != nil {
		_ = t.Close() // the error is told
		return nil, err
	}
	return &Input{R: t.File(), Size: n, Name: first.Name, Mem: memory.New(first.Name, opts), temporary: t}, nil
}
