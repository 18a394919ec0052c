package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// adam writes the loop of kernel.Adam. The bottleneck is one square root and one division per
// vector, about fifteen cycles.
func adam() {
	TEXT("adamAVX2", attrLeaf, "func(x, grad, m, v []float64, beta1, beta2, rate, epsilon float64)")
	Doc("adamAVX2 implements adamGo. All slices must have the length of x.")
	Pragma("noescape")
	beta1, beta2, rate, epsilon := broadcast("beta1"), broadcast("beta2"), broadcast("rate"), broadcast("epsilon")
	rest1, rest2 := YMM(), YMM()
	VMOVUPD(const4("one", 1), rest1)
	VSUBPD(beta2, rest1, rest2)
	VSUBPD(beta1, rest1, rest1)
	x, grad, m, v, n := slice("x"), slice("grad"), slice("m"), slice("v"), length("x")
	advance := func(elements int) {
		for _, s := range []Mem{x, grad, m, v} {
			ADDQ(U8(8*elements), s.Base)
		}
		SUBQ(U8(elements), n)
	}

	CMPQ(n, U8(4))
	JL(LabelRef("tail"))
	Label("four")
	g, mean, square, by := YMM(), YMM(), YMM(), YMM()
	VMOVUPD(grad, g)
	VMOVUPD(m, mean)
	VMOVUPD(v, square)
	VMULPD(g, rest2, by)
	VMULPD(g, by, by)
	VFMADD213PD(by, beta2, square)
	VMOVUPD(square, v)
	VSQRTPD(square, square)
	VADDPD(epsilon, square, square)
	VMULPD(g, rest1, g)
	VFMADD213PD(g, beta1, mean)
	VMOVUPD(mean, m)
	VMULPD(mean, rate, mean)
	VDIVPD(square, mean, mean)
	VMOVUPD(x, by)
	VSUBPD(mean, by, by)
	VMOVUPD(by, x)
	advance(4)
	CMPQ(n, U8(4))
	JGE(LabelRef("four"))

	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("one")
	g1, mean1, square1, by1 := XMM(), XMM(), XMM(), XMM()
	VMOVSD(grad, g1)
	VMOVSD(m, mean1)
	VMOVSD(v, square1)
	VMULSD(g1, rest2.AsX(), by1)
	VMULSD(g1, by1, by1)
	VFMADD213SD(by1, beta2.AsX(), square1)
	VMOVSD(square1, v)
	VSQRTSD(square1, square1, square1)
	VADDSD(epsilon.AsX(), square1, square1)
	VMULSD(g1, rest1.AsX(), g1)
	VFMADD213SD(g1, beta1.AsX(), mean1)
	VMOVSD(mean1, m)
	VMULSD(mean1, rate.AsX(), mean1)
	VDIVSD(square1, mean1, mean1)
	VMOVSD(x, by1)
	VSUBSD(mean1, by1, by1)
	VMOVSD(by1, x)
	advance(1)
	JNZ(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}
