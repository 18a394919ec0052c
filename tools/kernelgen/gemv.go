package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gemv processes four rows at a time, so that each element of w is loaded once for four rows. The
// four rows also share the instructions that add their partial sums. The conversion of the matrix
// to float64 is the bottleneck.
func gemv() {
	TEXT("gemvAVX2", attrLeaf, "func(dst []float64, x []float32, w []float64)")
	Doc("gemvAVX2 implements gemvGo. x has len(dst) rows of len(w) columns.")
	Pragma("noescape")
	dst, rows := slice("dst"), length("dst")
	x, w := slice("x"), slice("w")
	n := length("w")
	c := newColumns(n)
	stride := GP64()
	MOVQ(n, stride)
	SHLQ(U8(2), stride)

	SUBQ(U8(4), rows)
	JL(LabelRef("rest"))
	Label("rows4")
	block := []Mem{x, {Base: GP64()}, {Base: GP64()}, {Base: GP64()}}
	for i := range 3 {
		LEAQ(block[i].Idx(stride, 1), block[i+1].Base)
	}
	VMOVUPD(four(c.multiply(block, w, "four")), dst)
	ADDQ(U8(32), dst.Base)
	LEAQ(block[3].Idx(stride, 1), x.Base)
	SUBQ(U8(4), rows)
	JGE(LabelRef("rows4"))

	Label("rest")
	ADDQ(U8(4), rows)
	JZ(LabelRef("done"))
	Label("row1")
	VMOVSD(one(c.multiply([]Mem{x}, w, "one")[0]), dst)
	ADDQ(U8(8), dst.Base)
	ADDQ(stride, x.Base)
	DECQ(rows)
	JNZ(LabelRef("row1"))
	Label("done")
	VZEROUPPER()
	RET()
}

// gemvT keeps a block of columns of grad in registers and passes all rows, so that grad is read and
// written once. Each column is summed in the order of the rows, so the division into blocks does
// not change the result. A block has 32 columns while at least 48 columns, or exactly 32, remain.
// The last block has all remaining columns.
func gemvT() {
	TEXT("gemvTAVX2", attrLeaf, "func(grad []float64, x []float32, lambda []float64, next *float32)")
	Doc("gemvTAVX2 implements gemvTGo. x has len(lambda) rows of len(grad) columns. It prefetches about as",
		"many bytes as x has, from next on. next may be any address.")
	Pragma("noescape")
	g := transposed{
		grad: slice("grad"), x: slice("x"), lambda: slice("lambda"),
		rows: length("lambda"), columns: length("grad"), stride: GP64(),
		next: Mem{Base: Load(Param("next"), GP64())},
	}
	MOVQ(g.columns, g.stride)
	SHLQ(U8(2), g.stride)
	TESTQ(g.rows, g.rows)
	JZ(LabelRef("done"))

	Label("next")
	CMPQ(g.columns, U8(48))
	JGE(LabelRef("wide"))
	CMPQ(g.columns, U8(32))
	JE(LabelRef("wide"))
	for _, over := range []int{40, 32, 24, 16, 8, 0} {
		CMPQ(g.columns, U8(over))
		JG(LabelRef(fmt.Sprintf("over%d", over)))
	}
	Label("done")
	VZEROUPPER()
	RET()

	Label("wide")
	g.block(8)
	JMP(LabelRef("next"))
	for _, full := range []int{8, 4, 0} {
		for _, partial := range []int{2, 4} {
			label := fmt.Sprintf("over%d", 4*(full+partial-2))
			Label(label)
			g.rest(full, partial, label)
			VZEROUPPER()
			RET()
		}
	}
}

type transposed struct {
	grad, x, lambda, next Mem
	rows, columns, stride Register
}

// block processes the next vectors·4 columns.
func (g transposed) block(vectors int) {
	acc := registers(vectors)
	each(acc, func(i int) { VMOVUPD(g.grad.Offset(32*i), acc[i]) })
	left := GP64()
	MOVQ(g.rows, left)
	g.walk().down("wide", left, acc, func(m Mem, _ int, v VecVirtual) { VCVTPS2PD(m, v) })
	each(acc, func(i int) { VMOVUPD(acc[i], g.grad.Offset(32*i)) })
	ADDQ(U32(32*vectors), g.grad.Base)
	ADDQ(U32(16*vectors), g.x.Base)
	SUBQ(U8(4*vectors), g.columns)
}

