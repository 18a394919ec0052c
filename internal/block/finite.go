package block

import (
	"encoding/binary"
	"math"
)

// A float32 is infinite or NaN if and only if all bits of its exponent are set. Then, and only
// then, adding the lowest exponent bit to the exponent carries into the sign bit. A word tests two
// float32s at once.
const (
	exponents  = 0x7f8000007f800000
	lowestBits = 0x0080000000800000
	carries    = 0x8000000080000000
)

// AllFinite reports whether all float32s in b are finite. len(b) is a multiple of 4.
func AllFinite(b []byte) bool {
	words := Words(b)
	var carry uint64
	for len(words) >= 8 {
		w := (*[8]uint64)(words)
		words = words[8:]
		carry |= w[0]&exponents + lowestBits
		carry |= w[1]&exponents + lowestBits
		carry |= w[2]&exponents + lowestBits
		carry |= w[3]&exponents + lowestBits
		carry |= w[4]&exponents + lowestBits
		carry |= w[5]&exponents + lowestBits
		carry |= w[6]&exponents + lowestBits
		carry |= w[7]&exponents + lowestBits
	}
	return carry&carries == 0 && FirstNotFinite(b[len(b)-len(b)%64:]) < 0
}

// FirstNotFinite returns the index of the first float32 in b that is not finite, or -1 if all are
// finite.
func FirstNotFinite(b []byte) int {
	for i := 0; i+4 <= len(b); i += 4 {
		if binary.LittleEndian.Uint32(b[i:])&(exponents&math.MaxUint32) == exponents&math.MaxUint32 {
			return i / 4
		}
	}
	return -1
}
