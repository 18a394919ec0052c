package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pairs are the loops over pairs of documents. They trust the indices: the caller
// has compared maxIndex with the length. The gather instructions take longer on
// Zen than the loads they stand for, so the loads are plain ones.
func pairs() {
	maxIndex()
	gatherDiff()
	scatterDiff()
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

// indexed is a loop over pairs, unrolled by four.
func indexed(count int, n Register, advance func(elements int), step func(i int)) {
	SUBQ(U8(count), n)
	JL(LabelRef("rest"))
	Label("block")
	for i := range count {
		step(i)
	}
	advance(count)
	SUBQ(U8(count), n)
	JGE(LabelRef("block"))
	Label("rest")
	ADDQ(U8(count), n)
	JZ(LabelRef("done"))
	Label("one")
	step(0)
	advance(1)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("done")
	RET()
}

func gatherDiff() {
	TEXT("gatherDiffAVX2", attrLeaf, "func(dst, s []float64, plus, minus []int32)")
	Doc("gatherDiffAVX2 is gatherDiffGo; the indices are in range.")
	Pragma("noescape")
	dst, n, s := slice("dst"), length("dst"), slice("s")
	plus, minus := slice("plus"), slice("minus")
	p, m := GP64(), GP64()
	advance := func(elements int) {
		ADDQ(U8(8*elements), dst.Base)
		ADDQ(U8(4*elements), plus.Base)
		ADDQ(U8(4*elements), minus.Base)
	}
	indexed(4, n, advance, func(i int) {
		d := XMM()
		MOVL(plus.Offset(4*i), p.As32())
		MOVL(minus.Offset(4*i), m.As32())
		VMOVSD(s.Idx(p, 8), d)
		VSUBSD(s.Idx(m, 8), d, d)
		VMOVSD(d, dst.Offset(8*i))
	})
}

func scatterDiff() {
	TEXT("scatterDiffAVX2", attrLeaf, "func(s, c []float64, plus, minus []int32)")
	Doc("scatterDiffAVX2 is scatterDiffGo; the indices are in range.")
	Pragma("noescape")
	s, c, n := slice("s"), slice("c"), length("c")
	plus, minus := slice("plus"), slice("minus")
	p, m := GP64(), GP64()
	advance := func(elements int) {
		ADDQ(U8(8*elements), c.Base)
		ADDQ(U8(4*elements), plus.Base)
		ADDQ(U8(4*elements), minus.Base)
	}
	indexed(4, n, advance, func(i int) {
		v, a, b := XMM(), XMM(), XMM()
		MOVL(plus.Offset(4*i), p.As32())
		MOVL(minus.Offset(4*i), m.As32())
		VMOVSD(c.Offset(8*i), v)
		VADDSD(s.Idx(p, 8), v, a)
		VMOVSD(a, s.Idx(p, 8))
		VMOVSD(s.Idx(m, 8), b)
		VSUBSD(v, b, b)
		VMOVSD(b, s.Idx(m, 8))
	})
}
