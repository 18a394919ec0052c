package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// exponential returns eˣ of every vector, which it spends: expGo in exp.go, step
// by step. VMINPD and VMAXPD return their last operand, here x, if either is NaN.
func exponential(x []VecVirtual) []VecVirtual {
	magic := const4("expMagic", expMagic)
	t, r2 := registers(len(x)), registers(len(x))
	each(x, func(i int) { VMOVUPD(const4("expHigh", expHigh), t[i]); VMINPD(x[i], t[i], x[i]) })
	each(x, func(i int) { VMOVUPD(const4("expLow", expLow), t[i]); VMAXPD(x[i], t[i], x[i]) })
	each(x, func(i int) { VMOVUPD(const4("log2e", math.Log2E), t[i]) })
	each(x, func(i int) { VFMADD213PD(magic, x[i], t[i]) })
	each(x, func(i int) { VSUBPD(magic, t[i], r2[i]) })
	each(x, func(i int) { VFNMADD231PD(const4("ln2Hi", ln2Hi), r2[i], x[i]) })
	each(x, func(i int) { VFNMADD231PD(const4("ln2Lo", ln2Lo), r2[i], x[i]) })
	each(x, func(i int) { VMULPD(x[i], x[i], r2[i]) })
	p := evenOdd(polynomial4("exp", expPolynomial), x, r2)
	each(x, func(i int) { VMULPD(x[i], x[i], r2[i]) })
	each(x, func(i int) { VFMADD213PD(x[i], r2[i], p[i]) })
	each(x, func(i int) { VADDPD(const4("one", 1), p[i], p[i]) })

	half := registers(len(x))
	each(x, func(i int) { VPSRLQ(U8(1), t[i], half[i]); VPSUBQ(half[i], t[i], t[i]) })
	each(x, func(i int) { VPSLLQ(U8(52), half[i], half[i]); VPSLLQ(U8(52), t[i], t[i]) })
	each(x, func(i int) { VMULPD(half[i], p[i], p[i]) })
	each(x, func(i int) { VMULPD(t[i], p[i], p[i]) })
	return p
}

// mapping sets dst[i] = f(x[i]), eight at a time, then four, then what is left.
func mapping(name, doc string, f func(x []VecVirtual) []VecVirtual) {
	TEXT(name, attrLeaf, "func(dst, x []float64)")
	Doc(doc)
	Pragma("noescape")
	dst, x, n := slice("dst"), slice("x"), length("x")
	group := func(vectors int) {
		v := registers(vectors)
		each(v, func(i int) { VMOVUPD(x.Offset(32*i), v[i]) })
		v = f(v)
		each(v, func(i int) { VMOVUPD(v[i], dst.Offset(32*i)) })
		ADDQ(U8(32*vectors), x.Base)
		ADDQ(U8(32*vectors), dst.Base)
	}
	SUBQ(U8(8), n)
	JL(LabelRef("four"))
	Label("eight")
	group(2)
	SUBQ(U8(8), n)
	JGE(LabelRef("eight"))
	Label("four")
	ADDQ(U8(8), n)
	CMPQ(n, U8(4))
	JL(LabelRef("tail"))
	group(1)
	SUBQ(U8(4), n)
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	v := YMM()
	VMASKMOVPD(x, tailMask(n), v)
	storeTail(f([]VecVirtual{v})[0], dst, n, "tail")
	Label("done")
	VZEROUPPER()
	RET()
}

// exponentialSum adds up exp(x[i] − shift), and stores the terms if asked.
func exponentialSum(name, signature, doc string, store bool) {
	TEXT(name, attrLeaf, signature)
	Doc(doc)
	Pragma("noescape")
	shift := AllocLocal(32)
	VMOVUPD(broadcast("shift"), shift)
	acc := zeros(4)
	x, n := slice("x"), length("x")
	dst := Mem{}
	if store {
		dst = slice("dst")
	}
	terms := func(x Mem, from, count int) {
		v := registers(count)
		each(v, func(i int) { VMOVUPD(x.Offset(32*i), v[i]) })
		each(v, func(i int) { VSUBPD(shift, v[i], v[i]) })
		v = exponential(v)
		each(v, func(i int) { VADDPD(v[i], acc[from+i], acc[from+i]) })
		if store {
			each(v, func(i int) { VMOVUPD(v[i], dst); ADDQ(U8(32), dst.Base) })
		}
	}
	reduction{
		x: x, n: n,
		vectors: func(x Mem, from, count int) {
			for ; count > 2; count -= 2 {
				terms(x, from, 2)
				x, from = x.Offset(64), from+2
			}
			terms(x, from, count)
		},
		tail: func(x Mem, r Register) {
			v, mask := YMM(), tailMask(r)
			VMASKMOVPD(x, mask, v)
			VSUBPD(shift, v, v)
			e := exponential([]VecVirtual{v})[0]
			if store {
				storeTail(e, dst, r, "tail")
			}
			VANDPD(tailMask(r), e, e)
			VADDPD(e, acc[3], acc[3])
		},
	}.emit("reduce")
	result(reduceSum(acc))
}

func exponentials() {
	mapping("expAVX2", "expAVX2 is expGo; dst is at least as long as x.", exponential)
	exponentialSum("expSumAVX2", "func(dst, x []float64, shift float64) float64",
		"expSumAVX2 is expSumGo; dst is at least as long as x.", true)
	exponentialSum("sumExpAVX2", "func(x []float64, shift float64) float64",
		"sumExpAVX2 is sumExpGo.", false)
	mapping("softplusAVX2", "softplusAVX2 is softplusGo; dst is at least as long as x.", softplus)
	mapping("logisticAVX2", "logisticAVX2 is logisticGo; dst is at least as long as x.", logistic)
}

// negativeMagnitude returns −|x|, leaving x.
func negativeMagnitude(x []VecVirtual) []VecVirtual {
	v := registers(len(x))
	each(x, func(i int) { VORPD(const4("negZero", math.Copysign(0, -1)), x[i], v[i]) })
	return v
}

// softplus is max(x, 0) + log(1 + e^−|x|).
func softplus(x []VecVirtual) []VecVirtual {
	l := log1p(exponential(negativeMagnitude(x)))
	zero := zeros(1)[0]
	each(x, func(i int) { VMAXPD(x[i], zero, x[i]) })
	each(x, func(i int) { VADDPD(x[i], l[i], l[i]) })
	return l
}

// logistic is e^min(x,0) / (1 + e^−|x|).
func logistic(x []VecVirtual) []VecVirtual {
	e := exponential(negativeMagnitude(x))
	one := YMM()
	VMOVUPD(const4("one", 1), one)
	each(x, func(i int) { VBLENDVPD(x[i], e[i], one, x[i]) })
	each(x, func(i int) { VADDPD(e[i], one, e[i]) })
	each(x, func(i int) { VDIVPD(e[i], x[i], x[i]) })
	return x
}
