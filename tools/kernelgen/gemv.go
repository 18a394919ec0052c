package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gemv takes two rows at a time, so that every load of w serves both; what bounds
// it is the widening of the matrix, one instruction a cycle.
func gemv() {
	TEXT("gemvAVX2", attrLeaf, "func(dst []float64, x []float32, w []float64)")
	Doc("gemvAVX2 is gemvGo; x has len(dst) rows of len(w).")
	Pragma("noescape")
	dst, rows := slice("dst"), length("dst")
	x, w := slice("x"), slice("w")
	n := length("w")
	c := newColumns(n)
	second := Mem{Base: GP64()}
	stride := GP64()
	MOVQ(n, stride)
	SHLQ(U8(2), stride)

	SUBQ(U8(2), rows)
	JL(LabelRef("last"))
	Label("pair")
	MOVQ(x.Base, second.Base)
	ADDQ(stride, second.Base)
	s := c.multiply([]row{{x, true}, {second, true}}, w, "two")
	VMOVSD(s[0], dst)
	VMOVSD(s[1], dst.Offset(8))
	ADDQ(U8(16), dst.Base)
	MOVQ(second.Base, x.Base)
	ADDQ(stride, x.Base)
	SUBQ(U8(2), rows)
	JGE(LabelRef("pair"))

	Label("last")
	CMPQ(rows, I8(-1))
	JNE(LabelRef("done"))
	s = c.multiply([]row{{x, true}}, w, "one")
	VMOVSD(s[0], dst)
	Label("done")
	VZEROUPPER()
	RET()
}

// gemvT keeps a block of columns of grad in registers and walks down all rows, so
// that grad is read and written once. Each column's sum has the order of the rows
// whatever the blocks are.
func gemvT() {
	TEXT("gemvTAVX2", attrLeaf, "func(grad []float64, x []float32, lambda []float64)")
	Doc("gemvTAVX2 is gemvTGo; x has len(lambda) rows of len(grad).")
	Pragma("noescape")
	g := transposed{
		grad: slice("grad"), x: slice("x"), lambda: slice("lambda"),
		rows: length("lambda"), columns: length("grad"), stride: GP64(),
	}
	MOVQ(g.columns, g.stride)
	SHLQ(U8(2), g.stride)
	TESTQ(g.rows, g.rows)
	JZ(LabelRef("done"))

	g.blocks(8, "wide")
	g.blocks(4, "narrow")
	TESTQ(g.columns, g.columns)
	JZ(LabelRef("done"))
	g.masked()
	Label("done")
	VZEROUPPER()
	RET()
}

type transposed struct {
	grad, x, lambda       Mem
	rows, columns, stride Register
}

// blocks does as many blocks of vectors·4 columns as there are.
func (g transposed) blocks(vectors int, label string) {
	acc := registers(vectors)
	CMPQ(g.columns, U8(4*vectors))
	JL(LabelRef(label + "_none"))
	Label(label)
	each(acc, func(i int) { VMOVUPD(g.grad.Offset(32*i), acc[i]) })
	g.down(label, func(x Mem, l VecVirtual) {
		each(acc, func(i int) {
			v := YMM()
			VCVTPS2PD(x.Offset(16*i), v)
			VFMADD231PD(v, l, acc[i])
		})
	})
	each(acc, func(i int) { VMOVUPD(acc[i], g.grad.Offset(32*i)) })
	ADDQ(U32(32*vectors), g.grad.Base)
	ADDQ(U32(16*vectors), g.x.Base)
	SUBQ(U8(4*vectors), g.columns)
	CMPQ(g.columns, U8(4*vectors))
	JGE(LabelRef(label))
	Label(label + "_none")
}

// masked does the last columns, fewer than 16.
func (g transposed) masked() {
	ones := ^uint64(0)
	m64, m32 := Mem{Base: GP64()}, Mem{Base: GP64()}
	LEAQ(table("mask16x64", append(repeat(ones, 16), repeat(0, 16)...)...), m64.Base)
	LEAQ(table("mask16x32", append(repeat(ones, 8), repeat(0, 8)...)...), m32.Base)
	NEGQ(g.columns)
	mask, mask32, acc := registers(4), registers(4), registers(4)
	each(acc, func(i int) {
		VMOVUPD(m64.Offset(16*8+32*i).Idx(g.columns, 8), mask[i])
		VMOVUPS(m32.Offset(16*4+16*i).Idx(g.columns, 4), mask32[i].AsX())
		VMASKMOVPD(g.grad.Offset(32*i), mask[i], acc[i])
	})
	g.down("masked", func(x Mem, l VecVirtual) {
		each(acc, func(i int) {
			v := YMM()
			VMASKMOVPS(x.Offset(16*i), mask32[i].AsX(), v.AsX())
			VCVTPS2PD(v.AsX(), v)
			VFMADD231PD(v, l, acc[i])
		})
	})
	each(acc, func(i int) { VMASKMOVPD(acc[i], mask[i], g.grad.Offset(32*i)) })
}

// down runs step for every row's address and λ in all lanes.
func (g transposed) down(label string, step func(x Mem, l VecVirtual)) {
	x, lambda, left := Mem{Base: GP64()}, Mem{Base: GP64()}, GP64()
	MOVQ(g.x.Base, x.Base)
	MOVQ(g.lambda.Base, lambda.Base)
	MOVQ(g.rows, left)
	Label(label + "_row")
	l := YMM()
	VBROADCASTSD(lambda, l)
	step(x, l)
	ADDQ(U8(8), lambda.Base)
	ADDQ(g.stride, x.Base)
	DECQ(left)
	JNZ(LabelRef(label + "_row"))
}

func repeat(w uint64, n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = w
	}
	return words
}
