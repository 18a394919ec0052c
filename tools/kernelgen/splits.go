package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// single8 returns eight copies of a float32 as a vector operand.
func single8(name string, x float32) Mem {
	w := uint64(math.Float32bits(x))
	return bits4(name, w<<32|w)
}

// divisionBound processes eight divisions at a time. It skips eight divisions whose sums are all 0,
// since they are equal to the division before.
func divisionBound() {
	TEXT("divisionBoundAVX2", attrLeaf, "func(sums []uint64, left, total uint64, l2, least float32) float32")
	Doc("divisionBoundAVX2 implements divisionBoundGo. len(sums) must be a positive multiple of 8.")
	Pragma("noescape")
	l2, least, before, total := YMM(), YMM(), YMM(), YMM()
	singles := []Register{Load(Param("l2"), XMM()), Load(Param("least"), XMM())}
	VBROADCASTSS(singles[0], l2)
	VBROADCASTSS(singles[1], least)
	VPBROADCASTQ(NewParamAddr("left", 24), before)
	VPBROADCASTQ(NewParamAddr("total", 32), total)
	sums, n := slice("sums"), length("sums")
	best := zeros(1)[0]
	a, b := YMM(), YMM()
	VMOVDQU(sums, a)
	VMOVDQU(sums.Offset(32), b)

	Label("eight")
	end, last := YMM(), YMM()
	for _, v := range []VecVirtual{a, b} { // running sums within each four
		t := YMM()
		VPSLLDQ(U8(8), v, t)
		VPADDQ(t, v, v)
		VPERM2I128(U8(0x08), v, v, t)
		VPUNPCKHQDQ(t, t, t)
		VPADDQ(t, v, v)
	}
	VPERMQ(U8(0xff), a, end)
	VPADDQ(end, b, b)
	VPERMQ(U8(0xff), b, last)
	VPADDQ(before, a, a)
	VPADDQ(before, b, b)
	VPADDQ(last, before, before)
	gl, hl := halves(a, b)
	VPSUBQ(a, total, a)
	VPSUBQ(b, total, b)
	gr, hr := halves(a, b)

	enough, other := YMM(), YMM()
	VCMPPS(U8(2), hl, least, enough) // least ≤ hl
	VCMPPS(U8(2), hr, least, other)
	VPAND(other, enough, enough)
	smallest := YMM()
	VMOVUPS(single8("smallestCurvature", 0x1p-20), smallest)
	for _, h := range []VecVirtual{hl, hr} {
		VADDPS(l2, h, h)
		VMAXPS(smallest, h, h)
	}
	VMULPS(gl, gl, gl)
	VMULPS(gr, gr, gr)
	VMULPS(hr, gl, gl)
	VMULPS(hl, gr, gr)
	VADDPS(gr, gl, gl)
	VMULPS(hr, hl, hl)
	VDIVPS(hl, gl, gl)
	VANDPS(enough, gl, gl)
	VMAXPS(gl, best, best)

	Label("next")
	SUBQ(U8(8), n)
	JZ(LabelRef("done"))
	ADDQ(U8(64), sums.Base)
	VMOVDQU(sums, a)
	VMOVDQU(sums.Offset(32), b)
	any := YMM()
	VPOR(a, b, any)
	VPTEST(any, any)
	JZ(LabelRef("next"))
	JMP(LabelRef("eight"))

	Label("done")
	low, high := best.AsX(), XMM()
	VEXTRACTF128(U8(1), best, high)
	VMAXPS(high, low, low)
	VPERMILPS(U8(0x0e), low, high)
	VMAXPS(high, low, low)
	VPERMILPS(U8(1), low, high)
	VMAXPS(high, low, low)
	result(low.(VecVirtual))
}

// halves converts the signed upper halves and the unsigned lower halves of eight words to float32.
// Both results have the words in the same order, which is not the order in a and b.
func halves(a, b VecVirtual) (upper, lower VecVirtual) {
	upper, lower = YMM(), YMM()
	VSHUFPS(U8(0xdd), b, a, upper)
	VSHUFPS(U8(0x88), b, a, lower)
	VCVTDQ2PS(upper, upper)
	wrapped := YMM()
	VPSRAD(U8(31), lower, wrapped)
	VANDPS(single8("two32", 0x1p32), wrapped, wrapped)
	VCVTDQ2PS(lower, lower)
	VADDPS(wrapped, lower, lower)
	return upper, lower
}

// subtract subtracts 64-bit words, eight at a time.
func subtract() {
	TEXT("subtractAVX2", attrLeaf, "func(dst, x []uint64)")
	Doc("subtractAVX2 implements subtractGo. The length of both slices must be a positive multiple of 8.")
	Pragma("noescape")
	dst, x, n := slice("dst"), slice("x"), length("dst")
	Label("eight")
	for k := range 2 {
		v := YMM()
		VMOVDQU(dst.Offset(32*k), v)
		VPSUBQ(x.Offset(32*k), v, v)
		VMOVDQU(v, dst.Offset(32*k))
	}
	ADDQ(U8(64), dst.Base)
	ADDQ(U8(64), x.Base)
	SUBQ(U8(8), n)
	JNZ(LabelRef("eight"))
	VZEROUPPER()
	RET()
}
