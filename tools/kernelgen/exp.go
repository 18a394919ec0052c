package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// exponential returns eˣ of every vector and overwrites x. It follows elementary.Exp step by step.
// If an operand is NaN, VMINPD and VMAXPD return the operand that Intel's manual calls the second
// source. x is that operand, so NaN stays NaN. Four vectors at a time keep the multipliers busy.
// With four vectors, the polynomial needs all 16 registers, so t is stored in the memory spill
// until the polynomial is computed. Loads are the next bottleneck, so a constant for several
// vectors is loaded once if a register is free.
func exponential(x []VecVirtual, spill Mem) []VecVirtual {
	t, r2 := registers(len(x)), registers(len(x))
	high, low := held("expHigh", expHigh), held("expLow", expLow)
	each(x, func(i int) { VMINPD(x[i], high, x[i]) })
	each(x, func(i int) { VMAXPD(x[i], low, x[i]) })
	log2e, magic := held("log2e", math.Log2E), held("expMagic", expMagic)
	each(x, func(i int) { VMOVAPD(magic, t[i]) })
	each(x, func(i int) { VFMADD231PD(log2e, x[i], t[i]) })
	each(x, func(i int) { VSUBPD(magic, t[i], r2[i]) })
	ln2High, ln2Low := held("ln2Hi", ln2Hi), held("ln2Lo", ln2Lo)
	each(x, func(i int) { VFNMADD231PD(ln2High, r2[i], x[i]) })
	each(x, func(i int) { VFNMADD231PD(ln2Low, r2[i], x[i]) })
	if len(x) == wide {
		each(x, func(i int) { VMOVUPD(t[i], spill.Offset(32*i)) })
	}
	each(x, func(i int) { VMULPD(x[i], x[i], r2[i]) })
	p := evenOdd(polynomial4("exp", expPolynomial), x, r2)
	each(x, func(i int) { VFMADD213PD(x[i], r2[i], p[i]) })
	one := held("one", 1)
	each(x, func(i int) { VADDPD(one, p[i], p[i]) })

	if len(x) == wide {
		t = registers(wide)
		each(x, func(i int) { VMOVUPD(spill.Offset(32*i), t[i]) })
	}
	half := registers(len(x))
	each(x, func(i int) { VPSRLQ(U8(1), t[i], half[i]); VPSUBQ(half[i], t[i], t[i]) })
	each(x, func(i int) { VPSLLQ(U8(52), half[i], half[i]); VPSLLQ(U8(52), t[i], t[i]) })
	each(x, func(i int) { VMULPD(half[i], p[i], p[i]) })
	each(x, func(i int) { VMULPD(t[i], p[i], p[i]) })
	return p
}

// held returns a register with four copies of a constant.
func held(name string, x float64) VecVirtual {
	v := YMM()
	VMOVUPD(const4(name, x), v)
	return v
}

// wide is the largest number of vectors that exponential processes together.
const wide = 4

// group is the group of vectors that a mapping processes together.
type group struct {
	x     []VecVirtual
	spill Mem
	again func(i int, v VecVirtual) // loads vector i, before f changed it, into v
}

// mapping writes a function that sets dst[i] = f(x[i]). Its loop processes the given number of
// vectors at a time. After the loop, it processes half as many vectors, and so on down to one, and
// then the remaining elements.
func mapping(name, doc string, vectors int, f func(g group) []VecVirtual) {
	TEXT(name, attrLeaf, "func(dst, x []float64)")
	Doc(doc)
	Pragma("noescape")
	emitMapping(vectors, AllocLocal(32*wide), f, func(int, VecVirtual, loader) {}, func(int) {})
}

// loader loads a vector from m into v. After the last whole vector, it loads only the remaining
// elements.
type loader func(m Mem, v VecVirtual)

// emitMapping writes the body of a mapping. change modifies vector i after the vector was loaded
// and before f is applied. advance is called after each step with the number of elements that the
// step processed, for incrementing pointers other than x and dst.
func emitMapping(vectors int, spill Mem, f func(g group) []VecVirtual, change func(i int, v VecVirtual, load loader), advance func(elements int)) {
	dst, x, n := slice("dst"), slice("x"), length("x")
	whole := func(m Mem, v VecVirtual) { VMOVUPD(m, v) }
	pass := func(vectors int) {
		g := group{registers(vectors), spill, func(i int, v VecVirtual) { whole(x.Offset(32*i), v) }}
		each(g.x, func(i int) { g.again(i, g.x[i]) })
		each(g.x, func(i int) { change(i, g.x[i], whole) })
		v := f(g)
		each(v, func(i int) { VMOVUPD(v[i], dst.Offset(32*i)) })
		ADDQ(U32(32*vectors), x.Base)
		ADDQ(U32(32*vectors), dst.Base)
		advance(4 * vectors)
	}
	SUBQ(U8(4*vectors), n)
	JL(LabelRef("rest"))
	Label("block")
	pass(vectors)
	SUBQ(U8(4*vectors), n)
	JGE(LabelRef("block"))
	Label("rest")
	for v := vectors / 2; v > 0; v /= 2 {
		next := fmt.Sprintf("less%d", v)
		TESTQ(U32(4*v), n)
		JZ(LabelRef(next))
		pass(v)
		Label(next)
	}
	ANDQ(U8(3), n)
	JZ(LabelRef("done"))
	part := func(m Mem, v VecVirtual) { VMASKMOVPD(m, tailMask(n), v) }
	g := group{registers(1), spill, func(_ int, v VecVirtual) { part(x, v) }}
	g.again(0, g.x[0])
	change(0, g.x[0], part)
	storeTail(f(g)[0], dst, n, "tail")
	Label("done")
	VZEROUPPER()
	RET()
}

