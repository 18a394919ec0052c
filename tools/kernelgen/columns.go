package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// rowsAhead is the prefetch distance in rows. While the loop copies row i, memory delivers row i +
// rowsAhead.
const rowsAhead = 16

// copyColumns copies words of rows to columns. The rows are anywhere in memory, which the processor
// cannot predict, so the loop prefetches them.
func copyColumns() {
	TEXT("columnsAVX2", attrLeaf, "func(dst *uint64, apart int, matrix *uint64, stride, width int, rows *uint32, n int)")
	Doc("columnsAVX2 implements columnsGo for n rows and width columns, at least one of each.")
	Pragma("noescape")
	dst, matrix, rows := Mem{Base: Load(Param("dst"), GP64())}, Mem{Base: Load(Param("matrix"), GP64())}, Mem{Base: Load(Param("rows"), GP64())}
	apart, stride := Load(Param("apart"), GP64()), Load(Param("stride"), GP64())
	width, last := Load(Param("width"), GP64()), Load(Param("n"), GP64())
	SHLQ(U8(3), apart)
	SHLQ(U8(3), stride)
	DECQ(last)
	i := GP64()
	XORQ(i, i)

	Label("row")
	ahead := GP64()
	LEAQ(Mem{Base: i, Disp: rowsAhead}, ahead)
	CMPQ(ahead, last)
	CMOVQGT(last, ahead)
	MOVL(rows.Idx(ahead, 4), ahead.As32())
	IMULQ(stride, ahead)
	ADDQ(matrix.Base, ahead)
	end := GP64()
	LEAQ(Mem{Base: ahead, Index: width, Scale: 8, Disp: -1}, end)
	Label("ask")
	PREFETCHT0(Mem{Base: ahead})
	ADDQ(U8(64), ahead)
	CMPQ(ahead, end)
	JLE(LabelRef("ask"))
	PREFETCHT0(Mem{Base: end})

	from, to, k, word := GP64(), Mem{Base: GP64()}, GP64(), GP64()
	MOVL(rows.Idx(i, 4), from.As32())
	IMULQ(stride, from)
	ADDQ(matrix.Base, from)
	LEAQ(dst.Idx(i, 8), to.Base)
	XORQ(k, k)
	Label("word")
	MOVQ(Mem{Base: from, Index: k, Scale: 8}, word)
	MOVQ(word, to)
	ADDQ(apart, to.Base)
	INCQ(k)
	CMPQ(k, width)
	JL(LabelRef("word"))
	INCQ(i)
	CMPQ(i, last)
	JLE(LabelRef("row"))
	RET()
}
