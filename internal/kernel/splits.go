package kernel

// A word of sums holds two of them: in the upper half one with a sign, G, in the lower half
// one without, H. Words are added as they are.

// DivisionBound returns the largest strength of a division of documents with sums by code into
// those up to a code and those beyond,
//
//	G²/(H + l2) of one side + G²/(H + l2) of the other,
//
// in float32 and therefore to a relative error of 2⁻¹⁹ of the exact value or above it: H + l2
// counts as 2⁻²⁰ at least. Divisions of which a side has an H below least do not count; 0 is
// returned if there is no other. left is on the lower side from the start, total is the sum of
// all documents. l2 is 0 or from 2⁻²⁰ to 2⁴⁰, least is not negative; the number of codes is a
// multiple of 8.
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
			continue // as the division before
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

// ofUint32 rounds twice above 2³¹, as the vectors do.
func ofUint32(x uint32) float32 {
	f := float32(int32(x))
	if int32(x) < 0 {
		f += 0x1p32
	}
	return f
}

// Subtract subtracts x from dst, word by word; their length is a multiple of 8.
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
