package main

// reductions writes the sums of float64 over sixteen lanes, which kernel/lanes.go defines, and the
// maximum.
func (n *neon) reductions() {
	n.function("dotNEON", "(s *[16]float64, x, y []float64)", 56, "adds the products x[i]·y[i] to the lanes as lanes.multiplyAdd does. y must be at least as long as x.")
	n.pointer("y_base", 32, 4)
	n.lanes(func(acc vreg, s size) {
		n.next(s, 16, 1)
		n.next(s, 17, 4)
		n.fmla(acc, 16, 17)
	})
	n.function("sumNEON", "(s *[16]float64, x []float64)", 32, "adds the elements to the lanes as lanes.add does.")
	n.lanes(func(acc vreg, s size) {
		n.next(s, 16, 1)
		n.fadd(acc, acc, 16)
	})
	n.function("maxNEON", "(s *[16]float64, x []float64)", 32, "sets each lane to the maximum of the lane and its elements, or to NaN if the lane or an element is NaN.")
	n.lanes(func(acc vreg, s size) {
		if s == double { // both lanes, since a 0 in the other could be the maximum
			n.nextCopies(16, 1)
		} else {
			n.next(s, 16, 1)
		}
		n.fmax(acc, acc, 16)
	})
}

// lanes writes a loop over x that keeps the sixteen lanes in V0 to V7. step adds the next element
// of x, or the next two, to acc.
func (n *neon) lanes(step func(acc vreg, s size)) {
	n.pointer("s", 0, 3)
	n.pointer("x_base", 8, 1)
	n.pointer("x_len", 16, 2)
	for i := range 8 {
		n.load(whole, vreg(i), 3, 16*i)
	}
	n.line("SUBS $16, R2, R2")
	n.line("BLT rest")
	n.label("block")
	for i := range 8 {
		step(vreg(i), whole)
	}
	n.line("SUBS $16, R2, R2")
	n.line("BGE block")
	n.label("rest")
	n.line("ADD $16, R2, R2")
	n.line("TBZ $3, R2, four")
	for i := range 4 {
		step(vreg(i), whole)
	}
	n.label("four")
	n.line("TBZ $2, R2, two")
	step(4, whole)
	step(5, whole)
	n.label("two")
	n.lastThree(func(acc vreg, s size) { step(6+acc, s) })
	for i := range 8 {
		n.store(whole, vreg(i), 3, 16*i)
	}
	n.line("RET")
}

// lastThree processes the last elements, fewer than four. The two lowest bits of R2 are their
// number. Two elements go to accumulator 0. A single element goes to accumulator 1 after two
// elements, and otherwise to accumulator 0.
func (n *neon) lastThree(step func(acc vreg, s size)) {
	one, done := n.unique("one"), n.unique("done")
	n.line("TBZ $1, R2, %s", one)
	step(0, whole)
	n.line("TBZ $0, R2, %s", done)
	step(1, double)
	n.line("B %s", done)
	n.label(one)
	n.line("TBZ $0, R2, %s", done)
	step(0, double)
	n.label(done)
}

// matrices writes the products of a float32 matrix and of its transpose with a vector.
func (n *neon) matrices() {
	n.function("gemvNEON", "(dst []float64, x []float32, w []float64)", 72, "implements gemvGo. x has len(dst) rows of len(w) columns.")
	n.pointer("dst_base", 0, 0)
	n.pointer("dst_len", 8, 5)
	n.pointer("x_base", 24, 13)
	n.pointer("w_base", 48, 3)
	n.pointer("w_len", 56, 4)
	n.line("SUBS $4, R5, R5")
	n.line("BLT single")
	n.label("group")
	n.rows(4)
	n.line("SUBS $4, R5, R5")
	n.line("BGE group")
	n.label("single")
	n.line("ADD $4, R5, R5")
	n.line("CBZ R5, end")
	n.label("row")
	n.rows(1)
	n.line("SUBS $1, R5, R5")
	n.line("BNE row")
	n.label("end")
	n.line("RET")

	n.function("gemvTNEON", "(grad []float64, x []float32, lambda []float64)", 72, "implements gemvTGo.")
	n.pointer("grad_base", 0, 0)
	n.pointer("grad_len", 8, 4)
	n.pointer("x_base", 24, 13)
	n.pointer("lambda_base", 48, 3)
	n.pointer("lambda_len", 56, 5)
	n.line("SUBS $4, R5, R5")
	n.line("BLT single")
	n.label("group")
	n.transposed(4)
	n.line("SUBS $4, R5, R5")
	n.line("BGE group")
	n.label("single")
	n.line("ADD $4, R5, R5")
	n.line("CBZ R5, end")
	n.label("row")
	n.transposed(1)
	n.line("SUBS $1, R5, R5")
	n.line("BNE row")
	n.label("end")
	n.line("RET")
}

