package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reduction is a loop over x that combines the elements in four accumulators, as kernel's type
// lanes does. Sixteen elements at a time go to all four accumulators. If eight or more elements
// remain, eight go to the first two accumulators. If four or more remain then, four go to the third
// accumulator. The last one to three elements go to the fourth accumulator.
type reduction struct {
	x Mem
	n Register
	// vectors combines the next elements, at x, with count accumulators, beginning with accumulator
	// from.
	vectors func(x Mem, from, count int)
	// tail combines the last r elements, fewer than four, with the last accumulator.
	tail func(x Mem, r Register)
}

func (d reduction) emit(done string) {
	advance := func(elements int) {
		ADDQ(U8(8*elements), d.x.Base)
		SUBQ(U8(elements), d.n)
	}
	SUBQ(U8(16), d.n)
	JL(LabelRef("rest"))
	Label("block")
	d.vectors(d.x, 0, 4)
	ADDQ(U8(8*16), d.x.Base)
	SUBQ(U8(16), d.n)
	JGE(LabelRef("block"))
	Label("rest")
	ADDQ(U8(16), d.n)
	CMPQ(d.n, U8(8))
	JL(LabelRef("four"))
	d.vectors(d.x, 0, 2)
	advance(8)
	Label("four")
	CMPQ(d.n, U8(4))
	JL(LabelRef("tail"))
	d.vectors(d.x, 2, 1)
	advance(4)
	Label("tail")
	TESTQ(d.n, d.n)
	JZ(LabelRef(done))
	d.tail(d.x, d.n)
	Label(done)
}

func sum() {
	TEXT("sumAVX2", attrLeaf, "func(x []float64) float64")
	Doc("sumAVX2 implements sumGo.")
	Pragma("noescape")
	acc := zeros(4)
	reduction{
		x: slice("x"), n: length("x"),
		vectors: func(x Mem, from, count int) {
			for i := range count {
				VADDPD(x.Offset(32*i), acc[from+i], acc[from+i])
			}
		},
		tail: func(x Mem, r Register) {
			v := YMM()
			VMASKMOVPD(x, tailMask(r), v)
			VADDPD(v, acc[3], acc[3])
		},
	}.emit("reduce")
	result(reduceSum(acc))
}

// maximum writes the loop of kernel.Max. acc has the largest numbers. VMAXPD loses a NaN, so nan
// marks the lanes in which a NaN occurred.
func maximum() {
	TEXT("maxAVX2", attrLeaf, "func(x []float64) float64")
	Doc("maxAVX2 implements maxGo.")
	Pragma("noescape")
	acc, nan := registers(4), zeros(2)
	lowest := const4("negInf", math.Inf(-1))
	each(acc, func(i int) { VMOVUPD(lowest, acc[i]) })
	fold := func(v VecVirtual, into int) {
		VMAXPD(v, acc[into], acc[into])
		VCMPPD(U8(3), v, v, v) // unordered
		VORPD(v, nan[into%2], nan[into%2])
	}
	reduction{
		x: slice("x"), n: length("x"),
		vectors: func(x Mem, from, count int) {
			for i := range count {
				v := YMM()
				VMOVUPD(x.Offset(32*i), v)
				fold(v, from+i)
			}
		},
		tail: func(x Mem, r Register) {
			v, mask := YMM(), tailMask(r)
			VMASKMOVPD(x, mask, v)
			fill := YMM()
			VMOVUPD(lowest, fill)
			VBLENDVPD(mask, v, fill, v)
			fold(v, 3)
		},
	}.emit("reduce")
	VMAXPD(acc[1], acc[0], acc[0])
	VMAXPD(acc[3], acc[2], acc[2])
	VMAXPD(acc[2], acc[0], acc[0])
	m := horizontal(acc[0], func(a, b VecVirtual) { VMAXPD(b, a, a) })
	zero := XMM()
	VXORPD(zero, zero, zero)
	VADDSD(zero, m, m) // either zero becomes +0
	VORPD(nan[1], nan[0], nan[0])
	marks := GP32()
	VMOVMSKPD(nan[0], marks)
	TESTL(marks, marks)
	JZ(LabelRef("number"))
	VMOVSD(const4("nan", math.NaN()), m)
	Label("number")
	result(m)
}
