package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// odds is the state of logisticRow's loop. It has two accumulators of four lanes. In each lane, the
// product of the factors 1 + r so far is 2^k·(1 + u).
type odds struct {
	a         VecVirtual
	e, grad   Mem
	u, k, sum []VecVirtual
}

// pass processes a vector of four pairs for each accumulator in into, and adds the pairs to it.
// load loads a vector, and put stores a vector of the gradient.
func (o odds) pass(into []int, load func(m Mem, v VecVirtual), put func(v VecVirtual, m Mem)) {
	r, p, g := registers(len(into)), registers(len(into)), registers(len(into))
	each(r, func(i int) { load(o.e.Offset(32*i), r[i]) })
	each(r, func(i int) { VMULPD(o.a, r[i], r[i]) })
	each(r, func(i int) { VADDPD(const4("one", 1), r[i], p[i]) })
	each(r, func(i int) { VDIVPD(p[i], r[i], p[i]) })
	each(r, func(i int) { load(o.grad.Offset(32*i), g[i]) })
	each(r, func(i int) { VADDPD(p[i], g[i], g[i]) })
	each(r, func(i int) { put(g[i], o.grad.Offset(32*i)) })
	for i, j := range into {
		VADDPD(p[i], o.sum[j], o.sum[j])
		w := YMM()
		VADDPD(r[i], o.u[j], w)
		VFMADD213PD(w, r[i], o.u[j])
	}
}

// normalise moves the exponent of 1 + u ≥ 2 to k, for accumulator j.
func (o odds) normalise(j int) {
	t, big, m := YMM(), YMM(), YMM()
	one := YMM()
	VMOVUPD(const4("one", 1), one)
	VADDPD(one, o.u[j], t)
	VCMPPD(U8(0x1d), one, o.u[j], big) // at least
	VPSRLQ(U8(52), t, m)
	VPSUBQ(bits4("bias", 1023), m, m)
	VPAND(big, m, m)
	VPADDQ(m, o.k[j], o.k[j])
	VPAND(bits4("mantissa", mantissaBits), t, m)
	VPOR(one, m, m)
	VSUBPD(one, m, m)
	VBLENDVPD(big, m, o.u[j], o.u[j])
}

// combine sets a to the u of the product of two factors: a + b + a·b.
func combine(a, b, scratch VecVirtual) {
	VADDPD(b, a, scratch)
	VFMADD213PD(scratch, b, a)
}

// logisticRow accumulates Π (1 + r) − 1 instead of the product, so that a row of tiny odds r loses
// no precision. It moves the exponent of the product to k after every eight factors, so that the
// product does not overflow for r ≤ 2^100. The bottleneck is one division per vector.
func logisticRow() {
	TEXT("logisticRowAVX2", attrLeaf, "func(a float64, e, grad []float64) (u float64, k int64, probSum float64)")
	Doc("logisticRowAVX2 implements logisticRowGo. grad must be at least as long as e.")
	Pragma("noescape")
	o := odds{a: broadcast("a"), e: slice("e"), grad: slice("grad"), u: zeros(2), k: zeros(2), sum: zeros(2)}
	n, factors := length("e"), GP64()
	vector := func(m Mem, v VecVirtual) { VMOVUPD(m, v) }
	store := func(v VecVirtual, m Mem) { VMOVUPD(v, m) }
	advance := func(elements int) {
		ADDQ(U8(8*elements), o.e.Base)
		ADDQ(U8(8*elements), o.grad.Base)
	}

	MOVQ(U32(8), factors)
	SUBQ(U8(8), n)
	JL(LabelRef("four"))
	Label("eight")
	o.pass([]int{0, 1}, vector, store)
	advance(8)
	DECQ(factors)
	JNZ(LabelRef("next"))
	o.normalise(0)
	o.normalise(1)
	MOVQ(U32(8), factors)
	Label("next")
	SUBQ(U8(8), n)
	JGE(LabelRef("eight"))

	Label("four")
	ADDQ(U8(8), n)
	CMPQ(n, U8(4))
	JL(LabelRef("tail"))
	o.pass([]int{0}, vector, store)
	advance(4)
	SUBQ(U8(4), n)
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("reduce"))
	mask := tailMask(n)
	o.pass([]int{1},
		func(m Mem, v VecVirtual) { VMASKMOVPD(m, mask, v) },
		func(v VecVirtual, m Mem) { storeTail(v, m, n, "tail") })

	Label("reduce")
	o.normalise(0)
	o.normalise(1)
	combine(o.u[0], o.u[1], YMM())
	VPADDQ(o.k[1], o.k[0], o.k[0])
	VADDPD(o.sum[1], o.sum[0], o.sum[0])
	u := horizontal(o.u[0], func(a, b VecVirtual) { combine(a, b, XMM()) })
	k := horizontal(o.k[0], func(a, b VecVirtual) { VPADDQ(b, a, a) })
	probSum := horizontal(o.sum[0], func(a, b VecVirtual) { VADDPD(b, a, a) })
	VZEROUPPER()
	Store(u, Return("u"))
	k64 := GP64()
	VMOVQ(k, k64)
	Store(k64, Return("k"))
	Store(probSum, Return("probSum"))
	RET()
}

