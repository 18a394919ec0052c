package kernel

// A word of sums packs two integer sums. The upper half is signed and named G, the lower half is
// unsigned and named H. Words are added without unpacking.

// DivisionBound returns an upper bound of the strength of all divisions of a node's documents.
// sums[c] is the sum over the documents with code c. A division sends the documents with codes up
// to c to the left side and the documents with larger codes to the right side. Its strength is
//
//	G²/(H + l2) of the left side + G²/(H + l2) of the right side.
//
// Divisions with H < least on either side do not count. If none counts, the result is 0. left is
// the sum over the documents that are always on the left side, and total is the sum over all
// documents.
//
// DivisionBound computes in float32. The result falls below the largest exact strength by at most a
// relative error of 2⁻¹⁹. H + l2 counts as 2⁻²⁰ if it is smaller. l2 is 0 or in [2⁻²⁰, 2⁴⁰]. least
// is not negative. len(sums) is a multiple of 8.
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

// ofUint32 converts x as the vector code does. It rounds twice if x is 2³¹ or more.
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
