package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// maps512 generates the exponentials and logarithms with vectors of 512 bits. AVX-512 has enough
// registers for four vectors and all constants. It has masks, which replace blends and partial
// vectors, and an instruction that multiplies by a power of two. The last elements, fewer than 32,
// are processed one vector at a time.
func maps512() {
	mapping512("expAVX512", "expAVX512 implements expGo. dst must be at least as long as x.", 4,
		func(g group512) []VecVirtual { return exponential512(g.x) })
	mapping512("softplusAVX512", "softplusAVX512 implements softplusGo. dst must be at least as long as x.", 4, softplus512)
	mapping512("logisticAVX512", "logisticAVX512 implements logisticGo. dst must be at least as long as x.", 4, logistic512)
	mapping512("logAVX512", "logAVX512 implements logGo. dst must be at least as long as x.", 2,
		func(g group512) []VecVirtual { return logarithm512(g.x) })
	expPlus512()
	exponentialSum512("expSumAVX512", "func(dst, x []float64, shift float64) float64",
		"expSumAVX512 implements expSumGo. dst must be at least as long as x.", true)
	exponentialSum512("sumExpAVX512", "func(x []float64, shift float64) float64",
		"sumExpAVX512 implements sumExpGo.", false)
	expWalks512()
}

// registers512 returns n unset registers of 512 bits.
func registers512(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = ZMM()
	}
	return v
}

// held512 returns a register with eight copies of a constant.
func held512(name string, x float64) VecVirtual { return heldBits512(name, math.Float64bits(x)) }

func heldBits512(name string, w uint64) VecVirtual {
	v := ZMM()
	VPBROADCASTQ(bits4(name, w), v)
	return v
}

// negativeMagnitude512 sets x to −|x|.
func negativeMagnitude512(x []VecVirtual) []VecVirtual {
	sign := heldBits512("negZero", 1<<63)
	each(x, func(i int) { VPORQ(sign, x[i], x[i]) })
	return x
}

// softplus512 is softplus for vectors of 512 bits.
func softplus512(g group512) []VecVirtual {
	u := exponential512(negativeMagnitude512(g.x))
	for i := 0; i < len(u); i += 2 {
		u := u[i:min(i+2, len(u))]
		s, h, hr := atanhParts512(u)
		each(u, func(i int) { VFNMADD231PD(hr[i], s[i], h[i]) })
		each(u, func(i int) { VSUBPD(h[i], u[i], u[i]) })
	}
	zero, x := ZMM(), g.again()
	VPXORQ(zero, zero, zero)
	each(u, func(i int) { VMAXPD(x[i], zero, x[i]) })
	each(u, func(i int) { VADDPD(x[i], u[i], u[i]) })
	return u
}

// logistic512 is logistic for vectors of 512 bits.
func logistic512(g group512) []VecVirtual {
	e := exponential512(negativeMagnitude512(g.x))
	one, x := held512("one", 1), g.again()
	each(e, func(i int) {
		negative, v := K(), ZMM()
		VPMOVQ2M(x[i], negative)
		VBLENDMPD(e[i], one, negative, v)
		VADDPD(one, e[i], e[i])
		VDIVPD(e[i], v, e[i])
	})
	return e
}

// atanhParts512 is atanhParts for vectors of 512 bits.
func atanhParts512(f []VecVirtual) (s, h, hr []VecVirtual) {
	n := len(f)
	s, h = registers512(n), registers512(n)
	z, z2 := registers512(n), registers512(n)
	two, half := held512("two", 2), held512("half", 0.5)
	each(f, func(i int) { VADDPD(two, f[i], s[i]) })
	each(f, func(i int) { VDIVPD(s[i], f[i], s[i]) })
	each(f, func(i int) { VMULPD(s[i], s[i], z[i]) })
	each(f, func(i int) { VMULPD(z[i], z[i], z2[i]) })
	hr = atOnce.evenOdd("atanh", atanhPolynomial, z, z2)
	each(f, func(i int) { VMULPD(z[i], hr[i], hr[i]) })
	each(f, func(i int) { VMULPD(half, f[i], h[i]) })
	each(f, func(i int) { VMULPD(f[i], h[i], h[i]) })
	each(f, func(i int) { VADDPD(h[i], hr[i], hr[i]) })
	return s, h, hr
}

