package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// row loads elements of a row as float64: element 4k of those at index j.
type row struct {
	base   Mem
	single bool // float32, to be widened
}

func (r row) load(j Register, k int, dst VecVirtual) {
	if r.single {
		VCVTPS2PD(r.base.Idx(j, 4).Offset(16*k), dst)
	} else {
		VMOVUPD(r.base.Idx(j, 8).Offset(32*k), dst)
	}
}

func (r row) loadTail(j Register, mask, mask32, dst VecVirtual) {
	if r.single {
		x := XMM()
		VMASKMOVPS(r.base.Idx(j, 4), mask32, x)
		VCVTPS2PD(x, dst)
	} else {
		VMASKMOVPD(r.base.Idx(j, 8), mask, dst)
	}
}

// columns is how the columns of a row split into steps.
type columns struct {
	blocked, tail Register // columns in blocks of 16; the last, fewer than 4
	n             Register
	mask, mask32  VecVirtual
}

func newColumns(n Register) columns {
	c := columns{blocked: GP64(), tail: GP64(), n: n}
	MOVQ(n, c.blocked)
	ANDQ(I8(-16), c.blocked)
	MOVQ(n, c.tail)
	ANDQ(U8(3), c.tail)
	c.mask, c.mask32 = tailMask(c.tail), tailMask32(c.tail)
	return c
}

// multiply returns the dot product of each row with w. Element i goes to
// accumulator (i/4) mod 4 while blocks of 16 last; of the rest, eight go to the
// first two, four to the third and what is left to the fourth.
func (c columns) multiply(rows []row, w Mem, label string) []VecVirtual {
	acc := make([][]VecVirtual, len(rows))
	for i := range acc {
		acc[i] = zeros(4)
	}
	j := GP64()
	step := func(k, into int) {
		wk := YMM()
		VMOVUPD(w.Idx(j, 8).Offset(32*k), wk)
		for i, r := range rows {
			x := YMM()
			r.load(j, k, x)
			VFMADD231PD(wk, x, acc[i][into])
		}
	}

	XORQ(j, j)
	CMPQ(j, c.blocked)
	JGE(LabelRef(label + "_rest"))
	Label(label + "_block")
	for k := range 4 {
		step(k, k)
	}
	ADDQ(U8(16), j)
	CMPQ(j, c.blocked)
	JL(LabelRef(label + "_block"))

	Label(label + "_rest")
	TESTQ(U32(8), c.n)
	JZ(LabelRef(label + "_four"))
	step(0, 0)
	step(1, 1)
	ADDQ(U8(8), j)
	Label(label + "_four")
	TESTQ(U32(4), c.n)
	JZ(LabelRef(label + "_tail"))
	step(0, 2)
	ADDQ(U8(4), j)
	Label(label + "_tail")
	TESTQ(c.tail, c.tail)
	JZ(LabelRef(label + "_reduce"))
	wt := YMM()
	VMASKMOVPD(w.Idx(j, 8), c.mask, wt)
	for i, r := range rows {
		x := YMM()
		r.loadTail(j, c.mask, c.mask32, x)
		VFMADD231PD(wt, x, acc[i][3])
	}
	Label(label + "_reduce")
	sums := make([]VecVirtual, len(rows))
	for i := range sums {
		sums[i] = reduceSum(acc[i])
	}
	return sums
}

func dot() {
	TEXT("dotAVX2", attrLeaf, "func(x, y []float64) float64")
	Doc("dotAVX2 is dotGo; y is at least as long as x.")
	Pragma("noescape")
	x, y := slice("x"), slice("y")
	s := newColumns(length("x")).multiply([]row{{base: x}}, y, "dot")
	result(s[0])
}

func dot32() {
	TEXT("dot32AVX2", attrLeaf, "func(x []float32, w []float64) float64")
	Doc("dot32AVX2 is dot32Go; w is at least as long as x.")
	Pragma("noescape")
	x, w := slice("x"), slice("w")
	s := newColumns(length("x")).multiply([]row{{x, true}}, w, "dot")
	result(s[0])
}
