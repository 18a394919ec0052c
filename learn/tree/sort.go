package tree

import "slices"

// sortKeys sorts keys, by radix sort if there are many. It returns the sorted keys and the spare memory, which may
// have changed places.
func sortKeys(keys, spare []uint32) (sorted, other []uint32) {
	const few = 4096
	if len(keys) < few {
		slices.Sort(keys)
		return keys, spare
	}
	return sortByKey(keys, slices.Grow(spare[:0], len(keys))[:len(keys)], 0)
}

// sortByKey sorts by the 32 bits of the keys from bit shift on, by radix sort in three passes of eleven bits. Keys that
// agree in these bits keep their order. It returns the sorted keys and the spare memory, which have changed places.
func sortByKey[K uint32 | uint64](keys, spare []K, shift int) (sorted, other []K) {
	const bits, digits = 11, 1 << 11
	for end := shift + 32; shift < end; shift += bits {
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
