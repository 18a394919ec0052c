package kernel

import "math"

// AscendingKey maps numbers, none of them NaN, to integers in the same order, −0 and 0 to the
// same.
func AscendingKey(v float32) uint32 {
	if v == 0 {
		v = 0 // drops the sign
	}
	b := math.Float32bits(v)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

// OfAscendingKey is the inverse of AscendingKey.
func OfAscendingKey(key uint32) float32 {
	if key>>31 == 1 {
		return math.Float32frombits(key &^ (1 << 31))
	}
	return math.Float32frombits(^key)
}