// expPlus writes the mapping exp(x + a·y).
func expPlus() {
	TEXT("expPlusAVX2", attrLeaf, "func(dst, x []float64, a float64, y []float64)")
	Doc("expPlusAVX2 implements expPlusGo. dst and y must be at least as long as x.")
	Pragma("noescape")
	a, spill := AllocLocal(32), AllocLocal(32*wide)
	VMOVUPD(broadcast("a"), a)
	y := slice("y")
	emitMapping(wide, spill,
		func(g group) []VecVirtual { return exponential(g.x, g.spill) },
		func(i int, x VecVirtual, load loader) {
			v := YMM()
			load(y.Offset(32*i), v)
			VFMADD231PD(a, v, x)
		},
		func(elements int) { ADDQ(U32(8*elements), y.Base) })
}

// exponentialSum writes a function that sums exp(x[i] − shift). If store is set, the function also
// stores the terms.
func exponentialSum(name, signature, doc string, store bool) {
	TEXT(name, attrLeaf, signature)
	Doc(doc)
	Pragma("noescape")
	shift, acc, spill := AllocLocal(32), AllocLocal(32*wide), AllocLocal(32*wide)
	VMOVUPD(broadcast("shift"), shift)
	zero := zeros(1)[0]
	for i := range wide {
		VMOVUPD(zero, acc.Offset(32*i))
	}
	x, n := slice("x"), length("x")
	dst := Mem{}
	if store {
		dst = slice("dst")
	}
	terms := func(x Mem, from, count int) {
		v := registers(count)
		each(v, func(i int) { VMOVUPD(x.Offset(32*i), v[i]) })
		by := YMM()
		VMOVUPD(shift, by)
		each(v, func(i int) { VSUBPD(by, v[i], v[i]) })
		v = exponential(v, spill)
		if store {
			each(v, func(i int) { VMOVUPD(v[i], dst.Offset(32*i)) })
			ADDQ(U32(32*count), dst.Base)
		}
		each(v, func(i int) {
			sum := acc.Offset(32 * (from + i))
			VADDPD(sum, v[i], v[i])
			VMOVUPD(v[i], sum)
		})
	}
	reduction{
		x: x, n: n,
		vectors: terms,
		tail: func(x Mem, r Register) {
			v, mask := YMM(), tailMask(r)
			VMASKMOVPD(x, mask, v)
			VSUBPD(shift, v, v)
			e := exponential([]VecVirtual{v}, spill)[0]
			if store {
				storeTail(e, dst, r, "tail")
			}
			VANDPD(tailMask(r), e, e)
			VADDPD(acc.Offset(32*3), e, e)
			VMOVUPD(e, acc.Offset(32*3))
		},
	}.emit("reduce")
	sums := registers(wide)
	each(sums, func(i int) { VMOVUPD(acc.Offset(32*i), sums[i]) })
	result(reduceSum(sums))
}

func exponentials() {
	mapping("expAVX2", "expAVX2 implements expGo. dst must be at least as long as x.", wide,
		func(g group) []VecVirtual { return exponential(g.x, g.spill) })
	exponentialSum("expSumAVX2", "func(dst, x []float64, shift float64) float64",
		"expSumAVX2 implements expSumGo. dst must be at least as long as x.", true)
	exponentialSum("sumExpAVX2", "func(x []float64, shift float64) float64",
		"sumExpAVX2 implements sumExpGo.", false)
	expPlus()
	mapping("softplusAVX2", "softplusAVX2 implements softplusGo. dst must be at least as long as x.", wide, softplus)
	mapping("logisticAVX2", "logisticAVX2 implements logisticGo. dst must be at least as long as x.", wide, logistic)
}

// negativeMagnitude sets x to −|x|.
func negativeMagnitude(x []VecVirtual) []VecVirtual {
	each(x, func(i int) { VORPD(const4("negZero", math.Copysign(0, -1)), x[i], x[i]) })
	return x
}

// softplus is max(x, 0) + log(1 + e^−|x|). It computes two logarithms at a time.
func softplus(g group) []VecVirtual {
	u := exponential(negativeMagnitude(g.x), g.spill)
	for i := 0; i < len(u); i += 2 {
		log1p(u[i:min(i+2, len(u))])
	}
	zero := zeros(1)[0]
	each(u, func(i int) {
		x := YMM()
		g.again(i, x)
		VMAXPD(x, zero, x)
		VADDPD(x, u[i], u[i])
	})
	return u
}

// logistic is e^min(x,0) / (1 + e^−|x|).
func logistic(g group) []VecVirtual {
	e := exponential(negativeMagnitude(g.x), g.spill)
	one := YMM()
	VMOVUPD(const4("one", 1), one)
	each(e, func(i int) {
		x := YMM()
		g.again(i, x)
		VBLENDVPD(x, e[i], one, x)
		VADDPD(e[i], one, e[i])
		VDIVPD(e[i], x, e[i])
	})
	return e
}
