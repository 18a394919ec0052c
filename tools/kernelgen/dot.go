package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// dot writes the simplest kernel: a sum over sixteen lanes, in four accumulators of four lanes.
func dot() {
	TEXT("dotAVX2", attrLeaf, "func(x, y []float64) float64")
	Doc("dotAVX2 implements dotGo. y must be at least as long as x.")
	Pragma("noescape")
	x, y, acc := slice("x"), slice("y"), zeros(4)
	reduction{
		x: x, n: length("x"),
		vectors: func(x Mem, from, count int) {
			v := registers(count)
			each(v, func(i int) { VMOVUPD(x.Offset(32*i), v[i]) })
			each(v, func(i int) { VFMADD231PD(y.Offset(32*i), v[i], acc[from+i]) })
			ADDQ(U32(32*count), y.Base)
		},
		tail: func(x Mem, r Register) {
			v, w, mask := YMM(), YMM(), tailMask(r)
			VMASKMOVPD(x, mask, v)
			VMASKMOVPD(y, mask, w)
			VFMADD231PD(w, v, acc[3])
		},
	}.emit("reduce")
	result(reduceSum(acc))
}

// columns describes how a loop over the columns of a float32 matrix is divided into steps. There
// are steps of eight columns, at most one step of four, and a last step of fewer than four.
type columns struct {
	n, blocked, tail Register // number of columns, in blocks of 8, and in the last step of fewer than 4
	mask, mask32     VecVirtual
}

func newColumns(n Register) columns {
	c := columns{n: n, blocked: GP64(), tail: GP64()}
	MOVQ(n, c.blocked)
	ANDQ(I8(-8), c.blocked)
	MOVQ(n, c.tail)
	ANDQ(U8(3), c.tail)
	c.mask, c.mask32 = tailMask(c.tail), tailMask32(c.tail)
	return c
}

// multiply returns four partial sums of the dot product of each row with w. Eight elements at a
// time go to two accumulators of four lanes. If four or more elements remain, four go to the first
// accumulator. The last one to three elements go to the second accumulator. The partial sums are
// the sums of the two accumulators.
func (c columns) multiply(rows []Mem, w Mem, label string) []VecVirtual {
	low, high := zeros(len(rows)), zeros(len(rows))
	j := GP64()
	step := func(k int, acc []VecVirtual) {
		wk := YMM()
		VMOVUPD(w.Idx(j, 8).Offset(32*k), wk)
		for i, r := range rows {
			x := YMM()
			VCVTPS2PD(r.Idx(j, 4).Offset(16*k), x)
			VFMADD231PD(wk, x, acc[i])
		}
	}

	XORQ(j, j)
	CMPQ(j, c.blocked)
	JGE(LabelRef(label + "_rest"))
	Label(label + "_block")
	if len(rows) == 4 { // as in tile.multiply
		PREFETCHT0(rows[0].Idx(j, 8).Offset(ahead))
		PREFETCHT0(rows[2].Idx(j, 8).Offset(ahead))
	}
	step(0, low)
	step(1, high)
	ADDQ(U8(8), j)
	CMPQ(j, c.blocked)
	JL(LabelRef(label + "_block"))

	Label(label + "_rest")
	TESTQ(U32(4), c.n)
	JZ(LabelRef(label + "_tail"))
	step(0, low)
	ADDQ(U8(4), j)
	Label(label + "_tail")
	TESTQ(c.tail, c.tail)
	JZ(LabelRef(label + "_reduce"))
	wt := YMM()
	VMASKMOVPD(w.Idx(j, 8), c.mask, wt)
	for i, r := range rows {
		x := YMM()
		VMASKMOVPS(r.Idx(j, 4), c.mask32, x.AsX())
		VCVTPS2PD(x.AsX(), x)
		VFMADD231PD(wt, x, high[i])
	}
	Label(label + "_reduce")
	each(low, func(i int) { VADDPD(high[i], low[i], low[i]) })
	return low
}

// one adds the four partial sums of one row.
func one(s VecVirtual) VecVirtual {
	return horizontal(s, func(a, b VecVirtual) { VADDPD(b, a, a) })
}

// four adds the partial sums of four rows, each in the order of horizontal, and returns the four
// results in one register. To add several rows by one instruction, it puts the halves of rows 0 and
// 2, and of rows 1 and 3, side by side, and then their lanes.
func four(s []VecVirtual) VecVirtual {
	fold := func(a, b VecVirtual) VecVirtual {
		lower, upper := YMM(), YMM()
		VPERM2F128(U8(0x20), b, a, lower)
		VPERM2F128(U8(0x31), b, a, upper)
		VADDPD(upper, lower, lower)
		return lower
	}
	even, odd := fold(s[0], s[2]), fold(s[1], s[3])
	first, second := YMM(), YMM()
	VUNPCKLPD(odd, even, first)
	VUNPCKHPD(odd, even, second)
	VADDPD(second, first, first)
	return first
}

func dot32() {
	TEXT("dot32AVX2", attrLeaf, "func(x []float32, w []float64) float64")
	Doc("dot32AVX2 implements dot32Go. w must be at least as long as x.")
	Pragma("noescape")
	x, w := slice("x"), slice("w")
	s := newColumns(length("x")).multiply([]Mem{x}, w, "dot")
	result(one(s[0]))
}
