package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"
)

// constants512 returns a register with eight copies of a constant. The implementation held512 loads
// the constant on each call. The result of keptConstants512 returns registers that were loaded
// before.
type constants512 func(name string, x float64) VecVirtual

// steps512 writes a computation as a sequence of steps. It passes each step to write, which runs
// the step at once or stores it, so that the caller can alternate the steps of several
// computations.
type steps512 struct {
	constant constants512
	write    func(step func())
}

// atOnce writes each step immediately.
var atOnce = steps512{held512, func(step func()) { step() }}

// evenOdd computes a polynomial as the function evenOdd does, for vectors of 512 bits. It loads
// each coefficient once for all vectors.
func (s steps512) evenOdd(name string, c []float64, z, z2 []VecVirtual) []VecVirtual {
	at := func(j int) VecVirtual { return s.constant(fmt.Sprintf("%s%d", name, j), c[j]) }
	n := len(c)
	even, odd := registers512(len(z)), registers512(len(z))
	s.write(func() {
		last, first := at(n-2), at(n-1)
		each(z, func(i int) { VMOVAPD(last, even[i]); VMOVAPD(first, odd[i]) })
	})
	for j := n - 4; j >= 0; j -= 2 {
		s.write(func() { a := at(j); each(z, func(i int) { VFMADD213PD(a, z2[i], even[i]) }) })
		s.write(func() { b := at(j + 1); each(z, func(i int) { VFMADD213PD(b, z2[i], odd[i]) }) })
	}
	s.write(func() { each(z, func(i int) { VFMADD213PD(even[i], z[i], odd[i]) }) })
	return odd
}

// exponential512 is exponential for vectors of 512 bits. It overwrites x.
func exponential512(x []VecVirtual) []VecVirtual { return atOnce.power(atOnce.reduce(x)) }

// reduced512 has the terms of x = k·ln 2 + r, and r².
type reduced512 struct{ r, k, r2 []VecVirtual }

// reduce writes the first steps of an exponential: it computes k and r with x = k·ln 2 + r, and r².
// It overwrites x.
func (s steps512) reduce(x []VecVirtual) reduced512 {
	e := reduced512{x, registers512(len(x)), registers512(len(x))}
	t := registers512(len(x))
	step := func(name string, value float64, emit func(c VecVirtual, i int)) {
		s.write(func() { c := s.constant(name, value); each(x, func(i int) { emit(c, i) }) })
	}
	step("expHigh", expHigh, func(c VecVirtual, i int) { VMINPD(x[i], c, x[i]) })
	step("expLow", expLow, func(c VecVirtual, i int) { VMAXPD(x[i], c, x[i]) })
	s.write(func() {
		log2e, magic := s.constant("log2e", math.Log2E), s.constant("expMagic", expMagic)
		each(x, func(i int) { VMOVAPD(magic, t[i]) })
		each(x, func(i int) { VFMADD231PD(log2e, x[i], t[i]) })
	})
	step("expMagic", expMagic, func(c VecVirtual, i int) { VSUBPD(c, t[i], e.k[i]) })
	step("ln2Hi", ln2Hi, func(c VecVirtual, i int) { VFNMADD231PD(c, e.k[i], x[i]) })
	step("ln2Lo", ln2Lo, func(c VecVirtual, i int) { VFNMADD231PD(c, e.k[i], x[i]) })
	s.write(func() { each(x, func(i int) { VMULPD(x[i], x[i], e.r2[i]) }) })
	return e
}

// power writes the remaining steps of an exponential, which compute eˣ from the result of reduce.
func (s steps512) power(e reduced512) []VecVirtual {
	p := s.evenOdd("exp", expPolynomial, e.r, e.r2)
	s.write(func() { each(p, func(i int) { VFMADD213PD(e.r[i], e.r2[i], p[i]) }) })
	s.write(func() { one := s.constant("one", 1); each(p, func(i int) { VADDPD(one, p[i], p[i]) }) })
	s.write(func() { each(p, func(i int) { VSCALEFPD(e.k[i], p[i], p[i]) }) })
	return p
}
