package tree

import "github.com/listwise/listwise/internal/parallel"

// columns keep the codes of the slots that the most documents were divided by, a byte a row: the
// trees of a sum divide by the same few features again and again, and the codes of a column
// stand close together where those of the matrix have a row between them. They are not more
// than a sixteenth of the matrix, or one.
type columns struct {
	codes   [][]uint8
	slots   []int
	divided []int // documents divided so far, by slot
}

// nearMatrix is the number of words of a matrix that stays in the processor's cache, so that
// there is no need of columns.
const nearMatrix = 1 << 18

// of returns the codes of a slot by row, or nil if they are to be read from the matrix, for
// dividing so many documents.
func (c *columns) of(m *Matrix, slot, docs, workers int) []uint8 {
	if len(m.words) <= nearMatrix {
		return nil
	}
	if c.divided == nil {
		c.divided = make([]int, len(m.slots))
	}
	c.divided[slot] += docs
	least := 0
	for i, s := range c.slots {
		if s == slot {
			return c.codes[i]
		}
		if c.divided[s] < c.divided[c.slots[least]] {
			least = i
		}
	}
	if 2*docs < m.rows || c.divided[slot] < 2*m.rows {
		return nil // copying would take longer
	}
	if len(c.codes) < max(1, m.blocks/2) {
		least = len(c.codes)
		c.codes, c.slots = append(c.codes, make([]uint8, m.rows)), append(c.slots, slot)
	} else if c.divided[slot] < c.divided[c.slots[least]] {
		return nil
	}
	c.slots[least] = slot
	m.copyColumn(c.codes[least], slot, workers)
	return c.codes[least]
}

// copyColumn copies the codes of a slot.
func (m *Matrix) copyColumn(dst []uint8, slot, workers int) {
	words, shift := m.column(slot)
	chunks := (m.rows + chunk - 1) / chunk
	parallel.For(chunks, workers, func(_, c int) {
		at := c * chunk * m.blocks
		for i := c * chunk; i < min(m.rows, (c+1)*chunk); i++ {
			dst[i] = uint8(words[at] >> shift)
			at += m.blocks
		}
	})
}
