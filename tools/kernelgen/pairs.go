package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pairs writes the loops over pairs of documents. The loops do not check indices, because
// kernel.NewPairs has checked them. The loops load elements one by one, because gather instructions
// take longer on AMD's Zen processors than the loads that they replace.
func pairs() {
	gatherDiff()
	prefixDiff()
	addLists()
}

// fourIndices returns registers with the four indices from m on. It uses one load and shifts
// instead of four loads, because the processor's two loads per cycle bound these loops.
func fourIndices(m Mem) [4]Register {
	var index [4]Register
	all := GP64()
	MOVQ(m, all)
	for k := range 3 {
		i := GP64()
		MOVWLZX(all.As16(), i.As32())
		SHRQ(U8(16), all)
		index[k] = i
	}
	index[3] = all
	return index
}

// fourNumbers returns the elements of s at the four indices from m on, two in each register.
func fourNumbers(s, m Mem) [2]VecVirtual {
	i := fourIndices(m)
	v := [2]VecVirtual{XMM(), XMM()}
	for k := range v {
		VMOVSD(s.Idx(i[2*k], 8), v[k])
		VMOVHPD(s.Idx(i[2*k+1], 8), v[k], v[k])
	}
	return v
}

// differences computes the differences s[plus[i]] − s[minus[i]] for gatherDiff and prefixDiff.
type differences struct {
	s, plus, minus Mem
	at             Register // number of the next pair
}

func newDifferences() differences {
	d := differences{slice("s"), slice("plus"), slice("minus"), GP64()}
	XORQ(d.at, d.at)
	return d
}

// four returns the differences of four consecutive pairs in one register. The first pair is
// at+after.
func (d differences) four(after int) VecVirtual {
	p := fourNumbers(d.s, d.plus.Idx(d.at, 2).Offset(2*after))
	m := fourNumbers(d.s, d.minus.Idx(d.at, 2).Offset(2*after))
	for k := range p {
		VSUBPD(m[k], p[k], p[k])
	}
	v := YMM()
	VINSERTF128(U8(1), p[1], p[0].AsY(), v)
	return v
}

// one returns the difference of the next pair.
func (d differences) one() VecVirtual {
	p, m, v := GP64(), GP64(), XMM()
	MOVWLZX(d.plus.Idx(d.at, 2), p.As32())
	MOVWLZX(d.minus.Idx(d.at, 2), m.As32())
	VMOVSD(d.s.Idx(p, 8), v)
	VSUBSD(d.s.Idx(m, 8), v, v)
	return v
}

// upTo writes a loop that computes the differences of the pairs from at to end, eight, four and one
// at a time. vector writes the code that uses four differences, whose first pair is at+after.
// scalar writes the code that uses the difference of pair at.
func (d differences) upTo(end Register, vector func(v VecVirtual, after int), scalar func(v VecVirtual)) {
	next := GP64()
	pass := func(elements int, label string, emit func()) {
		LEAQ(Mem{Base: d.at}.Offset(elements), next)
		CMPQ(next, end)
		JG(LabelRef(label + "_done"))
		Label(label)
		emit()
		MOVQ(next, d.at)
		ADDQ(U8(elements), next)
		CMPQ(next, end)
		JLE(LabelRef(label))
		Label(label + "_done")
	}
	pass(8, "eight", func() { vector(d.four(0), 0); vector(d.four(4), 4) })
	pass(4, "four", func() { vector(d.four(0), 0) })
	pass(1, "one", func() { scalar(d.one()) })
}

func gatherDiff() {
	TEXT("gatherDiffAVX2", attrLeaf, "func(dst []float64, a float64, s []float64, plus, minus []uint16)")
	Doc("gatherDiffAVX2 implements gatherDiffGo. The indices must be in range.")
	Pragma("noescape")
	dst, n := slice("dst"), length("dst")
	a := broadcast("a")
	d := newDifferences()
	to := dst.Idx(d.at, 8)
	d.upTo(n,
		func(v VecVirtual, after int) { VMULPD(a, v, v); VMOVUPD(v, to.Offset(8*after)) },
		func(v VecVirtual) { VMULSD(a.AsX(), v, v); VMOVSD(v, to) })
	VZEROUPPER()
	RET()
}

// prefixDiff writes the loop of kernel's Pairs.PrefixDiff. It processes e row by row and adds, to
// each element, the element width positions before. Each load from the row before must read exactly
// the vector that an earlier instruction stored, so that the processor forwards the stored data
// without a stall. So a vector does not extend beyond the end of a row. Only if width is a multiple
// of four may the caller pass all rows as one row.
func prefixDiff() {
	TEXT("prefixDiffAVX2", attrLeaf, "func(e []float64, a float64, s []float64, plus, minus []uint16, width, row int)")
	Doc("prefixDiffAVX2 implements prefixDiffGo for at least one pair. The indices must be in range. It processes",
		"row elements at a time. row is a multiple of width, and equal to width unless width is a multiple of four.")
	Pragma("noescape")
	a := broadcast("a")
	d := newDifferences()
	from, next := slice("e"), Mem{Base: GP64()}
	LEAQ(from.Idx(Load(Param("width"), GP64()), 8), next.Base)
	from, next = from.Idx(d.at, 8), next.Idx(d.at, 8)
	row, end := Load(Param("row"), GP64()), GP64()
	XORQ(end, end)

	Label("row")
	ADDQ(row, end)
	d.upTo(end,
		func(v VecVirtual, after int) {
			VFMADD213PD(from.Offset(8*after), a, v)
			VMOVUPD(v, next.Offset(8*after))
		},
		func(v VecVirtual) {
			VFMADD213SD(from, a.AsX(), v)
			VMOVSD(v, next)
		})
	left := length("plus")
	CMPQ(end, left)
	JL(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// addLists writes the loop of kernel's addListsGo. It keeps the eight sums of a group in registers.
func addLists() {
	TEXT("addListsAVX2", attrLeaf, "func(dst, c []float64, at []uint16, steps []int32)")
	Doc("addListsAVX2 implements addListsGo. The indices must be in range, and no group may be empty.")
	Pragma("noescape")
	dst, c, at := slice("dst"), slice("c"), slice("at")
	steps, groups := slice("steps"), length("steps")
	TESTQ(groups, groups)
	JZ(LabelRef("done"))

	Label("group")
	var sums [8]VecVirtual
	for k := range sums {
		sums[k] = XMM()
		VXORPD(sums[k], sums[k], sums[k])
	}
	left := GP32()
	MOVL(steps, left)
	Label("step")
	for k := 0; k < len(sums); k += 4 {
		for j, i := range fourIndices(at.Offset(2 * k)) {
			VADDSD(c.Idx(i, 8), sums[k+j], sums[k+j])
		}
	}
	ADDQ(U8(2*len(sums)), at.Base)
	DECL(left)
	JNZ(LabelRef("step"))
	for k := 0; k < len(sums); k += 2 {
		VUNPCKLPD(sums[k+1], sums[k], sums[k])
		VMOVUPD(sums[k], dst.Offset(8*k))
	}
	ADDQ(U8(8*len(sums)), dst.Base)
	ADDQ(U8(4), steps.Base)
	DECQ(groups)
	JNZ(LabelRef("group"))
	Label("done")
	RET()
}
