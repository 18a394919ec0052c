package tree

import "slices"

// sortKeys sorts keys, many of them by three passes over eleven bits each: comparing them takes
// a pass a doubling. It returns the keys and spare memory, which may have changed places.
func sortKeys(keys, spare []uint32) (sorted, other []uint32) {
	const bits, digits, few = 11, 1 << 11, 4096
	if len(keys) < few {
		slices.Sort(keys)
		return keys, spare
	}
	spare = slices.Grow(spare[:0], len(keys))[:len(keys)]
	for shift := 0; shift < 32; shift += bits {
		var starts [digits]int
		for _, k := range keys {
			starts[k>>shift%digits]++
		}
		at := 0
		for d, n := range starts {
			starts[d], at = at, at+n
		}
		for _, k := range keys {
			d := k >> shift % digits
			spare[starts[d]] = k
			starts[d]++
		}
		keys, spare = spare, keys
	}
	return keys, spare
}
