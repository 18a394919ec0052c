package kernel

import "math"

// AscendingKey maps numbers, none of them NaN, to integers in the same order, −0 and 0 to the
// same.
func AscendingKey(v float32) uint32 {
	b := math.Float32bits(v)
	key := b ^ (uint32(int32(b)>>31) | 1<<31) // without branches, as signs may be anything
	if key == 1<<31-1 {
		key++ // −0
	}
	return key
}

// OfAscendingKey is the inverse of AscendingKey.
func OfAscendingKey(key uint32) float32 {
	if key>>31 == 1 {
		return math.Float32frombits(key &^ (1 << 31))
	}
	return math.Float32frombits(^key)
}
