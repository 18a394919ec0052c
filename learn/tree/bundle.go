package tree

import (
	"slices"

	"github.com/listwise/listwise/internal/parallel"
)

// place says where the codes of a slot are: in a column of their own, or in a column that several slots share. Slots
// share a column if at most one of them has a code other than 0 in each row, as the columns of a one-hot code. They then
// need one histogram instead of one each (exclusive feature bundling: Ke et al., LightGBM, NIPS 2017, section 4). Only
// slots without any conflict are bundled, so the trees are the same as without bundles.
type place struct {
	column int   // byte column%8 of block column/8
	shift  uint8 // code c > 0 of the slot is code shift+c of the column
	most   uint8 // largest code of the slot, or alone
}

// alone is the largest code of a slot that shares its column with no other.
const alone = missingCode

// code returns the code of the slot in a row in which the column has the code c.
func (p place) code(c uint8) uint8 {
	if c -= p.shift; c-1 >= p.most {
		return 0
	}
	return c
}

// shared returns the code of the column for a code of the slot.
func (p place) shared(c uint8) uint8 {
	if c == 0 {
		return 0
	}
	return c + p.shift
}

// bundle is a column that slots may share.
type bundle struct {
	column int
	slots  []int
	codes  int      // largest code of the column
	rows   []uint64 // a bit for each row, which is set if a slot's code is not 0
}

// fits reports whether a slot with the given largest code and rows can join the bundle.
func (b *bundle) fits(most int, rows []uint64) bool {
	if b.codes+most >= missingCode {
		return false
	}
	for i, w := range rows {
		if b.rows[i]&w != 0 {
			return false
		}
	}
	return true
}

// bundle lets exclusive slots share columns if this saves blocks. Each slot joins the first bundle that it fits.
func (m *Matrix) bundle(workers int) {
	places, columns := make([]place, len(m.slots)), 0
	var bundles []bundle
	for slot, f := range m.slots {
		places[slot] = place{columns, 0, alone}
		if m.mostlyZero(slot) {
			most, rows := len(m.bins.cuts[f]), m.marks(slot)
			i := slices.IndexFunc(bundles, func(b bundle) bool { return b.fits(most, rows) })
			if i < 0 {
				i = len(bundles)
				bundles = append(bundles, bundle{column: columns, rows: make([]uint64, len(rows))})
			}
			b := &bundles[i]
			places[slot] = place{b.column, uint8(b.codes), uint8(most)}
			b.slots, b.codes = append(b.slots, slot), b.codes+most
			for w, bits := range rows {
				b.rows[w] |= bits
			}
		}
		if places[slot].column == columns {
			columns++
		}
	}
	for _, b := range bundles {
		if len(b.slots) == 1 {
			places[b.slots[0]].most = alone
		}
	}
	if blocksFor(columns) < m.blocks {
		m.rearrange(places, columns, workers)
	}
}

// mostlyZero reports whether a slot is worth a place in a bundle. It must have neither missing values nor categories, and
// at most half of a sample of its codes may differ from 0.
func (m *Matrix) mostlyZero(slot int) bool {
	f := m.slots[slot]
	if m.has[slot] || m.bins.categories[f] != nil || len(m.bins.cuts[f]) >= missingCode {
		return false
	}
	looked, other := 0, 0
	for r := 0; r < m.rows; r += max(1, m.rows/commonRows) {
		if looked++; m.codeAt(slot, uint32(r)) != 0 {
			other++
		}
	}
	return 2*other <= looked
}

// marks returns a bit for each row, which is set if the slot's code is not 0.
func (m *Matrix) marks(slot int) []uint64 {
	rows := make([]uint64, (m.rows+63)/64)
	for r := range m.rows {
		if m.codeAt(slot, uint32(r)) != 0 {
			rows[r/64] |= 1 << (r % 64)
		}
	}
	return rows
}

// rearrange moves the codes of all slots to the given places. It does so in place, because a second matrix may not fit
// into memory. Each slot has a column of its own before. Its new column has at most its number, and the columns of
// the slots are in ascending order where they first occur.
func (m *Matrix) rearrange(places []place, columns, workers int) {
	blocks := blocksFor(columns)
	parallel.For(chunks(m.rows), workers, func(_, c int) {
		from, to := c*chunk, min(m.rows, (c+1)*chunk)
		row := make([]uint64, blocks)
		for r := from; r < to; r++ {
			clear(row)
			for slot, p := range places {
				row[p.column/blockFeatures] |= uint64(p.shared(m.codeAt(slot, uint32(r)))) << (8 * (p.column % blockFeatures))
			}
			copy(m.words[from*m.blocks+(r-from)*blocks:], row)
		}
		if m.columns == nil {
			return
		}
		next := 0
		for slot, p := range places {
			codes, column := m.columns[slot*m.rows:][from:to], m.columns[p.column*m.rows:][from:to]
			if p.column == next { // the first slot of the column
				next++
				for i, code := range codes {
					column[i] = p.shared(code)
				}
			} else {
				for i, code := range codes {
					column[i] |= p.shared(code)
				}
			}
		}
	})
	for c := 1; c < chunks(m.rows); c++ { // the rows of a chunk are now at its beginning
		from, to := c*chunk, min(m.rows, (c+1)*chunk)
		copy(m.words[from*blocks:to*blocks], m.words[from*m.blocks:])
	}
	m.words = m.words[:m.rows*blocks]
	if m.columns != nil {
		m.columns = m.columns[:m.rows*columns]
	}
	m.places, m.blocks = places, blocks
}

// sumsOf returns the sums over the documents of a leaf by code of a slot. h has the leaf's histograms, and total has the
// sums over all its documents. If the slot shares its column, the result is *memory.
func (m *Matrix) sumsOf(h []histogram, slot int, total sums, memory *[256]sums) *[256]sums {
	p := m.places[slot]
	of := &h[p.column/blockFeatures][p.column%blockFeatures]
	if p.most == alone {
		return of
	}
	*memory = [256]sums{total}
	for c, v := range of[int(p.shift)+1:][:p.most] {
		memory[0] -= v
		memory[1+c] = v
	}
	return memory
}