// starts sets registers to the addresses of consecutive rows of R4 columns and returns the
// registers' numbers. R13 contains the address of the first row on entry and of the last row on
// return. A loop that increments R13 to the end of the last row leaves it at the next row.
func (n *neon) starts(rows int) (at []int) {
	for r := range rows {
		at = append(at, 14-rows+r)
	}
	if rows == 4 {
		n.line("MOVD R13, R10")
		n.line("ADD R4<<2, R10, R11")
		n.line("ADD R4<<2, R11, R12")
		n.line("ADD R4<<2, R12, R13")
	}
	return at
}

// rows computes the dot products of one or four rows with w. The eight lanes of row r are in V(4r)
// to V(4r+3).
func (n *neon) rows(rows int) {
	at := n.starts(rows)
	for i := range 4 * rows {
		n.zero(vreg(i))
	}
	n.line("MOVD R3, R6")
	n.line("MOVD R4, R2")
	eights, rest, four, tail := n.unique("eights"), n.unique("rest"), n.unique("four"), n.unique("tail")
	n.line("SUBS $8, R2, R2")
	n.line("BLT %s", rest)
	n.label(eights)
	for i := range 4 {
		n.next(whole, vreg(16+i), 6)
	}
	for r, p := range at {
		n.next(whole, 20, p)
		n.next(whole, 21, p)
		n.widen(22, 20)
		n.widen2(23, 20)
		n.widen(24, 21)
		n.widen2(25, 21)
		for i := range 4 {
			n.fmla(vreg(4*r+i), vreg(22+i), vreg(16+i))
		}
	}
	n.line("SUBS $8, R2, R2")
	n.line("BGE %s", eights)
	n.label(rest)
	n.line("ADD $8, R2, R2")
	n.label(four)
	n.line("TBZ $2, R2, %s", tail)
	n.next(whole, 16, 6)
	n.next(whole, 17, 6)
	for r, p := range at {
		n.next(whole, 20, p)
		n.widen(22, 20)
		n.widen2(23, 20)
		n.fmla(vreg(4*r), 22, 16)
		n.fmla(vreg(4*r+1), 23, 17)
	}
	n.label(tail)
	n.lastThree(func(acc vreg, s size) {
		n.next(s, 16, 6)
		for r, p := range at {
			n.next(half(s), 20, p)
			n.widen(22, 20)
			n.fmla(vreg(4*r)+2+acc, 22, 16)
		}
	})
	for r := range at {
		a := vreg(4 * r)
		n.fadd(a, a, a+2)
		n.fadd(a+1, a+1, a+3)
		n.fadd(a, a, a+1)
		n.pair(a, a)
		n.put(double, a, 0)
	}
}

// half returns the size of the same number of elements in float32 as s has in float64.
func half(s size) size {
	if s == whole {
		return double
	}
	return single
}

// transposed multiplies one or four rows by their elements of lambda and adds the products to grad,
// a few columns at a time.
func (n *neon) transposed(rows int) {
	at := n.starts(rows)
	for r := range at {
		n.nextCopies(vreg(28+r), 3)
	}
	n.line("MOVD R0, R6")
	n.line("MOVD R4, R2")
	eights, rest, two := n.unique("eights"), n.unique("rest"), n.unique("two")
	n.line("SUBS $8, R2, R2")
	n.line("BLT %s", rest)
	n.label(eights)
	n.columns(at, 8)
	n.line("SUBS $8, R2, R2")
	n.line("BGE %s", eights)
	n.label(rest)
	n.line("ADD $8, R2, R2")
	n.line("TBZ $2, R2, %s", two)
	n.columns(at, 4)
	n.label(two)
	n.lastThree(func(_ vreg, s size) {
		n.load(s, 0, 6, 0)
		for r, p := range at {
			n.next(half(s), 4, p)
			n.widen(6, 4)
			n.fmla(0, 6, vreg(28+r))
		}
		n.put(s, 0, 6)
	})
}

// columns writes the code by which transposed processes the next four or eight columns. It keeps
// the sums of the columns in V0 to V3 (four columns use V0 and V1), and stores the sums at the end.
func (n *neon) columns(at []int, columns int) {
	for i := range columns / 2 {
		n.load(whole, vreg(i), 6, 16*i)
	}
	for r, p := range at {
		for q := range columns / 4 {
			n.next(whole, vreg(4+q), p)
		}
		for q := range columns / 4 {
			n.widen(vreg(6+2*q), vreg(4+q))
			n.widen2(vreg(7+2*q), vreg(4+q))
		}
		for i := range columns / 2 {
			n.fmla(vreg(i), vreg(6+i), vreg(28+r))
		}
	}
	for i := range columns / 2 {
		n.put(whole, vreg(i), 6)
	}
}
