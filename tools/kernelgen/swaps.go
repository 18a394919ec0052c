package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addSwaps computes four pairs at a time. Rounding makes the sums depend on the order of the
// additions, so the pairs are added to the sums one after the other, as in the reference. The
// processor overlaps these additions with the divisions of the next four pairs.
func addSwaps() {
	TEXT("addSwapsAVX2", attrLeaf, "func(sums, lambda, second, losses, e *float64, n int, sigma, ease, upper float64)")
	Doc("addSwapsAVX2 implements addSwapsGo for n pairs. n must be a positive multiple of 4. sums points to the fields of SwapSums.")
	Pragma("noescape")
	lambda, second := Mem{Base: Load(Param("lambda"), GP64())}, Mem{Base: Load(Param("second"), GP64())}
	losses, e := Mem{Base: Load(Param("losses"), GP64())}, Mem{Base: Load(Param("e"), GP64())}
	n, at := Load(Param("n"), GP64()), GP64()
	XORQ(at, at)
	parameters := []Register{Load(Param("sigma"), XMM()), Load(Param("ease"), XMM()), Load(Param("upper"), XMM())}
	all := registers(3)
	each(all, func(i int) { VBROADCASTSD(parameters[i], all[i]) })
	sigma, ease, upper := all[0], all[1], all[2]
	one, size := YMM(), YMM()
	VMOVUPD(const4("one", 1), one)
	VMOVUPD(bits4("withoutSign", 1<<63-1), size)
	base := Load(Param("sums"), GP64())
	sums := [3]VecVirtual{XMM(), XMM(), XMM()}
	for k, s := range sums {
		VMOVSD(Mem{Base: base, Disp: 8 * k}, s)
	}

	Label("four")
	lower, d, better, p, q := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVUPD(e.Idx(at, 8), lower)
	VMOVUPD(losses.Idx(at, 8), d)
	VBLENDVPD(d, lower, upper, better)
	VBLENDVPD(d, upper, lower, p)
	VMULPD(p, ease, p) // the worse
	VADDPD(p, better, better)
	VDIVPD(better, p, p)
	VSUBPD(p, one, q)
	f, old := YMM(), YMM()
	VMULPD(d, sigma, f)
	VMULPD(p, f, f)
	VMOVUPD(lambda.Idx(at, 8), old)
	VSUBPD(f, old, old)
	VMOVUPD(old, lambda.Idx(at, 8))
	absolute := YMM()
	VANDPD(size, f, absolute)
	VMULPD(absolute, sigma, d)
	VMULPD(q, d, d)
	VADDPD(second.Idx(at, 8), d, old)
	VMOVUPD(old, second.Idx(at, 8))
	for k, v := range []VecVirtual{f, d, absolute} {
		inOrder(sums[k], v)
	}
	ADDQ(U8(4), at)
	CMPQ(at, n)
	JL(LabelRef("four"))

	VZEROUPPER()
	for k, s := range sums {
		MOVSD(s, Mem{Base: base, Disp: 8 * k})
	}
	RET()
}

// divideByGaps divides four numbers at a time.
func divideByGaps() {
	TEXT("divideByGapsAVX2", attrLeaf, "func(x, scores *float64, n int, top, least float64)")
	Doc("divideByGapsAVX2 implements divideByGapsGo for n numbers. n must be a positive multiple of 4.")
	Pragma("noescape")
	x, scores := Mem{Base: Load(Param("x"), GP64())}, Mem{Base: Load(Param("scores"), GP64())}
	n, at := Load(Param("n"), GP64()), GP64()
	XORQ(at, at)
	parameters := []Register{Load(Param("top"), XMM()), Load(Param("least"), XMM())}
	all := registers(2)
	each(all, func(i int) { VBROADCASTSD(parameters[i], all[i]) })
	top, least := all[0], all[1]
	size := YMM()
	VMOVUPD(bits4("withoutSign", 1<<63-1), size)

	Label("four")
	gap, quotient := YMM(), YMM()
	VSUBPD(scores.Idx(at, 8), top, gap)
	VANDPD(size, gap, gap)
	VADDPD(gap, least, gap)
	VMOVUPD(x.Idx(at, 8), quotient)
	VDIVPD(gap, quotient, quotient)
	VMOVUPD(quotient, x.Idx(at, 8))
	ADDQ(U8(4), at)
	CMPQ(at, n)
	JL(LabelRef("four"))

	VZEROUPPER()
	RET()
}

// inOrder adds the four lanes of v to sum, the first lane first.
func inOrder(sum, v VecVirtual) {
	low, high, odd := v.AsX(), XMM(), XMM()
	VEXTRACTF128(U8(1), v, high)
	VADDSD(low, sum, sum)
	VUNPCKHPD(low, low, odd)
	VADDSD(odd, sum, sum)
	VADDSD(high, sum, sum)
	VUNPCKHPD(high, high, high)
	VADDSD(high, sum, sum)
}
