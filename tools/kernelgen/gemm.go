package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tile computes the dot products of some rows of a float32 matrix with some float64 vectors, the
// units. It computes all of them in one loop. So each element of a row is converted to float64 once
// for all units, and each element of a unit is loaded once for all rows. The accumulators leave few
// registers free, so masks are loaded from memory.
type tile struct {
	rows, units []Mem
	n, blocked  Register // number of columns, and number of columns in blocks of 8
}

// multiply returns four partial sums of each dot product, ordered by unit and then by row. The
// elements are distributed over the partial sums as in columns.multiply. fetch writes the prefetch
// instructions of a step of eight columns; j is the register with the column.
func (p tile) multiply(label string, fetch func(j Register)) []VecVirtual {
	low, high := zeros(len(p.rows)*len(p.units)), zeros(len(p.rows)*len(p.units))
	j := GP64()
	step := func(k int, acc []VecVirtual) {
		x := registers(len(p.rows))
		each(x, func(i int) { VCVTPS2PD(p.rows[i].Idx(j, 4).Offset(16*k), x[i]) })
		for t, unit := range p.units {
			p.multiplyAdd(unit.Idx(j, 8).Offset(32*k), x, acc[t*len(x):])
		}
	}
	XORQ(j, j)
	CMPQ(j, p.blocked)
	JGE(LabelRef(label + "_rest"))
	Label(label + "_block")
	fetch(j)
	step(0, low)
	step(1, high)
	ADDQ(U8(8), j)
	CMPQ(j, p.blocked)
	JL(LabelRef(label + "_block"))

	Label(label + "_rest")
	TESTQ(U32(4), p.n)
	JZ(LabelRef(label + "_tail"))
	step(0, low)
	ADDQ(U8(4), j)
	Label(label + "_tail")
	tail := GP64()
	MOVQ(p.n, tail)
	ANDQ(U8(3), tail)
	JZ(LabelRef(label + "_reduce"))
	x, mask32 := registers(len(p.rows)), tailMask32(tail)
	each(x, func(i int) {
		VMASKMOVPS(p.rows[i].Idx(j, 4), mask32, x[i].AsX())
		VCVTPS2PD(x[i].AsX(), x[i])
	})
	mask := tailMask(tail)
	for t, unit := range p.units {
		w := YMM()
		VMASKMOVPD(unit.Idx(j, 8), mask, w)
		for i := range x {
			VFMADD231PD(w, x[i], high[t*len(x)+i])
		}
	}
	Label(label + "_reduce")
	each(low, func(i int) { VADDPD(high[i], low[i], low[i]) })
	return low
}

// multiplyAdd multiplies four elements of a unit, at w, by the same elements of the rows, in x, and
// adds the products to acc. For a single row, the instruction reads w from memory.
func (p tile) multiplyAdd(w Mem, x, acc []VecVirtual) {
	if len(x) == 1 {
		VFMADD231PD(w, x[0], acc[0])
		return
	}
	v := YMM()
	VMOVUPD(w, v)
	each(x, func(i int) { VFMADD231PD(v, x[i], acc[i]) })
}

// newTile returns a tile of the given number of columns.
func newTile(n Register) tile {
	p := tile{n: n, blocked: GP64()}
	MOVQ(n, p.blocked)
	ANDQ(I8(-8), p.blocked)
	return p
}

// consecutive returns the addresses of count rows or units, stride bytes apart, of which the first
// is at first.
func consecutive(first Mem, stride Register, count int) []Mem {
	m := []Mem{first}
	for len(m) < count {
		next := Mem{Base: GP64()}
		LEAQ(m[len(m)-1].Idx(stride, 1), next.Base)
		m = append(m, next)
	}
	return m
}

