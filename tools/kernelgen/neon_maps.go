package main

import "math"

// neonMap describes a loop that maps every element of a slice to a result. A stream is one of the
// registers that are processed together. body gets the registers of all streams, which it may
// overwrite, and returns registers with the results. again(i, d) loads the elements of stream i into
// d once more.
type neonMap struct {
	streams int                    // number of streams
	input   func(i int) vreg       // returns the register that the elements of stream i are loaded into
	before  func(s size, x []vreg) // called after the elements are loaded; advances other pointers
	body    func(x []vreg, again func(i int, d vreg)) []vreg
}

// mapped writes the loop of a mapping. R0 contains the address of dst, R1 the address of x, and R2
// the number of elements.
func (n *neon) mapped(m neonMap) {
	pass := func(streams int, s size) {
		x := make([]vreg, streams)
		for i := range x {
			x[i] = m.input(i)
			n.load(s, x[i], 1, s.bytes*i)
		}
		if m.before != nil {
			m.before(s, x)
		}
		y := m.body(x, func(i int, d vreg) { n.load(s, d, 1, s.bytes*i) })
		n.line("ADD $%d, R1, R1", s.bytes*streams)
		for _, r := range y {
			n.put(s, r, 0)
		}
	}
	elements := 2 * m.streams
	n.line("SUBS $%d, R2, R2", elements)
	n.line("BLT rest")
	n.label("block")
	pass(m.streams, whole)
	n.line("SUBS $%d, R2, R2", elements)
	n.line("BGE block")
	n.label("rest")
	n.line("ADD $%d, R2, R2", elements)
	if m.streams == 2 {
		n.line("TBZ $1, R2, one")
		pass(1, whole)
		n.label("one")
	}
	n.line("TBZ $0, R2, done")
	pass(1, double)
	n.label("done")
	n.line("RET")
}

func (n *neon) slices() {
	n.pointer("dst_base", 0, 0)
	n.pointer("x_base", 24, 1)
	n.pointer("x_len", 32, 2)
}

// holdExponential loads the constants of the exponential into V12 to V28. V30 and V31 are scratch
// registers for other constants. Stream i (see neonMap), 0 or 1, uses V(6i) to V(6i+5).
func (n *neon) holdExponential() {
	n.useTable(30, 31)
	for i, c := range []float64{expHigh, expLow, math.Log2E, expMagic, ln2Hi, ln2Lo, 1} {
		n.hold(math.Float64bits(c), vreg(12+i))
	}
	for i, c := range expPolynomial {
		n.hold(math.Float64bits(c), vreg(19+i))
	}
}

// eachStream calls do for the register of each stream. So the instructions of the streams alternate
// and the processor overlaps them.
func (n *neon) eachStream(x []vreg, do func(r vreg)) {
	for _, r := range x {
		do(r)
	}
}

// exponential computes elementary.Exp of the registers x, which are V0 and V6. It replaces each of
// them by its results and overwrites the five registers after it.
func (n *neon) exponential(x []vreg) []vreg {
	high, low := n.float(expHigh), n.float(expLow)
	n.eachStream(x, func(r vreg) { n.fmin(r, r, high) })
	n.eachStream(x, func(r vreg) { n.fmax(r, r, low) })
	n.eachStream(x, func(r vreg) { n.move(r+1, n.float(expMagic)) })
	n.eachStream(x, func(r vreg) { n.fmla(r+1, r, n.float(math.Log2E)) })
	n.eachStream(x, func(r vreg) { n.fsub(r+2, r+1, n.float(expMagic)) })
	n.eachStream(x, func(r vreg) { n.fmls(r, r+2, n.float(ln2Hi)) })
	n.eachStream(x, func(r vreg) { n.fmls(r, r+2, n.float(ln2Lo)) })
	n.eachStream(x, func(r vreg) { n.fmul(r+2, r, r) })
	n.polynomial(expPolynomial, x, func(r vreg) vreg { return r }, func(r vreg) vreg { return r + 2 }, 3)
	n.eachStream(x, func(r vreg) { n.fmla(r, r+3, r+2) })
	n.eachStream(x, func(r vreg) { n.fadd(r, r, n.float(1)) })
	n.eachStream(x, func(r vreg) { n.ushr(r+2, r+1, 1) })
	n.eachStream(x, func(r vreg) { n.sub(r+1, r+1, r+2) })
	n.eachStream(x, func(r vreg) { n.shl(r+2, r+2, 52) })
	n.eachStream(x, func(r vreg) { n.shl(r+1, r+1, 52) })
	n.eachStream(x, func(r vreg) { n.fmul(r, r, r+2) })
	n.eachStream(x, func(r vreg) { n.fmul(r, r, r+1) })
	return x
}