// slopeRow writes the loop of kernel.SlopeRow. The bottleneck is one division per vector.
func slopeRow() {
	TEXT("slopeRowAVX2", attrLeaf, "func(a, c float64, e, grad []float64) float64")
	Doc("slopeRowAVX2 implements slopeRowGo. grad must be at least as long as e.")
	Pragma("noescape")
	e, grad, n := slice("e"), slice("grad"), length("e")
	a, c, sum := YMM(), YMM(), zeros(2)
	VBROADCASTSD(parameter("a"), a)
	VBROADCASTSD(parameter("c"), c)
	pass := func(into []int, load func(m Mem, v VecVirtual), put func(v VecVirtual, m Mem)) {
		r, d, g := registers(len(into)), registers(len(into)), registers(len(into))
		each(r, func(i int) { load(e.Offset(32*i), r[i]) })
		each(r, func(i int) { VMULPD(a, r[i], r[i]) })
		each(r, func(i int) { VADDPD(const4("one", 1), r[i], d[i]) })
		each(r, func(i int) { VMULPD(d[i], d[i], d[i]) })
		each(r, func(i int) { VDIVPD(d[i], r[i], r[i]) })
		each(r, func(i int) { load(grad.Offset(32*i), g[i]) })
		each(r, func(i int) { VFMADD231PD(r[i], c, g[i]) })
		each(r, func(i int) { put(g[i], grad.Offset(32*i)) })
		for i, j := range into {
			VADDPD(r[i], sum[j], sum[j])
		}
	}
	vector := func(m Mem, v VecVirtual) { VMOVUPD(m, v) }
	store := func(v VecVirtual, m Mem) { VMOVUPD(v, m) }
	advance := func(elements int) {
		ADDQ(U8(8*elements), e.Base)
		ADDQ(U8(8*elements), grad.Base)
	}
	SUBQ(U8(8), n)
	JL(LabelRef("four"))
	Label("eight")
	pass([]int{0, 1}, vector, store)
	advance(8)
	SUBQ(U8(8), n)
	JGE(LabelRef("eight"))
	Label("four")
	ADDQ(U8(8), n)
	CMPQ(n, U8(4))
	JL(LabelRef("tail"))
	pass([]int{0}, vector, store)
	advance(4)
	SUBQ(U8(4), n)
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("reduce"))
	mask := tailMask(n)
	pass([]int{1},
		func(m Mem, v VecVirtual) { VMASKMOVPD(m, mask, v) },
		func(v VecVirtual, m Mem) { storeTail(v, m, n, "tail") })
	Label("reduce")
	VADDPD(sum[1], sum[0], sum[0])
	result(horizontal(sum[0], func(a, b VecVirtual) { VADDPD(b, a, a) }))
}

// logisticRows writes the loop of logisticRow for many rows. The products continue from row to row.
// Rows end in padding instead of a masked vector. So a row loads grad in the same vectors in which
// the row before stored it, and the processor forwards the stored data without a stall.
func logisticRows() {
	TEXT("logisticRowsAVX2", attrLeaf, "func(a, e, grad []float64, from []int32) (u float64, k int64)")
	Doc("logisticRowsAVX2 implements logisticRowsGo for at least one row.")
	Pragma("noescape")
	a, e, grad, from := slice("a"), slice("e"), slice("grad"), slice("from")
	rows, end := length("a"), length("e")
	LEAQ(Mem{Base: end, Disp: -rowPadding}, end)
	o := odds{a: YMM(), e: Mem{Base: GP64()}, grad: Mem{Base: GP64()}, u: zeros(2), k: zeros(2), sum: registers(2)}
	n, factors := GP64(), GP64()
	vector := func(m Mem, v VecVirtual) { VMOVUPD(m, v) }
	store := func(v VecVirtual, m Mem) { VMOVUPD(v, m) }
	count := func(done string) {
		DECQ(factors)
		JNZ(LabelRef(done))
		o.normalise(0)
		o.normalise(1)
		MOVQ(U32(8), factors)
	}
	MOVQ(U32(8), factors)

	Label("row")
	VBROADCASTSD(a, o.a)
	each(o.sum, func(i int) { VXORPD(o.sum[i], o.sum[i], o.sum[i]) })
	MOVLQSX(from, n)
	LEAQ(e.Idx(n, 8), o.e.Base)
	LEAQ(grad.Idx(n, 8), o.grad.Base)
	NEGQ(n)
	ADDQ(end, n)
	SUBQ(U8(5), n)
	JL(LabelRef("rest"))
	Label("eight")
	o.pass([]int{0, 1}, vector, store)
	ADDQ(U8(64), o.e.Base)
	ADDQ(U8(64), o.grad.Base)
	count("counted")
	Label("counted")
	SUBQ(U8(8), n)
	JGE(LabelRef("eight"))

	Label("rest")
	ADDQ(U8(5), n)
	JLE(LabelRef("reduce"))
	CMPQ(n, U8(4))
	JE(LabelRef("four"))
	o.pass([]int{1}, vector, store)
	JMP(LabelRef("restCount"))
	Label("four")
	o.pass([]int{0}, vector, store)
	Label("restCount")
	count("reduce")
	Label("reduce")
	VADDPD(o.sum[1], o.sum[0], o.sum[0])
	VMOVSD(horizontal(o.sum[0], func(a, b VecVirtual) { VADDPD(b, a, a) }), a)
	ADDQ(U8(8), a.Base)
	ADDQ(U8(4), from.Base)
	DECQ(rows)
	JNZ(LabelRef("row"))

	o.normalise(0)
	o.normalise(1)
	combine(o.u[0], o.u[1], YMM())
	VPADDQ(o.k[1], o.k[0], o.k[0])
	u := horizontal(o.u[0], func(a, b VecVirtual) { combine(a, b, XMM()) })
	k := horizontal(o.k[0], func(a, b VecVirtual) { VPADDQ(b, a, a) })
	VZEROUPPER()
	Store(u, Return("u"))
	k64 := GP64()
	VMOVQ(k, k64)
	Store(k64, Return("k"))
	RET()
}

// rowPadding must equal kernel.RowPadding.
const rowPadding = 7
