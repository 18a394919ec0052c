package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pairs are the loops over pairs of documents. ScatterDiff has none: what bounds it
// is a document's sum on its way through memory from one pair to the next, which
// assembly does not change.
func pairs() {
	maxIndex()
	gatherDiff()
}

func maxIndex() {
	TEXT("maxIndexAVX2", attrLeaf, "func(index []int32) uint32")
	Doc("maxIndexAVX2 is maxIndexGo.")
	Pragma("noescape")
	index, n := slice("index"), length("index")
	acc := zeros(4)
	pass := func(elements int, label string) {
		CMPQ(n, U8(elements))
		JL(LabelRef(label + "_done"))
		Label(label)
		for i := range elements / 8 {
			VPMAXUD(index.Offset(32*i), acc[i], acc[i])
		}
		ADDQ(U32(4*elements), index.Base)
		SUBQ(U8(elements), n)
		CMPQ(n, U8(elements))
		JGE(LabelRef(label))
		Label(label + "_done")
	}
	pass(32, "thirtytwo")
	pass(8, "eight")
	TESTQ(n, n)
	JZ(LabelRef("reduce"))
	Label("one")
	v := XMM()
	VMOVD(index, v)
	VPMAXUD(v.AsY(), acc[3], acc[3])
	ADDQ(U8(4), index.Base)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("reduce")
	VPMAXUD(acc[1], acc[0], acc[0])
	VPMAXUD(acc[3], acc[2], acc[2])
	VPMAXUD(acc[2], acc[0], acc[0])
	m := horizontal(acc[0], func(a, b VecVirtual) { VPMAXUD(b, a, a) })
	odd := XMM()
	VPSHUFD(U8(1), m, odd)
	VPMAXUD(odd, m, m)
	r := GP32()
	VMOVD(m, r)
	Store(r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// gatherDiff trusts the indices: the caller has compared maxIndex with the length.
// The gather instructions take longer on Zen than the loads they stand for, so the
// loads are plain ones, of two indices and one score at a time.
func gatherDiff() {
	TEXT("gatherDiffAVX2", attrLeaf, "func(dst, s []float64, plus, minus []int32)")
	Doc("gatherDiffAVX2 is gatherDiffGo; the indices are in range.")
	Pragma("noescape")
	dst, n, s := slice("dst"), length("dst"), slice("s")
	plus, minus := slice("plus"), slice("minus")
	twoScores := func(index Mem) VecVirtual {
		i, j, v := GP64(), GP64(), XMM()
		MOVQ(index, j)
		MOVL(j.As32(), i.As32())
		SHRQ(U8(32), j)
		VMOVSD(s.Idx(i, 8), v)
		VMOVHPD(s.Idx(j, 8), v, v)
		return v
	}

	SUBQ(U8(4), n)
	JL(LabelRef("rest"))
	Label("four")
	for i := range 2 {
		p, m := twoScores(plus.Offset(8*i)), twoScores(minus.Offset(8*i))
		VSUBPD(m, p, p)
		VMOVUPD(p, dst.Offset(16*i))
	}
	ADDQ(U8(32), dst.Base)
	ADDQ(U8(16), plus.Base)
	ADDQ(U8(16), minus.Base)
	SUBQ(U8(4), n)
	JGE(LabelRef("four"))
	Label("rest")
	ADDQ(U8(4), n)
	JZ(LabelRef("done"))
	Label("one")
	p, m, d := GP64(), GP64(), XMM()
	MOVL(plus, p.As32())
	MOVL(minus, m.As32())
	VMOVSD(s.Idx(p, 8), d)
	VSUBSD(s.Idx(m, 8), d, d)
	VMOVSD(d, dst)
	ADDQ(U8(8), dst.Base)
	ADDQ(U8(4), plus.Base)
	ADDQ(U8(4), minus.Base)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("done")
	RET()
}
