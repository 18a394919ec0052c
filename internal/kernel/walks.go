package kernel

// Kept says which elements of a row-major matrix count; the zero value is for no elements. Kept are immutable and may
// be used concurrently.
type Kept struct {
	elements, width int
	without         []int32
	bits            []uint8 // one an element, of eight columns a byte, the first the lowest, and whole bytes a row
}

// NewKept returns that all elements of rows × width count but those given, which are numbered row by row. It keeps the
// slice.
func NewKept(rows, width int, without []int32) Kept {
	each := (width + 7) / 8 // bytes a row
	k := Kept{rows * width, width, without, make([]uint8, rows*each)}
	for i := range k.bits {
		k.bits[i] = uint8(1<<min(width-i%each*8, 8) - 1)
	}
	for _, i := range without {
		row, column := int(i)/width, int(i)%width
		k.bits[row*each+column/8] &^= 1 << (column % 8)
	}
	return k
}

// Drop sets the elements of e that do not count to v.
func (k Kept) Drop(e []float64, v float64) {
	mustMatch(len(e), k.elements)
	for _, i := range k.without {
		e[i] = v
	}
}

// ExpWalks computes exponentials of the running sums of [Pairs.PrefixDiff], from a row-major matrix with
// the given first row. It adds b times further numbers y to the exponents, and sets the exponentials that
// kept excludes to 0:
//
//	e[i] = exp(sum[i] + b·y[i])
//
// The bits are those of PrefixDiff and [ExpPlus]. Together they are faster, since loads bound one and
// arithmetic the other. e has width more elements than there are pairs, y one for each pair, and kept a
// bit for each pair.
func (p *Pairs) ExpWalks(e []float64, a float64, s []float64, b float64, y []float64, kept Kept) {
	width := kept.width
	mustMatch(len(s), p.documents)
	mustMatch(len(e), width+p.count)
	mustMatch(len(y), len(e))
	mustMatch(kept.elements, len(e))
	if n := p.narrow; n != nil && expWalks(e, a, s, n.plus, n.minus, b, y, kept) {
		return
	}
	p.PrefixDiff(e, a, s, width)
	expPlus(e, e, b, y)
	kept.Drop(e, 0)
}
