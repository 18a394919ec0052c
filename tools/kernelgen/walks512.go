package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// expWalks512 writes the loop of kernel's Pairs.ExpWalks, down the rows for eight columns at a
// time. Running sums are bound by loads of scores and indices, and exponentials are bound by
// arithmetic. The loop overlaps the two. An iteration ends the exponentials of row t, begins the
// exponentials of row t+1, and computes the running sums of row t+2. These three computations do
// not depend on each other. Their instructions alternate, so that the processor finds independent
// instructions nearby.
func expWalks512() {
	TEXT("expWalksAVX512", attrLeaf, "func(e []float64, a float64, s []float64, plus, minus []uint16, b float64, y []float64, kept []uint8, width int)")
	Doc("expWalksAVX512 sets e as Pairs.ExpWalks does, for at least two rows. The indices must be in range. plus and minus",
		"must have eight more valid indices after their ends.")
	Pragma("noescape")
	w := walks512{
		constant: keptConstants512(), a: parameter("a"), b: parameter("b"),
		e: slice("e"), s: slice("s"), y: slice("y"), plus: slice("plus"), minus: slice("minus"),
		kept: Mem{Base: GP64()}, at: GP64(), first: AllocLocal(8), last: AllocLocal(8), stride: AllocLocal(8),
	}
	left := AllocLocal(8) // remaining columns
	n := GP64()
	Load(Param("plus").Len(), n)
	MOVQ(n, w.last)
	Load(Param("width"), n)
	MOVQ(n, left)
	ADDQ(U8(7), n)
	SHRQ(U8(3), n)
	MOVQ(n, w.stride)
	MOVQ(U32(0), w.first)

	Label("columns")
	MOVQ(w.first, w.at)
	Load(Param("kept").Base(), w.kept.Base)
	MOVQ(w.at, n)
	SHRQ(U8(3), n)
	ADDQ(n, w.kept.Base)
	MOVQ(left, n)
	CMPQ(n, U8(8))
	JL(LabelRef("rest"))
	w.down("eight", nil)
	ADDQ(U8(8), w.first)
	SUBQ(U8(8), left)
	JMP(LabelRef("columns"))
	Label("rest")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	w.down("part", firstLanes(n))
	Label("done")
	VZEROUPPER()
	RET()
}

// walks512 is the state of expWalks512.
type walks512 struct {
	constant          constants512
	a, b              Mem
	e, s, y           Mem
	plus, minus, kept Mem
	at                Register // index of the first of the eight elements
	first             Mem      // index of the first of the eight columns' elements in the first row
	last              Mem      // index of the last row's first element
	stride            Mem      // bytes of kept per row
}

// down processes eight columns from the first row to the last. If part is not nil, it is a mask,
// and down processes only the masked columns.
func (w walks512) down(label string, part Register) {
	sum := ZMM()
	VMOVAPD(load512(w.e.Idx(w.at, 8), 1, part)[0], sum)
	now := atOnce.reduce(w.exponent(sum, w.at, part))
	writeInTurn(w.differencesTo(sum, w.at))
	width, next := GP64(), GP64()
	Load(Param("width"), width)
	LEAQ(Mem{Base: w.at, Index: width, Scale: 1}, next)
	turn := func(begin, add bool) {
		var ends, begins, adds []func()
		p := steps512{w.constant, func(step func()) { ends = append(ends, step) }}.power(now)
		var then reduced512
		if begin {
			then = steps512{w.constant, func(step func()) { begins = append(begins, step) }}.reduce(w.exponent(sum, next, part))
		}
		if add {
			adds = w.differencesTo(sum, next)
		}
		writeInTurn(ends, adds, begins)
		w.store(p, part)
		if begin {
			for _, v := range [][2][]VecVirtual{{then.r, now.r}, {then.k, now.k}, {then.r2, now.r2}} {
				VMOVAPD(v[0][0], v[1][0])
			}
		}
		ADDQ(w.stride, w.kept.Base)
		MOVQ(next, w.at)
		ADDQ(width, next)
	}
	CMPQ(next, w.last)
	JGE(LabelRef(label + "_last"))
	Label(label)
	turn(true, true)
	CMPQ(next, w.last)
	JL(LabelRef(label))
	Label(label + "_last")
	turn(true, false)
	turn(false, false)
}