// logarithm512 is logarithm for vectors of 512 bits.
func logarithm512(x []VecVirtual) []VecVirtual {
	n := len(x)
	f, k := registers512(n), registers512(n)
	small := make([]Register, n)
	minNormal, two54 := held512("minNormal", 0x1p-1022), held512("two54", 0x1p54)
	each(x, func(i int) { small[i] = K(); VCMPPD(U8(0x11), minNormal, x[i], small[i]) }) // less than
	each(x, func(i int) { VMOVAPD(x[i], f[i]); VMULPD(two54, x[i], small[i], f[i]) })
	offset, bias := heldBits512("logOffset", oneBits-sqrtHalfBits), held512("two52bias", 0x1p52+1023)
	two52, fiftyFour := held512("two52", 0x1p52), held512("fiftyFour", 54)
	each(x, func(i int) { VPADDQ(offset, f[i], f[i]) })
	each(x, func(i int) { VPSRLQ(U8(52), f[i], k[i]) })
	each(x, func(i int) { VPORQ(two52, k[i], k[i]) })
	each(x, func(i int) { VSUBPD(bias, k[i], k[i]) })
	each(x, func(i int) { VSUBPD(fiftyFour, k[i], small[i], k[i]) })
	mantissa, sqrtHalf, one := heldBits512("mantissa", mantissaBits), heldBits512("sqrtHalf", sqrtHalfBits), held512("one", 1)
	each(x, func(i int) { VPANDQ(mantissa, f[i], f[i]) })
	each(x, func(i int) { VPADDQ(sqrtHalf, f[i], f[i]) })
	each(x, func(i int) { VSUBPD(one, f[i], f[i]) })

	s, h, hr := atanhParts512(f)
	ln2High, ln2Low := held512("ln2Hi", ln2Hi), held512("ln2Lo", ln2Lo)
	each(x, func(i int) { VMULPD(s[i], hr[i], hr[i]) })
	each(x, func(i int) { VFMADD231PD(ln2Low, k[i], hr[i]) })
	each(x, func(i int) { VSUBPD(hr[i], h[i], h[i]) })
	each(x, func(i int) { VSUBPD(f[i], h[i], h[i]) })
	each(x, func(i int) { VFMSUB132PD(ln2High, h[i], k[i]) })

	zero, ones := ZMM(), heldBits512("ones", ^uint64(0))
	VPXORQ(zero, zero, zero)
	negInf, posInf := held512("negInf", math.Inf(-1)), held512("posInf", math.Inf(1))
	each(x, func(i int) {
		m := K()
		VCMPPD(U8(0x19), zero, x[i], m) // not greater or equal: negative, or NaN
		VMOVAPD(ones, m, k[i])
		VCMPPD(U8(0), zero, x[i], m)
		VMOVAPD(negInf, m, k[i])
		VCMPPD(U8(0), posInf, x[i], m)
		VMOVAPD(posInf, m, k[i])
	})
	return k
}

// group512 is a group of vectors that a mapping processes together.
type group512 struct {
	x     []VecVirtual
	again func() []VecVirtual // loads the vectors, before f changed them, into new registers
}

// mapping512 writes a function that sets dst[i] = f(x[i]) with the given number of vectors at a
// time.
func mapping512(name, doc string, vectors int, f func(g group512) []VecVirtual) {
	TEXT(name, attrLeaf, "func(dst, x []float64)")
	Doc(doc)
	Pragma("noescape")
	dst, x := slice("dst"), slice("x")
	loop512{
		n: length("x"), vectors: vectors,
		pass: func(count int, part Register) {
			load := func() []VecVirtual { return load512(x, count, part) }
			store512(f(group512{load(), load}), dst, part)
		},
		advance: []Mem{x, dst},
	}.emit()
	VZEROUPPER()
	RET()
}

// expPlus512 is expPlus for vectors of 512 bits.
func expPlus512() {
	TEXT("expPlusAVX512", attrLeaf, "func(dst, x []float64, a float64, y []float64)")
	Doc("expPlusAVX512 implements expPlusGo. dst and y must be at least as long as x.")
	Pragma("noescape")
	low, a := Load(Param("a"), XMM()), ZMM()
	VBROADCASTSD(low, a)
	dst, x, y := slice("dst"), slice("x"), slice("y")
	loop512{
		n: length("x"), vectors: 4,
		pass: func(count int, part Register) {
			v, w := load512(x, count, part), load512(y, count, part)
			each(v, func(i int) { VFMADD231PD(a, w[i], v[i]) })
			store512(exponential512(v), dst, part)
		},
		advance: []Mem{x, y, dst},
	}.emit()
	VZEROUPPER()
	RET()
}

// loop512 is a loop over n elements. It processes the given number of vectors at a time, then
// single vectors, then the remaining elements.
type loop512 struct {
	n       Register
	vectors int
	// pass processes count vectors. If part is not nil, it is the mask of a partial vector, and
	// count is 1.
	pass    func(count int, part Register)
	advance []Mem
}

func (l loop512) emit() {
	step := func(vectors int, label, after string) {
		SUBQ(U8(8*vectors), l.n)
		JL(LabelRef(after))
		Label(label)
		l.pass(vectors, nil)
		for _, m := range l.advance {
			ADDQ(U32(64*vectors), m.Base)
		}
		SUBQ(U8(8*vectors), l.n)
		JGE(LabelRef(label))
		Label(after)
		ADDQ(U8(8*vectors), l.n)
	}
	step(l.vectors, "block", "less")
	step(1, "one", "rest")
	JZ(LabelRef("done"))
	l.pass(1, firstLanes(l.n))
	Label("done")
}

