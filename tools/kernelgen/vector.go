package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Every routine is a leaf function with a small frame.
const (
	attrLeaf     = attr.NOSPLIT
	attrReadOnly = attr.RODATA | attr.NOPTR
)

// slice returns the address of the first element of a slice parameter.
func slice(name string) Mem { return Mem{Base: Load(Param(name).Base(), GP64())} }

// length returns the length of a slice parameter.
func length(name string) Register { return Load(Param(name).Len(), GP64()) }

// broadcast returns a register with copies of a float64 parameter in all lanes.
func broadcast(name string) VecVirtual {
	x := Load(Param(name), XMM())
	y := YMM()
	VBROADCASTSD(x, y)
	return y
}

// registers returns n unset vector registers.
func registers(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = YMM()
	}
	return v
}

// zeros returns n vector registers set to zero.
func zeros(n int) []VecVirtual {
	v := registers(n)
	for _, r := range v {
		VXORPD(r, r, r)
	}
	return v
}

// each calls emit for the index of every vector. So the instructions of the same step, which do not
// depend on each other, are adjacent.
func each(v []VecVirtual, emit func(i int)) {
	for i := range v {
		emit(i)
	}
}

// result writes the end of a function that returns v. Moves to and from the stack frame are not
// VEX-coded. They must come before the first write of a 256-bit register or after VZEROUPPER, or
// the processor stalls.
func result(v VecVirtual) {
	VZEROUPPER()
	Store(v, ReturnIndex(0))
	RET()
}

var tables = map[string]Mem{}

// table returns a read-only table of 64-bit words. A second call with the same name returns the first table. The words
// are written as U64 because avo's DATA directive loses bits of a float64.
func table(name string, words ...uint64) Mem {
	m, ok := tables[name]
	if !ok {
		m = GLOBL(name, attrReadOnly)
		for i, w := range words {
			DATA(8*i, U64(w))
		}
		tables[name] = m
	}
	return m
}

// bits4 returns the address of four copies of a word, which an instruction can use as a vector
// operand.
func bits4(name string, w uint64) Mem { return table(name, w, w, w, w) }

// const4 returns four copies of a float64 as a vector operand.
func const4(name string, x float64) Mem { return bits4(name, math.Float64bits(x)) }

// polynomial4 returns each coefficient of a polynomial as a vector operand.
func polynomial4(name string, c []float64) []Mem {
	m := make([]Mem, len(c))
	for i, x := range c {
		m[i] = const4(fmt.Sprintf("%s%d", name, i), x)
	}
	return m
}

// evenOdd returns the values at z of the polynomial with the coefficients c, given z2 = z². The
// number of coefficients is even. The even and the odd coefficients are evaluated by Horner's rule
// in z², as two independent chains.
func evenOdd(c []Mem, z, z2 []VecVirtual) []VecVirtual {
	n := len(c)
	even, odd := registers(len(z)), registers(len(z))
	each(z, func(i int) { VMOVUPD(c[n-2], even[i]); VMOVUPD(c[n-1], odd[i]) })
	for j := n - 4; j >= 0; j -= 2 {
		each(z, func(i int) { VFMADD213PD(c[j], z2[i], even[i]) })
		each(z, func(i int) { VFMADD213PD(c[j+1], z2[i], odd[i]) })
	}
	each(z, func(i int) { VFMADD213PD(even[i], z[i], odd[i]) })
	return odd
}

// tailMask returns the mask of the first r of four 64-bit lanes, 0 < r < 4.
func tailMask(r Register) VecVirtual {
	ones := ^uint64(0)
	t := Mem{Base: GP64()}
	LEAQ(table("mask64", ones, ones, ones, 0, 0, 0), t.Base)
	back := GP64()
	MOVQ(r, back)
	NEGQ(back)
	mask := YMM()
	VMOVUPD(t.Offset(3*8).Idx(back, 8), mask)
	return mask
}

// tailMask32 returns the mask of the first r of four 32-bit lanes, 0 < r < 4.
func tailMask32(r Register) VecVirtual {
	ones := ^uint64(0)
	t := Mem{Base: GP64()}
	LEAQ(table("mask32", ones, ones&0xffffffff, 0), t.Base)
	back := GP64()
	MOVQ(r, back)
	NEGQ(back)
	mask := XMM()
	VMOVUPS(t.Offset(3*4).Idx(back, 4), mask)
	return mask
}

// storeTail stores the first r lanes of v, 0 < r < 4. It avoids a masked store, which takes a dozen
// cycles on AMD's Zen processors.
func storeTail(v VecVirtual, dst Mem, r Register, label string) {
	CMPQ(r, U8(2))
	JL(LabelRef(label + "_store1"))
	VMOVUPD(v.AsX(), dst)
	JE(LabelRef(label + "_stored"))
	high := XMM()
	VEXTRACTF128(U8(1), v, high)
	VMOVSD(high, dst.Offset(16))
	JMP(LabelRef(label + "_stored"))
	Label(label + "_store1")
	VMOVSD(v.AsX(), dst)
	Label(label + "_stored")
}

// horizontal combines the four lanes of v by the operation fold: lane 0 with lane 2, lane 1 with
// lane 3, and then the two results. It overwrites v and returns the register whose lane 0 is the
// result.
func horizontal(v VecVirtual, fold func(a, b VecVirtual)) VecVirtual {
	high, low := XMM(), v.AsX().(VecVirtual)
	VEXTRACTF128(U8(1), v, high)
	fold(low, high)
	odd := XMM()
	VPERMILPD(U8(1), low, odd)
	fold(low, odd)
	return low
}

// reduceSum adds four accumulators and then the four lanes of their sum, in the order of lanes.sum
// in package kernel.
func reduceSum(acc []VecVirtual) VecVirtual {
	VADDPD(acc[1], acc[0], acc[0])
	VADDPD(acc[3], acc[2], acc[2])
	VADDPD(acc[2], acc[0], acc[0])
	return horizontal(acc[0], func(a, b VecVirtual) { VADDPD(b, a, a) })
}