// polynomial computes the polynomial c of z as elementary's evenOdd does, for every stream. z and
// z2 return the registers of z and z² for the stream whose first register is r. The result is in
// register r+at, and polynomial overwrites r+at+1 and r+at+2.
func (n *neon) polynomial(c []float64, x []vreg, z, z2 func(r vreg) vreg, at vreg) {
	even, odd, free := at, at+1, at+2
	n.eachStream(x, func(r vreg) { n.move(r+even, n.float(c[8])) })
	n.eachStream(x, func(r vreg) { n.move(r+odd, n.float(c[9])) })
	for j := 6; j >= 0; j -= 2 {
		n.eachStream(x, func(r vreg) { n.move(r+free, n.float(c[j])) })
		n.eachStream(x, func(r vreg) { n.fmla(r+free, r+even, z2(r)) })
		even, free = free, even
		n.eachStream(x, func(r vreg) { n.move(r+free, n.float(c[j+1])) })
		n.eachStream(x, func(r vreg) { n.fmla(r+free, r+odd, z2(r)) })
		odd, free = free, odd
	}
	n.eachStream(x, func(r vreg) { n.fmla(r+even, r+odd, z(r)) })
	if even != at {
		n.eachStream(x, func(r vreg) { n.move(r+at, r+even) })
	}
}

func (n *neon) maps() {
	stream := func(i int) vreg { return vreg(6 * i) }
	exponential := func(name, doc string, body func(x []vreg, again func(int, vreg)) []vreg) {
		n.function(name, "(dst, x []float64)", 48, doc)
		n.slices()
		n.holdExponential()
		n.mapped(neonMap{streams: 2, input: stream, body: body})
	}
	exponential("expNEON", "implements expGo. dst must be at least as long as x.", func(x []vreg, _ func(int, vreg)) []vreg { return n.exponential(x) })
	exponential("softplusNEON", "implements softplusGo. dst must be at least as long as x.", n.softplus)
	exponential("logisticNEON", "implements logisticGo. dst must be at least as long as x.", n.logistic)

	n.function("expShiftNEON", "(dst, x []float64, shift float64)", 56, "sets dst to exp(x − shift). dst must be at least as long as x.")
	n.slices()
	n.holdExponential()
	n.parameter("shift", 48, 29)
	n.mapped(neonMap{streams: 2, input: stream,
		before: func(_ size, x []vreg) { n.eachStream(x, func(r vreg) { n.fsub(r, r, 29) }) },
		body:   func(x []vreg, _ func(int, vreg)) []vreg { return n.exponential(x) }})

	n.function("expPlusNEON", "(dst, x []float64, a float64, y []float64)", 80, "implements expPlusGo. dst and y must be at least as long as x.")
	n.slices()
	n.pointer("y_base", 56, 4)
	n.holdExponential()
	n.parameter("a", 48, 29)
	n.mapped(neonMap{streams: 2, input: stream,
		before: func(s size, x []vreg) {
			n.eachStream(x, func(r vreg) { n.next(s, r+1, 4) })
			n.eachStream(x, func(r vreg) { n.fmla(r, r+1, 29) })
		},
		body: func(x []vreg, _ func(int, vreg)) []vreg { return n.exponential(x) }})

	n.function("logNEON", "(dst, x []float64)", 48, "implements logGo. dst must be at least as long as x.")
	n.slices()
	n.useTable(22, 23, 30, 31)
	for i, c := range atanhPolynomial {
		n.hold(math.Float64bits(c), vreg(12+i))
	}
	n.mapped(neonMap{streams: 1, input: func(int) vreg { return 0 }, body: n.logarithm})
	n.elementwise()
}

const signBit = 1 << 63

func (n *neon) softplus(x []vreg, again func(int, vreg)) []vreg {
	n.eachStream(x, func(r vreg) { n.orr(r, r, n.constant(signBit)) })
	u := n.exponential(x)
	for _, r := range u { // one stream after the other, in the five registers after u
		s, hr, h := n.atanhParts(r, r+1)
		n.fmls(h, s, hr)
		n.fsub(r, r, h)
	}
	for i, r := range u {
		again(i, r+1)
		n.zero(r + 2)
		n.fmax(r+1, r+1, r+2)
		n.fadd(r, r, r+1)
	}
	return u
}

func (n *neon) logistic(x []vreg, again func(int, vreg)) []vreg {
	n.eachStream(x, func(r vreg) { n.orr(r, r, n.constant(signBit)) })
	e := n.exponential(x)
	for i, r := range e {
		again(i, r+1)
		n.negative(r+1, r+1)
		n.bsl(r+1, r, n.float(1))
		n.fadd(r, r, n.float(1))
		n.fdiv(r, r+1, r)
	}
	return e
}

