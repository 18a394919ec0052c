package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// scanRows writes a function that computes running sums down the columns of a matrix. It keeps the
// sums of a block of columns in registers, so an element takes one load, one addition and one
// store. With a negative stride, the function starts at the last row and computes running sums up
// the columns.
func scanRows() {
	TEXT("scanRowsAVX2", attrLeaf, "func(first *float64, stride, rows, width int)")
	Doc("scanRowsAVX2 adds to each row the row before it. The first row is at first, and each row begins stride",
		"bytes after the row before. There are rows rows, at least one, of width columns.")
	Pragma("noescape")
	first := Mem{Base: Load(Param("first"), GP64())}
	stride, rows, width := Load(Param("stride"), GP64()), Load(Param("rows"), GP64()), Load(Param("width"), GP64())
	scan := func(label string, load, add, store func(m Mem)) {
		m, left := Mem{Base: GP64()}, GP64()
		MOVQ(first.Base, m.Base)
		MOVQ(rows, left)
		load(m)
		DECQ(left)
		JZ(LabelRef(label + "_end"))
		Label(label + "_row")
		ADDQ(stride, m.Base)
		add(m)
		store(m)
		DECQ(left)
		JNZ(LabelRef(label + "_row"))
		Label(label + "_end")
	}
	block := func(vectors int, label string) {
		acc := registers(vectors)
		scan(label,
			func(m Mem) { each(acc, func(i int) { VMOVUPD(m.Offset(32*i), acc[i]) }) },
			func(m Mem) { each(acc, func(i int) { VADDPD(m.Offset(32*i), acc[i], acc[i]) }) },
			func(m Mem) { each(acc, func(i int) { VMOVUPD(acc[i], m.Offset(32*i)) }) })
		ADDQ(U32(32*vectors), first.Base)
		SUBQ(U8(4*vectors), width)
	}

	Label("wide")
	CMPQ(width, U8(32))
	JL(LabelRef("narrow"))
	block(8, "eight")
	JMP(LabelRef("wide"))
	Label("narrow")
	for v := 7; v > 0; v-- {
		next := fmt.Sprintf("under%d", v)
		CMPQ(width, U8(4*v))
		JL(LabelRef(next))
		block(v, fmt.Sprintf("vectors%d", v))
		JMP(LabelRef("tail"))
		Label(next)
	}

	Label("tail")
	CMPQ(width, U8(2))
	JL(LabelRef("one"))
	x := XMM()
	scan("two",
		func(m Mem) { VMOVUPD(m, x) },
		func(m Mem) { VADDPD(m, x, x) },
		func(m Mem) { VMOVUPD(x, m) })
	ADDQ(U8(16), first.Base)
	SUBQ(U8(2), width)
	Label("one")
	TESTQ(width, width)
	JZ(LabelRef("done"))
	scan("one",
		func(m Mem) { VMOVSD(m, x) },
		func(m Mem) { VADDSD(m, x, x) },
		func(m Mem) { VMOVSD(x, m) })
	Label("done")
	VZEROUPPER()
	RET()
}
