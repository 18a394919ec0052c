package boost

import (
	"math"
	"slices"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/kernel"
)

// sorter sorts columns by radix sort. Its memory is 16 bytes per document.
type sorter struct{ keys, spare []uint64 }

// Digits of keys.
const (
	digitBits = 11
	digits    = 1 << digitBits
)

// room allocates the memory for columns of n documents.
func (s *sorter) room(n int) {
	if len(s.keys) != n {
		s.keys, s.spare = block.NewWords(n), block.NewWords(n)
	}
}

// toKeys replaces each value, given by its bits, by an integer key. If cuts is nil, keys are in the order of the
// values. Otherwise the key is the number of cuts below the value. toKeys returns the least and the greatest key.
func toKeys(values []uint32, cuts []float32) (least, greatest uint32) {
	least = math.MaxUint32
	for i, bits := range values {
		v := math.Float32frombits(bits)
		key := kernel.AscendingKey(v)
		if cuts != nil {
			key = uint32(interval(cuts, v))
		}
		values[i] = key
		least, greatest = min(least, key), max(greatest, key)
	}
	return least, greatest
}

// sort sets order to the documents in ascending order of keys, and marks the first document of each run of equal keys.
// keys[d] is the key of document d. Documents with equal keys keep their order. order and keys may be the same slice.
func (s *sorter) sort(order, keys []uint32) {
	s.room(len(keys))
	var counts [3][digits]uint32
	for _, key := range keys {
		counts[0][key%digits]++
		counts[1][key>>digitBits%digits]++
		counts[2][key>>(2*digitBits)]++
	}
	for pass := range counts {
		at := uint32(0)
		for d, n := range counts[pass] {
			counts[pass][d], at = at, at+n
		}
	}
	starts := &counts[0]
	for i, key := range keys {
		d := key % digits
		s.keys[starts[d]] = uint64(key)<<32 | uint64(uint32(i))
		starts[d]++
	}
	starts = &counts[1]
	for _, key := range s.keys {
		d := key >> (32 + digitBits) % digits
		s.spare[starts[d]] = key
		starts[d]++
	}
	s.finish(order, &counts[2])
}

// finish performs the last pass of sort, by the highest digit. Among the keys with the same highest digit, equal keys
// are adjacent in s.spare. So a document is the first of a run if its key differs from the previous key with the same
// highest digit.
func (s *sorter) finish(order []uint32, starts *[digits]uint32) {
	var before [digits]uint64
	for d := range before {
		before[d] = math.MaxUint64 // not a key
	}
	for _, key := range s.spare {
		d := key >> (32 + 2*digitBits) % digits
		doc := uint32(key)
		if (key^before[d])>>32 != 0 {
			doc |= first
		}
		before[d] = key
		order[starts[d]] = doc
		starts[d]++
	}
}

// resort must be called directly after sort. It sorts the same documents by the number of cuts below their values. It
// overwrites keys.
func (s *sorter) resort(order, keys []uint32, cuts []float32) {
	for _, key := range s.spare {
		order[uint32(key)] = uint32(interval(cuts, kernel.OfAscendingKey(uint32(key>>32))))
	}
	copy(keys, order)
	s.sort(order, keys)
}

// putOrder sets order to the documents of sorted keys, and marks the first document of each run.
func putOrder(order []uint32, sorted []uint64) {
	for i, key := range sorted {
		order[i] = uint32(key)
		if i == 0 || key>>32 != sorted[i-1]>>32 {
			order[i] |= first
		}
	}
}

// ascending returns keys sorted by their upper halves. The lower halves must be in ascending order on entry, and equal
// upper halves keep their order. The result is in the memory of keys or of spare.
func ascending(keys, spare []uint64) []uint64 {
	const few = 2 * digits
	if len(keys) < few {
		slices.Sort(keys)
		return keys
	}
	var counts [3][digits]uint32
	for _, key := range keys {
		counts[0][key>>32%digits]++
		counts[1][key>>(32+digitBits)%digits]++
		counts[2][key>>(32+2*digitBits)]++
	}
	other := spare[:len(keys)]
	for pass := range counts {
		starts, at, shift := &counts[pass], uint32(0), 32+pass*digitBits
		if slices.Contains(starts[:], uint32(len(keys))) {
			continue // all have the same digit
		}
		for d, n := range starts {
			starts[d], at = at, at+n
		}
		for _, key := range keys {
			d := key >> shift % digits
			other[starts[d]] = key
			starts[d]++
		}
		keys, other = other, keys
	}
	return keys
}
