package input

import (
	"context"
	"errors"
	"io"
	"slices"

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

// held is bytes in memory, in blocks of heldBlock bytes; the last may be shorter. It grows without copying.
type held struct {
	blocks [][]byte
	size   int64
}

const heldBlock = 1 << 18

// readAll reads r to its end, or until it has at least most bytes; more reports whether bytes are left. look, if
// not nil, checks the first block, and its error ends the reading.
func readAll(ctx context.Context, r io.Reader, mem *memory.Account, most int64, look func(first []byte) error) (m *held, more bool, err error) {
	m = new(held)
	for {
		if m.size >= most {
			return m, true, nil
		}
		if err := mem.Take(heldBlock, "bytes of a stream"); err != nil {
			return nil, false, err
		}
		block, err := readBlock(r, len(m.blocks) == 0)
		m.blocks = append(m.blocks, block)
		m.size += int64(len(block))
		if len(m.blocks) == 1 && look != nil {
			if err := look(block); err != nil {
				return nil, false, err
			}
		}
		if errors.Is(err, io.EOF) {
			mem.Give(heldBlock - int64(len(block)))
			return m, false, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// readBlock reads heldBlock bytes, or less with an error. A first block grows
// as needed, since it is often the only one.
func readBlock(r io.Reader, first bool) (block []byte, err error) {
	size := heldBlock
	if first {
		size = 1 << 10
	}
	block = make([]byte, 0, size)
	for len(block) < heldBlock && err == nil {
		if len(block) == cap(block) {
			block = slices.Grow(block, len(block))
		}
		var n int
		n, err = r.Read(block[len(block):min(cap(block), heldBlock)])
		block = block[:len(block)+n]
	}
	return block, err
}

// ReadAt implements io.ReaderAt.
func (m *held) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < m.size {
		k := copy(p[n:], m.blocks[off/heldBlock][off%heldBlock:])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
