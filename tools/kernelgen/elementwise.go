package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// update is a loop that replaces each element of dst by a function of the element and, if x is set,
// of the same element of x. It processes sixteen elements at a time, then four, then one.
type update struct {
	dst, x Mem
	n      Register
	vector func(x Mem, d VecVirtual)
	scalar func(x Mem, d VecVirtual)
}

func (u update) emit() {
	pass := func(elements, vectors int, label string) {
		CMPQ(u.n, U8(elements))
		JL(LabelRef(label + "_done"))
		Label(label)
		d := registers(vectors)
		each(d, func(i int) { VMOVUPD(u.dst.Offset(32*i), d[i]) })
		each(d, func(i int) { u.vector(u.x.Offset(32*i), d[i]) })
		each(d, func(i int) { VMOVUPD(d[i], u.dst.Offset(32*i)) })
		u.advance(elements)
		CMPQ(u.n, U8(elements))
		JGE(LabelRef(label))
		Label(label + "_done")
	}
	pass(16, 4, "sixteen")
	pass(4, 1, "four")
	TESTQ(u.n, u.n)
	JZ(LabelRef("done"))
	Label("one")
	d := XMM()
	VMOVSD(u.dst, d)
	u.scalar(u.x, d)
	VMOVSD(d, u.dst)
	u.advance(1)
	JNZ(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}

// advance increments the pointers. Its last instruction sets the flags according to the number of
// remaining elements.
func (u update) advance(elements int) {
	ADDQ(U8(8*elements), u.dst.Base)
	if u.x.Base != nil {
		ADDQ(U8(8*elements), u.x.Base)
	}
	SUBQ(U8(elements), u.n)
}

func elementwise() {
	TEXT("axpyAVX2", attrLeaf, "func(a float64, x, y []float64)")
	Doc("axpyAVX2 implements axpyGo. y must be at least as long as x.")
	Pragma("noescape")
	a := broadcast("a")
	update{
		dst: slice("y"), x: slice("x"), n: length("x"),
		vector: func(x Mem, d VecVirtual) { VFMADD231PD(x, a, d) },
		scalar: func(x Mem, d VecVirtual) { VFMADD231SD(x, a.AsX(), d) },
	}.emit()

	TEXT("addAVX2", attrLeaf, "func(dst, x []float64)")
	Doc("addAVX2 implements addGo. x must be at least as long as dst.")
	Pragma("noescape")
	update{
		dst: slice("dst"), x: slice("x"), n: length("dst"),
		vector: func(x Mem, d VecVirtual) { VADDPD(x, d, d) },
		scalar: func(x Mem, d VecVirtual) { VADDSD(x, d, d) },
	}.emit()

	TEXT("scaleAVX2", attrLeaf, "func(a float64, x []float64)")
	Doc("scaleAVX2 implements scaleGo.")
	Pragma("noescape")
	s := broadcast("a")
	update{
		dst: slice("x"), n: length("x"),
		vector: func(_ Mem, d VecVirtual) { VMULPD(s, d, d) },
		scalar: func(_ Mem, d VecVirtual) { VMULSD(s.AsX(), d, d) },
	}.emit()
}