// store stores the exponentials of the elements that count, and 0 for the others.
func (w walks512) store(p []VecVirtual, part Register) {
	bits, kept := GP32(), K()
	MOVBLZX(w.kept, bits)
	KMOVB(bits, kept)
	VMOVAPD_Z(p[0], kept, p[0])
	store512(p, w.e.Idx(w.at, 8), part)
}

// exponent returns sum + b·y for the elements from at on.
func (w walks512) exponent(sum VecVirtual, at Register, part Register) []VecVirtual {
	x := load512(w.y.Idx(at, 8), 1, part)
	VFMADD132PD_BCST(w.b, sum, x[0])
	return x
}

// writeInTurn writes the steps of all lists. It alternates between the lists, such that all of them
// begin and end at about the same time, and keeps the order within each list.
func writeInTurn(lists ...[]func()) {
	longest := 0
	for _, l := range lists {
		longest = max(longest, len(l))
	}
	for i := range longest {
		for _, l := range lists {
			for _, step := range l[i*len(l)/longest : (i+1)*len(l)/longest] {
				step()
			}
		}
	}
}

// differencesTo returns the steps that add a times the differences of eight pairs to sum. at is the
// number of the first pair.
func (w walks512) differencesTo(sum VecVirtual, at Register) (steps []func()) {
	then := func(emit func()) { steps = append(steps, emit) }
	numbers := func(of Mem, after int, v *[2]VecVirtual) {
		var i [4]Register
		then(func() { i = fourIndices(of.Idx(at, 2).Offset(2 * after)) })
		for k := range v {
			then(func() {
				v[k] = XMM()
				VMOVSD(w.s.Idx(i[2*k], 8), v[k])
				VMOVHPD(w.s.Idx(i[2*k+1], 8), v[k], v[k])
			})
		}
	}
	var halves [2]VecVirtual
	for h := range halves {
		var p, m [2]VecVirtual
		numbers(w.plus, 4*h, &p)
		numbers(w.minus, 4*h, &m)
		then(func() {
			for k := range p {
				VSUBPD(m[k], p[k], p[k])
			}
			halves[h] = YMM()
			reads(p[:], must(x86.VINSERTF64X2(U8(1), p[1], p[0].AsY(), halves[h])))
		})
	}
	then(func() {
		eight := ZMM()
		reads(halves[:], must(x86.VINSERTF64X4(U8(1), halves[1], halves[0].AsZ(), eight)))
		VFMADD231PD_BCST(w.a, eight, sum)
	})
	return steps
}

// reads writes an instruction and declares the given registers as its only inputs. The instruction
// inserts a vector into a wide register whose lower half was written under the half's name. Without
// the declaration, avo's register allocation assumes that the wide register is read before it is
// written. avo would then reserve the register for the whole loop.
func reads(registers []VecVirtual, i *ir.Instruction) {
	i.Inputs = nil
	for _, r := range registers {
		i.Inputs = append(i.Inputs, r)
	}
	Instruction(i)
}

func must(i *ir.Instruction, err error) *ir.Instruction {
	if err != nil {
		panic(err)
	}
	return i
}

// parameter returns the memory operand of a float64 parameter.
func parameter(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// keptConstants512 loads the constants of the exponentials into registers, except expHigh and
// expLow, and returns a function that finds them. An exponential uses these two only in its first
// steps.
func keptConstants512() constants512 {
	registers := make(map[string]VecVirtual)
	hold := func(name string, x float64) { registers[name] = held512(name, x) }
	hold("log2e", math.Log2E)
	hold("expMagic", expMagic)
	hold("ln2Hi", ln2Hi)
	hold("ln2Lo", ln2Lo)
	hold("one", 1)
	for j, x := range expPolynomial {
		hold(fmt.Sprintf("exp%d", j), x)
	}
	return func(name string, x float64) VecVirtual {
		if v, ok := registers[name]; ok {
			return v
		}
		return held512(name, x)
	}
}
