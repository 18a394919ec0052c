package kernel

// Kept marks elements of a row-major matrix: some elements count, and the other elements are set to
// a fixed value. The zero value is for an empty matrix. Kept is immutable and may be used
// concurrently.
type Kept struct {
	elements, width int
	without         []int32
	bits            []uint8 // one bit per element; a byte has eight columns, the first in the lowest bit; each row starts a new byte
}

// NewKept returns a Kept that counts every element of a rows × width matrix except those listed in
// without. Elements are numbered row by row. NewKept does not copy the slice without, which the
// caller must not change.
func NewKept(rows, width int, without []int32) Kept {
	each := (width + 7) / 8 // bytes per row
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

// ExpWalks computes exponentials of running sums. It computes the sums as [Pairs.PrefixDiff] does,
// from their first row, which the caller has stored in the first row of e. Then it sets
//
//	e[i] = exp(sum[i] + b·y[i])
//
// and sets the elements that kept does not count to 0. The results have the same bits as after
// PrefixDiff and [ExpPlus]. One pass is faster than two, since loads bound PrefixDiff and
// arithmetic bounds ExpPlus. e, y and kept have one row more than the pairs fill.
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