// firstLanes returns a mask of the first n lanes, n ≤ 8.
func firstLanes(n Register) Register {
	ones, mask := GP64(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVB(ones.As32(), mask)
	return mask
}

// load512 loads count vectors. If part is not nil, it loads the lanes of one vector that the mask
// part selects, and sets the other lanes to zero.
func load512(x Mem, count int, part Register) []VecVirtual {
	v := registers512(count)
	each(v, func(i int) {
		if part != nil {
			VMOVUPD_Z(x, part, v[i])
			return
		}
		VMOVUPD(x.Offset(64*i), v[i])
	})
	return v
}

func store512(v []VecVirtual, dst Mem, part Register) {
	each(v, func(i int) {
		if part != nil {
			VMOVUPD(v[i], part, dst)
			return
		}
		VMOVUPD(v[i], dst.Offset(64*i))
	})
}

// exponentialSum512 is exponentialSum for vectors of 512 bits. The sixteen lanes of the sum are two
// registers, acc[0] and acc[1]. If eight or more elements remain after the loop, eight go to
// acc[0]. If four or more remain then, four go to the lower half of acc[1]. The last one to three
// elements go to the upper half of acc[1].
func exponentialSum512(name, signature, doc string, store bool) {
	TEXT(name, attrLeaf, signature)
	Doc(doc)
	Pragma("noescape")
	low, shift := Load(Param("shift"), XMM()), ZMM()
	VBROADCASTSD(low, shift)
	acc := registers512(2)
	each(acc, func(i int) { VPXORQ(acc[i], acc[i], acc[i]) })
	x, n := slice("x"), length("x")
	all := []Mem{x}
	dst := Mem{}
	if store {
		dst = slice("dst")
		all = append(all, dst)
	}
	terms := func(count int, part Register) []VecVirtual {
		v := load512(x, count, part)
		each(v, func(i int) { VSUBPD(shift, v[i], v[i]) })
		v = exponential512(v)
		if store {
			store512(v, dst, part)
		}
		return v
	}
	step := func(vectors int) {
		v := terms(vectors, nil)
		each(v, func(i int) { VADDPD(v[i], acc[i%2], acc[i%2]) })
		for _, m := range all {
			ADDQ(U32(64*vectors), m.Base)
		}
	}
	SUBQ(U8(32), n)
	JL(LabelRef("sixteen"))
	Label("block")
	step(4)
	SUBQ(U8(32), n)
	JGE(LabelRef("block"))
	Label("sixteen")
	TESTQ(U32(16), n)
	JZ(LabelRef("eight"))
	step(2)
	Label("eight")
	TESTQ(U32(8), n)
	JZ(LabelRef("rest"))
	step(1)
	Label("rest")
	ANDQ(U8(7), n)
	JZ(LabelRef("sum"))
	e := newRest512(n)
	for _, m := range all {
		LEAQ(m.Idx(e.back, 8), m.Base)
	}
	v := terms(1, e.there)[0]
	VMOVAPD_Z(v, e.there, v)
	VADDPD(v, acc[1], e.lanes, acc[1])

	Label("sum")
	sums := registers(2)
	each(sums, func(i int) {
		VEXTRACTF64X4(U8(1), acc[i], sums[i])
		VADDPD(sums[i], acc[i].AsY(), sums[i])
	})
	VADDPD(sums[1], sums[0], sums[0])
	result(horizontal(sums[0], func(a, b VecVirtual) { VADDPD(b, a, a) }))
}

// rest512 describes how the last elements, fewer than eight, are added to the eight lanes of a
// register. If there are four or more, the first four elements go to the lower four lanes. The
// other elements, one to three, go to the upper four lanes and are padded with zeros.
type rest512 struct {
	back  Register // offset of the load in elements: 0, or −4 if fewer than four elements go to the last lanes
	there Register // mask of the lanes with an element
	lanes Register // mask of the lanes that are added to
}

func newRest512(rest Register) rest512 {
	e := rest512{back: GP64(), there: K(), lanes: K()}
	there, lanes := GP64(), GP64()
	XORQ(e.back, e.back)
	MOVQ(I32(-1), there)
	BZHIQ(rest, there, there)
	MOVQ(U32(0xff), lanes)
	CMPQ(rest, U8(4))
	JG(LabelRef("masks"))
	JE(LabelRef("half"))
	SHLQ(U8(4), there)
	MOVQ(I32(-4), e.back)
	MOVQ(U32(0xf0), lanes)
	JMP(LabelRef("masks"))
	Label("half")
	MOVQ(U32(0x0f), lanes)
	Label("masks")
	KMOVB(there.As32(), e.there)
	KMOVB(lanes.As32(), e.lanes)
	return e
}
