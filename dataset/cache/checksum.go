package cache

import "hash/crc32"

// A CRC is linear over GF(2): of bytes a followed by bytes b it is
//
//	crc(ab) = crc(a)·x^(8·len(b)) + crc(b)    modulo the polynomial,
//
// where adding is exclusive or, and the ones that a CRC begins and ends with cancel out. So the
// checksum of a piece is the sum over its parts, in any order, each times a power of x that tells
// how many bytes of the piece follow it. Polynomials are reflected as in hash/crc32: the highest bit
// is the coefficient of x⁰.

// one is the polynomial 1.
const one = uint32(1) << 31

// shifted returns a checksum times x^(8·bytes).
func shifted(sum uint32, bytes int) uint32 {
	power := sum
	for k := 0; bytes > 0; k, bytes = k+1, bytes>>1 {
		if bytes&1 == 1 {
			power = product(power, bytePowers[k])
		}
	}
	return power
}

// bytePowers are x^(8·2^k).
var bytePowers = func() (powers [32]uint32) {
	p := one >> 8 // x⁸
	for k := range powers {
		powers[k] = p
		p = product(p, p)
	}
	return powers
}()

// product returns a·b modulo Castagnoli's polynomial.
func product(a, b uint32) uint32 {
	var sum uint32
	for ; a != 0; a <<= 1 {
		if a&one != 0 {
			sum ^= b
		}
		carry := b & 1
		b >>= 1
		if carry != 0 {
			b ^= crc32.Castagnoli
		}
	}
	return sum
}
