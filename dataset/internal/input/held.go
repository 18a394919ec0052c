package input

import (
	"context"
	"errors"
	"github.com/listwise/listwise/dataset/memory"
	"io"
	"slices"
)

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
