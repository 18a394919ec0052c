package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// atanhParts returns three terms of log(1+f) = f − (h − s·(h+r)): s = f/(2+f), h = f²/2 and h+r.
// The polynomial computes r = 2·atanh(s)/s − 2.
func atanhParts(f []VecVirtual) (s, h, hr []VecVirtual) {
	n := len(f)
	s = registers(n)
	z, z2 := registers(n), registers(n)
	each(f, func(i int) { VADDPD(const4("two", 2), f[i], s[i]) })
	each(f, func(i int) { VDIVPD(s[i], f[i], s[i]) })
	each(f, func(i int) { VMULPD(s[i], s[i], z[i]) })
	each(f, func(i int) { VMULPD(z[i], z[i], z2[i]) })
	hr = evenOdd(polynomial4("atanh", atanhPolynomial), z, z2)
	each(f, func(i int) { VMULPD(z[i], hr[i], hr[i]) })
	h = z
	each(f, func(i int) { VMULPD(const4("half", 0.5), f[i], h[i]) })
	each(f, func(i int) { VMULPD(f[i], h[i], h[i]) })
	each(f, func(i int) { VADDPD(h[i], hr[i], hr[i]) })
	return s, h, hr
}

// log1p returns log(1+u) for 0 ≤ u ≤ 1, with the steps of elementary.Log1pUnit. It overwrites u.
func log1p(u []VecVirtual) []VecVirtual {
	s, h, hr := atanhParts(u)
	each(u, func(i int) { VFNMADD231PD(hr[i], s[i], h[i]) })
	each(u, func(i int) { VSUBPD(h[i], u[i], u[i]) })
	return u
}

// logarithm returns log x, with the steps of elementary.Log.
func logarithm(x []VecVirtual) []VecVirtual {
	n := len(x)
	f, k, small := registers(n), registers(n), registers(n)
	minNormal := const4("minNormal", 0x1p-1022)
	each(x, func(i int) { VCMPPD(U8(0x11), minNormal, x[i], small[i]) }) // less than
	each(x, func(i int) { VMULPD(const4("two54", 0x1p54), x[i], f[i]) })
	each(x, func(i int) { VBLENDVPD(small[i], f[i], x[i], f[i]) })
	each(x, func(i int) { VANDPD(const4("fiftyFour", 54), small[i], small[i]) })
	each(x, func(i int) { VPADDQ(bits4("logOffset", oneBits-sqrtHalfBits), f[i], f[i]) })
	each(x, func(i int) { VPSRLQ(U8(52), f[i], k[i]) })
	each(x, func(i int) { VPOR(const4("two52", 0x1p52), k[i], k[i]) })
	each(x, func(i int) { VSUBPD(const4("two52bias", 0x1p52+1023), k[i], k[i]) })
	each(x, func(i int) { VSUBPD(small[i], k[i], k[i]) })
	each(x, func(i int) { VPAND(bits4("mantissa", mantissaBits), f[i], f[i]) })
	each(x, func(i int) { VPADDQ(bits4("sqrtHalf", sqrtHalfBits), f[i], f[i]) })
	each(x, func(i int) { VSUBPD(const4("one", 1), f[i], f[i]) })

	s, h, hr := atanhParts(f)
	each(x, func(i int) { VMULPD(s[i], hr[i], hr[i]) })
	each(x, func(i int) { VFMADD231PD(const4("ln2Lo", ln2Lo), k[i], hr[i]) })
	each(x, func(i int) { VSUBPD(hr[i], h[i], h[i]) })
	each(x, func(i int) { VSUBPD(f[i], h[i], h[i]) })
	each(x, func(i int) { VFMSUB132PD(const4("ln2Hi", ln2Hi), h[i], k[i]) })

	each(x, func(i int) {
		m, v := YMM(), YMM()
		VXORPD(v, v, v)
		VCMPPD(U8(0x19), v, x[i], m) // not greater or equal: negative, or NaN
		VORPD(m, k[i], k[i])
		VCMPPD(U8(0), v, x[i], m) // zero
		VMOVUPD(const4("negInf", math.Inf(-1)), v)
		VBLENDVPD(m, v, k[i], k[i])
		VMOVUPD(const4("posInf", math.Inf(1)), v)
		VCMPPD(U8(0), v, x[i], m)
		VBLENDVPD(m, v, k[i], k[i])
	})
	return k
}

func logarithms() {
	mapping("logAVX2", "logAVX2 implements logGo. dst must be at least as long as x.", 2,
		func(g group) []VecVirtual { return logarithm(g.x) })
}
