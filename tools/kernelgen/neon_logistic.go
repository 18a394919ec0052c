package main

import "math"

// logisticRows writes the loops of the pairwise logistic loss. Their state is kernel's odds: u is
// in V0 to V3, sum in V4 to V7, and k in V8 to V11. V12 contains two copies of a, and V13 to V15
// contain constants.
func (n *neon) logisticRows() {
	n.function("logisticRowNEON", "(o *odds, a float64, e, grad []float64)", 64, "adds a row to o as logisticRowGo does, including the last normalisation of the products.")
	n.odds()
	n.pointer("e_base", 16, 1)
	n.pointer("e_len", 24, 2)
	n.pointer("grad_base", 40, 0)
	n.line("MOVD $8, R6")
	n.line("SUBS $8, R2, R2")
	n.line("BLT rest")
	n.label("block")
	n.factors(0, 4, whole)
	n.line("SUBS $1, R6, R6")
	n.line("BNE on")
	n.line("MOVD $8, R6")
	n.normalise()
	n.label("on")
	n.line("SUBS $8, R2, R2")
	n.line("BGE block")
	n.label("rest")
	n.line("ADD $8, R2, R2")
	n.line("TBZ $2, R2, tail")
	n.factors(0, 2, whole)
	n.label("tail")
	n.lastThree(func(acc vreg, s size) { n.factors(2+acc, 1, s) })
	n.normalise()
	n.storeOdds()
	n.line("RET")

	n.function("logisticPaddedNEON", "(o *odds, a float64, e, grad *float64, columns, left int) (then int)", 56,
		"adds a row of pairs, which must end in padding, to o as logisticRowsGo does. left is the number of factors until\n// the next normalisation of the products. The result is this number after the row.")
	n.odds()
	n.pointer("e", 16, 1)
	n.pointer("grad", 24, 0)
	n.pointer("columns", 32, 2)
	n.pointer("left", 40, 6)
	n.label("next")
	n.line("CMP $5, R2")
	n.line("BLT rest")
	n.factors(0, 4, whole)
	n.line("SUB $8, R2, R2")
	n.label("count")
	n.line("SUBS $1, R6, R6")
	n.line("BNE next")
	n.line("MOVD $8, R6")
	n.normalise()
	n.line("B next")
	n.label("rest")
	n.line("CMP $0, R2")
	n.line("BLE end")
	n.line("CMP $4, R2")
	n.line("BNE fewer")
	n.factors(0, 2, whole)
	n.line("MOVD $0, R2")
	n.line("B count")
	n.label("fewer")
	n.factors(2, 2, whole)
	n.line("MOVD $0, R2")
	n.line("B count")
	n.label("end")
	n.storeOdds()
	n.line("MOVD R6, then+48(FP)")
	n.line("RET")
}

func (n *neon) odds() {
	n.pointer("o", 0, 3)
	n.parameter("a", 8, 12)
	n.useTable(30, 31)
	n.hold(math.Float64bits(1), 13)
	n.hold(mantissaBits, 14)
	n.hold(1023, 15)
	for i := range 12 {
		n.load(whole, vreg(i), 3, 16*i)
	}
}

func (n *neon) storeOdds() {
	for i := range 12 {
		n.store(whole, vreg(i), 3, 16*i)
	}
}

// factors writes the code for the next pairs, which fill count registers of size s. r is a·e of a
// pair, and r/(1 + r) is its probability. factors multiplies the products 1 + u, in V(from) and the
// following registers, by 1 + r. It adds the probabilities to the sums of the same lanes and to grad.
func (n *neon) factors(from vreg, count int, s size) {
	for i := range vreg(count) {
		n.next(s, 16+i, 1)
	}
	for i := range vreg(count) {
		n.fmul(16+i, 16+i, 12)
	}
	for i := range vreg(count) {
		n.fadd(20+i, 16+i, 13)
	}
	for i := range vreg(count) {
		n.fdiv(20+i, 16+i, 20+i)
	}
	for i := range vreg(count) {
		u := from + i
		n.fadd(24, u, 16+i)
		n.fmla(24, u, 16+i)
		n.move(u, 24)
		n.load(s, 25, 0, 0)
		n.fadd(25, 25, 20+i)
		n.put(s, 25, 0)
		n.fadd(4+u, 4+u, 20+i)
	}
}

// normalise writes the code that divides the products 1 + u ≥ 2 by powers of two, and adds the
// exponents to k. u is in V0 to V3, and k in V8 to V11.
func (n *neon) normalise() {
	for u := range vreg(4) {
		n.fcmge(24, u, 13)
		n.fadd(25, u, 13)
		n.ushr(26, 25, 52)
		n.sub(26, 26, 15)
		n.and(26, 26, 24)
		n.add(8+u, 8+u, 26)
		n.and(25, 25, 14)
		n.orr(25, 25, 13)
		n.fsub(25, 25, 13)
		n.bit(u, 25, 24)
	}
}

// adam writes a step of the optimizer Adam, two elements at a time.
func (n *neon) adam() {
	n.function("adamNEON", "(x, grad, m, v []float64, beta1, rest1, beta2, rest2, rate, epsilon float64)", 144,
		"implements adamGo with rest1 = 1 − beta1 and rest2 = 1 − beta2. All slices must have the length of x.")
	n.pointer("x_base", 0, 0)
	n.pointer("x_len", 8, 2)
	n.pointer("grad_base", 24, 1)
	n.pointer("m_base", 48, 3)
	n.pointer("v_base", 72, 4)
	for i, name := range []string{"beta1", "rest1", "beta2", "rest2", "rate", "epsilon"} {
		n.parameter(name, 96+8*i, vreg(16+i))
	}
	step := func(s size) {
		n.next(s, 0, 1)
		n.load(s, 1, 3, 0)
		n.load(s, 2, 4, 0)
		n.load(s, 3, 0, 0)
		n.fmul(4, 0, 17)
		n.fmla(4, 1, 16)
		n.put(s, 4, 3)
		n.fmul(5, 0, 19)
		n.fmul(5, 5, 0)
		n.fmla(5, 2, 18)
		n.put(s, 5, 4)
		n.fsqrt(5, 5)
		n.fadd(5, 5, 21)
		n.fmul(4, 4, 20)
		n.fdiv(4, 4, 5)
		n.fsub(3, 3, 4)
		n.put(s, 3, 0)
	}
	n.line("SUBS $2, R2, R2")
	n.line("BLT rest")
	n.label("block")
	step(whole)
	n.line("SUBS $2, R2, R2")
	n.line("BGE block")
	n.label("rest")
	n.line("TBZ $0, R2, done")
	step(double)
	n.label("done")
	n.line("RET")
}

func writeNEON(assembly, stubs string) error {
	var n neon
	n.reductions()
	n.matrices()
	n.maps()
	n.logisticRows()
	n.adam()
	return n.write(assembly, stubs)
}
