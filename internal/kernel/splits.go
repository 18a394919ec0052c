package kernel

// The functions of this file work on words of 64 bits that contain two sums each. The upper half is
// a signed sum of gradients, G. The lower half is an unsigned sum of second derivatives, H. One
// addition of two words adds both sums.

// DivisionBound returns an upper bound, except for rounding, on the strength of all divisions of a
// tree node's documents by one feature. sums[c] is the sum over the documents whose code is c.
// Division c sends the documents with codes up to c to the left side and the documents with larger
// codes to the right side. Its strength is
//
//	G²/(H + l2) of the left side + G²/(H + l2) of the right side.
//
// DivisionBound ignores divisions with H < least on a side. The result is 0 if it ignores all
// divisions. left is the sum over documents that are on the left side of every division, such as
// documents with a missing value. total is the sum over all documents.
//
// DivisionBound computes in float32. Rounding can make the result smaller than the largest exact
// strength, by a relative error of at most 2⁻¹⁹. A denominator H + l2 below 2⁻²⁰ is replaced by
// 2⁻²⁰. l2 is 0 or in [2⁻²⁰, 2⁴⁰]. least is not negative. len(sums) is a multiple of 8.
func DivisionBound(sums []uint64, left, total uint64, l2, least float32) float32 {
	mustMatch(len(sums)%8, 0)
	if len(sums) == 0 {
		return 0
	}
	return divisionBound(sums, left, total, l2, least)
}

func divisionBoundGo(sums []uint64, left, total uint64, l2, least float32) (best float32) {
	for i, s := range sums {
		if s == 0 && i > 0 {
			continue // the same division as before
		}
		left += s
		right := total - left
		hl, hr := ofUint32(uint32(left)), ofUint32(uint32(right))
		if hl < least || hr < least {
			continue
		}
		hl, hr = max(hl+l2, 0x1p-20), max(hr+l2, 0x1p-20)
		gl, gr := float32(int32(left>>32)), float32(int32(right>>32))
		gl, gr = float32(float32(gl*gl)*hr), float32(float32(gr*gr)*hl)
		best = max(best, (gl+gr)/float32(hl*hr))
	}
	return best
}

// ofUint32 converts x to float32 with the same steps as the assembly. The result is rounded twice
// if x is 2³¹ or more.
func ofUint32(x uint32) float32 {
	f := float32(int32(x))
	if int32(x) < 0 {
		f += 0x1p32
	}
	return f
}

// Subtract subtracts x from dst, word by word. The slices have the same length, a multiple of 8.
func Subtract(dst, x []uint64) {
	mustMatch(len(x), len(dst))
	mustMatch(len(x)%8, 0)
	if len(x) > 0 {
		subtract(dst, x)
	}
}

func subtractGo(dst, x []uint64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] -= x[i]
	}
}
