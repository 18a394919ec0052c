package kernel

import "math"

// AscendingKey returns an integer for v, such that integers are in the order of the numbers. −0 and
// 0 get the same integer. v must not be NaN.
func AscendingKey(v float32) uint32 {
	b := math.Float32bits(v)
	key := b ^ (uint32(int32(b)>>31) | 1<<31) // without a branch, because signs are unpredictable
	if key == 1<<31-1 {
		key++ // −0
	}
	return key
}

// OfAscendingKey is the inverse of [AscendingKey].
func OfAscendingKey(key uint32) float32 {
	if key>>31 == 1 {
		return math.Float32frombits(key &^ (1 << 31))
	}
	return math.Float32frombits(^key)
}