// atanhParts computes elementary's atanhParts of f. It keeps f and overwrites the five registers
// from at on.
func (n *neon) atanhParts(f, at vreg) (s, hr, h vreg) {
	s, z, poly := at, at+1, at+2
	n.fadd(s, f, n.float(2))
	n.fdiv(s, f, s)
	n.fmul(z, s, s)
	hr = n.narrowPolynomial(atanhPolynomial, z, poly)
	n.fmul(hr, hr, z)
	h = z
	n.fmul(h, f, n.float(0.5))
	n.fmul(h, h, f)
	n.fadd(hr, h, hr)
	return s, hr, h
}

// narrowPolynomial computes a polynomial of z for one stream, in the three registers from at on,
// and returns the register of the result. It computes z² itself, in V29, which is free in all loops
// that call narrowPolynomial.
func (n *neon) narrowPolynomial(c []float64, z, at vreg) vreg {
	const z2 = 29
	n.fmul(z2, z, z)
	even, odd, free := at, at+1, at+2
	n.move(even, n.float(c[8]))
	n.move(odd, n.float(c[9]))
	for j := 6; j >= 0; j -= 2 {
		n.move(free, n.float(c[j]))
		n.fmla(free, even, z2)
		even, free = free, even
		n.move(free, n.float(c[j+1]))
		n.fmla(free, odd, z2)
		odd, free = free, odd
	}
	n.fmla(even, odd, z)
	return even
}

// logarithm computes elementary.Log of V0. It uses V0 to V11 and returns the register of the
// result.
func (n *neon) logarithm(x []vreg, _ func(int, vreg)) []vreg {
	const v, f, k, small, mask, u = 0, 1, 2, 3, 4, 5
	n.fcmgt(small, n.float(0x1p-1022), v)
	n.fmul(f, v, n.float(0x1p54))
	n.move(mask, small)
	n.bsl(mask, f, v)
	n.move(f, mask)
	n.and(small, small, n.float(54))
	n.add(f, f, n.constant(oneBits-sqrtHalfBits))
	n.ushr(k, f, 52)
	n.orr(k, k, n.float(0x1p52))
	n.fsub(k, k, n.float(0x1p52+1023))
	n.fsub(k, k, small)
	n.and(f, f, n.constant(mantissaBits))
	n.add(f, f, n.constant(sqrtHalfBits))
	n.fsub(f, f, n.float(1))
	s, hr, h := n.atanhParts(f, 6)
	n.fmul(u, s, hr)
	n.fmla(u, k, n.float(ln2Lo))
	n.fsub(u, h, u)
	n.fsub(u, u, f)
	n.fneg(u, u)
	n.fmla(u, k, n.float(ln2Hi))

	n.zero(mask)
	n.fcmge(small, v, mask) // false for negative numbers and NaN
	n.orn(u, u, small)
	n.fcmeq(small, v, mask)
	n.bit(u, n.float(math.Inf(-1)), small)
	n.fcmeq(small, v, n.float(math.Inf(1)))
	n.bit(u, n.float(math.Inf(1)), small)
	return []vreg{u}
}

// elementwise writes the mappings that need no constants.
func (n *neon) elementwise() {
	quarter := func(i int) vreg { return vreg(i) }
	same := func(x []vreg, _ func(int, vreg)) []vreg { return x }
	n.function("axpyNEON", "(a float64, x, y []float64)", 56, "implements axpyGo. y must be at least as long as x.")
	n.parameter("a", 0, 20)
	n.pointer("x_base", 8, 1)
	n.pointer("x_len", 16, 2)
	n.pointer("y_base", 32, 0)
	n.mapped(neonMap{streams: 2, input: quarter, body: func(x []vreg, _ func(int, vreg)) []vreg { return x },
		before: func(s size, x []vreg) {
			for i, r := range x { // y is R0, which also receives the results
				n.load(s, r+4, 0, s.bytes*i)
				n.fmla(r+4, r, 20)
				n.move(r, r+4)
			}
		}})
	n.function("addNEON", "(dst, x []float64)", 48, "implements addGo. x must be at least as long as dst.")
	n.pointer("dst_base", 0, 0)
	n.pointer("dst_len", 8, 2)
	n.pointer("x_base", 24, 1)
	n.mapped(neonMap{streams: 2, input: quarter, body: same, before: func(s size, x []vreg) {
		for i, r := range x {
			n.load(s, r+4, 0, s.bytes*i)
			n.fadd(r, r+4, r)
		}
	}})
	n.function("scaleNEON", "(a float64, x []float64)", 32, "implements scaleGo.")
	n.parameter("a", 0, 20)
	n.pointer("x_base", 8, 1)
	n.pointer("x_len", 16, 2)
	n.line("MOVD R1, R0")
	n.mapped(neonMap{streams: 2, input: quarter, body: same, before: func(_ size, x []vreg) {
		n.eachStream(x, func(r vreg) { n.fmul(r, r, 20) })
	}})
}