// rest processes the remaining columns: 4·full columns in full vectors, and 1 to 4·partial more
// columns in partial vectors, where partial is at most 4. In every row except the last, the partial
// vectors may read beyond the end of the row, into the next row. The surplus lanes are never
// stored. In the last row, masks prevent reads beyond the matrix. If a row has fewer than 4·partial
// columns, the vectors would extend beyond the next row, so all rows are read under masks.
func (g transposed) rest(full, partial int, label string) {
	ones := ^uint64(0)
	m64, m32 := Mem{Base: GP64()}, Mem{Base: GP64()}
	LEAQ(table("mask16x64", append(repeat(ones, 16), repeat(0, 16)...)...), m64.Base)
	LEAQ(table("mask16x32", append(repeat(ones, 8), repeat(0, 8)...)...), m32.Base)
	SUBQ(U8(4*full), g.columns)
	NEGQ(g.columns)
	m64 = m64.Offset(16*8).Idx(g.columns, 8)
	m32 = m32.Offset(16*4).Idx(g.columns, 4)

	acc := registers(full + partial)
	each(acc, func(i int) {
		if i < full {
			VMOVUPD(g.grad.Offset(32*i), acc[i])
			return
		}
		mask := YMM()
		VMOVUPD(m64.Offset(32*(i-full)), mask)
		VMASKMOVPD(g.grad.Offset(32*i), mask, acc[i])
	})
	w := g.walk()
	free, last := GP64(), GP64()
	MOVQ(g.rows, last)
	CMPQ(g.stride, U8(16*partial))
	JL(LabelRef(label + "_last"))
	MOVQ(g.rows, free)
	MOVQ(U32(1), last)
	DECQ(free)
	JZ(LabelRef(label + "_last"))
	w.down(label, free, acc, func(m Mem, _ int, v VecVirtual) { VCVTPS2PD(m, v) })
	Label(label + "_last")
	w.down(label+"_end", last, acc, func(m Mem, i int, v VecVirtual) {
		if i < full {
			VCVTPS2PD(m, v)
			return
		}
		VMOVUPS(m32.Offset(16*(i-full)), v.AsX())
		VMASKMOVPS(m, v.AsX(), v.AsX())
		VCVTPS2PD(v.AsX(), v)
	})
	each(acc, func(i int) {
		if i < full {
			VMOVUPD(acc[i], g.grad.Offset(32*i))
			return
		}
		mask := YMM()
		VMOVUPD(m64.Offset(32*(i-full)), mask)
		VMASKMOVPD(acc[i], mask, g.grad.Offset(32*i))
	})
}

// walk is the state of a pass over the rows of the matrix.
type walk struct {
	g         transposed
	x, lambda Mem
}

// walk returns the state of a pass that begins at the first row.
func (g transposed) walk() walk {
	w := walk{g, Mem{Base: GP64()}, Mem{Base: GP64()}}
	MOVQ(g.x.Base, w.x.Base)
	MOVQ(g.lambda.Base, w.lambda.Base)
	return w
}

// down processes the next count rows. It adds λ of a row times four columns of the row to each
// accumulator. load converts the four columns of accumulator i to float64. down overwrites count.
func (w walk) down(label string, count Register, acc []VecVirtual, load func(m Mem, i int, v VecVirtual)) {
	Label(label + "_row")
	PREFETCHT1(w.g.next) // two cache lines per row, for at most 128 bytes of a row
	PREFETCHT1(w.g.next.Offset(64))
	SUBQ(I8(-128), w.g.next.Base)
	l := YMM()
	VBROADCASTSD(w.lambda, l)
	each(acc, func(i int) {
		v := YMM()
		load(w.x.Offset(16*i), i, v)
		VFMADD231PD(v, l, acc[i])
	})
	ADDQ(U8(8), w.lambda.Base)
	ADDQ(w.g.stride, w.x.Base)
	DECQ(count)
	JNZ(LabelRef(label + "_row"))
}

func repeat(w uint64, n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = w
	}
	return words
}