// gemmUnits writes a function that multiplies all rows, two at a time, by two or three units.
func gemmUnits(units int) {
	name := fmt.Sprintf("gemm%dAVX2", units)
	TEXT(name, attrLeaf, "func(dst []float64, x []float32, w []float64, rows, columns int)")
	Doc(fmt.Sprintf("%s implements gemmGo for %d vectors of columns elements each.", name, units))
	Pragma("noescape")
	dst, x := slice("dst"), slice("x")
	p := newTile(Load(Param("columns"), GP64()))
	stride, wide := GP64(), GP64() // bytes between rows, and between vectors
	MOVQ(p.n, stride)
	SHLQ(U8(2), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 1}, wide)
	p.units = consecutive(slice("w"), wide, units)
	rows := Load(Param("rows"), GP64())
	down := GP64() // bytes between the results of consecutive vectors
	MOVQ(rows, down)
	SHLQ(U8(3), down)

	SUBQ(U8(2), rows)
	JL(LabelRef("last"))
	Label("pair")
	p.rows = consecutive(x, stride, 2)
	s := p.multiply("pair", func(j Register) { PREFETCHT0(x.Idx(j, 8).Offset(ahead)) })
	both := four([]VecVirtual{s[0], s[1], s[2], s[3]})
	VMOVUPD(both.AsX(), dst)
	second := XMM()
	VEXTRACTF128(U8(1), both, second)
	VMOVUPD(second, dst.Idx(down, 1))
	if units == 3 {
		VMOVUPD(two(s[4], s[5]), dst.Idx(down, 2))
	}
	ADDQ(U8(16), dst.Base)
	LEAQ(x.Idx(stride, 2), x.Base)
	SUBQ(U8(2), rows)
	JGE(LabelRef("pair"))

	Label("last")
	ADDQ(U8(2), rows)
	JZ(LabelRef("done"))
	p.rows = []Mem{x}
	for t, v := range p.multiply("last", func(Register) {}) {
		at := dst
		if t > 0 {
			at = dst.Idx(down, uint8(t))
		}
		VMOVSD(one(v), at)
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// ahead is the prefetch distance in bytes, about the number of bytes that memory delivers within
// its latency. The prefetch may extend beyond the end of the matrix, where the rows of the next
// query usually are.
const ahead = 8 << 10

// two adds the partial sums of two dot products, each in the order of horizontal, and returns both
// results in one register.
func two(a, b VecVirtual) VecVirtual {
	lower, upper := YMM(), YMM()
	VPERM2F128(U8(0x20), b, a, lower)
	VPERM2F128(U8(0x31), b, a, upper)
	VADDPD(upper, lower, lower) // a0+a2 a1+a3 b0+b2 b1+b3
	high, first, second := XMM(), XMM(), XMM()
	VEXTRACTF128(U8(1), lower, high)
	VUNPCKLPD(high, lower.AsX(), first)
	VUNPCKHPD(high, lower.AsX(), second)
	VADDPD(second, first, first)
	return first
}

// gemmRow writes a function that multiplies a single row by six or four units.
func gemmRow(units int) {
	name := fmt.Sprintf("gemmRow%dAVX2", units)
	TEXT(name, attrLeaf, "func(dst []float64, x []float32, w []float64)")
	Doc(fmt.Sprintf("%s implements gemmGo for a single row and %d vectors.", name, units))
	Pragma("noescape")
	dst := slice("dst")
	p := newTile(length("x"))
	p.rows = []Mem{slice("x")}
	wide := GP64()
	MOVQ(p.n, wide)
	SHLQ(U8(3), wide)
	p.units = consecutive(slice("w"), wide, units)
	s := p.multiply("row", func(Register) {})
	VMOVUPD(four(s[:4]), dst)
	if units == 6 {
		VMOVUPD(two(s[4], s[5]), dst.Offset(32))
	}
	VZEROUPPER()
	RET()
}

// gemmT writes a function that multiplies the transposed matrix by several vectors and adds each
// product to a row of grad. It keeps a block of columns of all rows of grad in registers while it
// passes the rows of the matrix. So each element of the matrix is converted to float64 once for all
// vectors.
func gemmT(units, vectors int) {
	name := fmt.Sprintf("gemmT%dAVX2", units)
	TEXT(name, attrLeaf, "func(grad []float64, x []float32, delta []float64, rows, columns int)")
	Doc(fmt.Sprintf("%s implements gemmTGo for %d vectors of rows elements each. rows must be positive.", name, units))
	Pragma("noescape")
	grad, x, delta := slice("grad"), slice("x"), slice("delta")
	rows, columns := Load(Param("rows"), GP64()), Load(Param("columns"), GP64())
	stride := GP64()
	MOVQ(columns, stride)
	SHLQ(U8(2), stride)
	g, d := newComb(columns, units), newComb(rows, units)

	block := func(label string, acc []VecVirtual, vectors int, load func(m Mem, v VecVirtual)) {
		xr, dr, left := Mem{Base: GP64()}, Mem{Base: GP64()}, GP64()
		MOVQ(x.Base, xr.Base)
		MOVQ(delta.Base, dr.Base)
		MOVQ(rows, left)
		Label(label + "_row")
		v := registers(vectors)
		each(v, func(k int) { load(xr.Offset(16*k), v[k]) })
		for t := range units {
			l := YMM()
			VBROADCASTSD(d.at(dr, t), l)
			each(v, func(k int) { VFMADD231PD(v[k], l, acc[t*vectors+k]) })
		}
		ADDQ(U8(8), dr.Base)
		ADDQ(stride, xr.Base)
		DECQ(left)
		JNZ(LabelRef(label + "_row"))
	}
	whole := func(m Mem, v VecVirtual) { VCVTPS2PD(m, v) }
	full := func(label string, vectors int) {
		acc := registers(units * vectors)
		each(acc, func(i int) { VMOVUPD(g.at(grad, i/vectors).Offset(32*(i%vectors)), acc[i]) })
		block(label, acc, vectors, whole)
		each(acc, func(i int) { VMOVUPD(acc[i], g.at(grad, i/vectors).Offset(32*(i%vectors))) })
		ADDQ(U32(32*vectors), grad.Base)
		ADDQ(U32(16*vectors), x.Base)
		SUBQ(U8(4*vectors), columns)
	}
	for n := vectors; n > 0; n-- {
		label := fmt.Sprintf("vectors%d", n)
		CMPQ(columns, U8(4*n))
		JL(LabelRef(label + "_done"))
		Label(label)
		full(label, n)
		if n == vectors {
			CMPQ(columns, U8(4*n))
			JGE(LabelRef(label))
		}
		Label(label + "_done")
	}
	TESTQ(columns, columns)
	JZ(LabelRef("done"))
	acc, mask := registers(units), tailMask(columns)
	each(acc, func(t int) { VMASKMOVPD(g.at(grad, t), mask, acc[t]) })
	mask32 := tailMask32(columns)
	block("tail", acc, 1, func(m Mem, v VecVirtual) {
		VMASKMOVPS(m, mask32, v.AsX())
		VCVTPS2PD(v.AsX(), v)
	})
	each(acc, func(t int) { storeTail(acc[t], g.at(grad, t), columns, fmt.Sprintf("tail%d", t)) })
	Label("done")
	VZEROUPPER()
	RET()
}

// comb computes the addresses of the same element in up to five vectors that are stored one after
// the other.
type comb struct{ one, three Register } // bytes to the next vector, and to the third next

func newComb(n Register, units int) comb {
	c := comb{one: GP64()}
	MOVQ(n, c.one)
	SHLQ(U8(3), c.one)
	if units > 3 {
		c.three = GP64()
		LEAQ(Mem{Base: c.one, Index: c.one, Scale: 2}, c.three)
	}
	return c
}

func (c comb) at(m Mem, t int) Mem {
	switch t {
	case 0:
		return m
	case 3:
		return m.Idx(c.three, 1)
	}
	return m.Idx(c.one, uint8(t))
}

func gemms() {
	gemmUnits(2)
	gemmUnits(3)
	gemmRow(4)
	gemmRow(6)
	gemmT(2, 4)
	gemmT(3, 3)
	gemmT(5, 2)
}
