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

// A stream may take 1/heldShare of the memory limit if it can be copied to a file instead. Text usually takes
// at least twice the memory of its features.
const heldShare = 4

// Stream copies a stream to memory and calls use. With opts.Stream, it copies a long stream to a temporary
// file instead. look is the same as for Hold.
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

// Spool copies a stream to memory and calls use. It copies a stream of more than most bytes to a temporary
// file in folder instead. If folder is "", it uses the system's folder. look is the same as for Hold.
func Spool(r io.Reader, name string, opts dataset.Options, look Look, most int64, folder string, use func(in *Input) error) error {
	in, more, err := hold(r, name, opts, look, most, memory.Unlimited()) // most already limits the memory
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

// spooled copies first, the beginning of a stream, and rest, its other bytes, to a temporary file.
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
		_ = t.Close() // err is reported instead
		return nil, err
	}
	return &Input{R: t.File(), Size: n, Name: first.Name, Mem: memory.New(first.Name, opts), temporary: t}, nil
}

// held is a sequence of bytes in memory, in blocks of heldBlock bytes. The last block may be shorter.
// Appending copies no block.
type held struct {
	blocks [][]byte
	size   int64
}

const heldBlock = 1 << 18

// readAll reads r to its end, or until it has most bytes or more. The result more reports whether it stopped
// before the end. look, if not nil, checks the first block, and its error stops the reading.
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

// readBlock reads heldBlock bytes, or fewer with an error. The first block grows as needed, since it is often
// the only one.
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
