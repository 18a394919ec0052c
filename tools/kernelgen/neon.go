package main

import (
	"bytes"
	"fmt"
	"go/format"
	"math"
	"os"
	"strings"
)

// A NEON register has two float64 lanes, so four lanes of the AVX2 loops take two registers. Go's
// assembler supports few NEON instructions. The other instructions are written as words, with their
// names in comments. Registers V0 to V31 are assigned by hand.

// neon writes assembly for arm64 and its declarations in Go.
type neon struct {
	text, stubs bytes.Buffer
	constants   []uint64        // contents of the table; each constant is stored twice
	held        map[uint64]vreg // constants that hold loaded, and their registers
	scratch     []vreg          // registers for all other constants, used in turn
	turn        int
	labels      int
}

type vreg uint32

// Integer registers contain pointers and counts.
const tableReg = 9 // the address of the table of constants

func (n *neon) line(format string, args ...any) {
	fmt.Fprintf(&n.text, "\t"+format+"\n", args...)
}

func (n *neon) label(name string) { fmt.Fprintf(&n.text, "%s:\n", name) }

// unique returns a label that is not used elsewhere.
func (n *neon) unique(name string) string {
	n.labels++
	return fmt.Sprintf("%s%d", name, n.labels)
}

func (n *neon) word(w uint32, format string, args ...any) {
	n.line("WORD $0x%08x // %s", w, fmt.Sprintf(format, args...))
}

// function begins a function. size is the size of its arguments and results in bytes.
func (n *neon) function(name, signature string, size int, doc string) {
	fmt.Fprintf(&n.stubs, "\n// %s %s\n//\n//go:noescape\nfunc %s%s\n", name, doc, name, signature)
	fmt.Fprintf(&n.text, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", name, signature, name, size)
	n.held, n.scratch = map[uint64]vreg{}, nil
}

// three writes an instruction with the result d and two vector operands.
func (n *neon) three(name string, code uint32, d, a, b vreg) {
	n.word(code|uint32(b)<<16|uint32(a)<<5|uint32(d), "%s v%d, v%d, v%d", name, d, a, b)
}

func (n *neon) two(name string, code uint32, d, a vreg) {
	n.word(code|uint32(a)<<5|uint32(d), "%s v%d, v%d", name, d, a)
}

func (n *neon) fadd(d, a, b vreg)  { n.three("fadd.2d", 0x4e60d400, d, a, b) }
func (n *neon) fsub(d, a, b vreg)  { n.three("fsub.2d", 0x4ee0d400, d, a, b) }
func (n *neon) fmul(d, a, b vreg)  { n.three("fmul.2d", 0x6e60dc00, d, a, b) }
func (n *neon) fdiv(d, a, b vreg)  { n.three("fdiv.2d", 0x6e60fc00, d, a, b) }
func (n *neon) fmla(d, a, b vreg)  { n.three("fmla.2d", 0x4e60cc00, d, a, b) } // d += a·b, rounded once
func (n *neon) fmls(d, a, b vreg)  { n.three("fmls.2d", 0x4ee0cc00, d, a, b) } // d −= a·b, rounded once
func (n *neon) fmin(d, a, b vreg)  { n.three("fmin.2d", 0x4ee0f400, d, a, b) } // NaN if one is
func (n *neon) fmax(d, a, b vreg)  { n.three("fmax.2d", 0x4e60f400, d, a, b) }
func (n *neon) fcmeq(d, a, b vreg) { n.three("fcmeq.2d", 0x4e60e400, d, a, b) }
func (n *neon) fcmge(d, a, b vreg) { n.three("fcmge.2d", 0x6e60e400, d, a, b) }
func (n *neon) fcmgt(d, a, b vreg) { n.three("fcmgt.2d", 0x6ee0e400, d, a, b) }
func (n *neon) add(d, a, b vreg)   { n.three("add.2d", 0x4ee08400, d, a, b) }
func (n *neon) sub(d, a, b vreg)   { n.three("sub.2d", 0x6ee08400, d, a, b) }
func (n *neon) and(d, a, b vreg)   { n.three("and.16b", 0x4e201c00, d, a, b) }
func (n *neon) orr(d, a, b vreg)   { n.three("orr.16b", 0x4ea01c00, d, a, b) }
func (n *neon) orn(d, a, b vreg)   { n.three("orn.16b", 0x4ee01c00, d, a, b) } // a | ^b
func (n *neon) eor(d, a, b vreg)   { n.three("eor.16b", 0x6e201c00, d, a, b) }
func (n *neon) bsl(d, a, b vreg)   { n.three("bsl.16b", 0x6e601c00, d, a, b) } // d's bits choose a, else b
func (n *neon) bit(d, a, m vreg)   { n.three("bit.16b", 0x6ea01c00, d, a, m) } // a where m is set
func (n *neon) fneg(d, a vreg)     { n.two("fneg.2d", 0x6ee0f800, d, a) }
func (n *neon) fsqrt(d, a vreg)    { n.two("fsqrt.2d", 0x6ee1f800, d, a) }
func (n *neon) widen(d, a vreg)    { n.two("fcvtl.2d", 0x0e617800, d, a) }  // lower two float32
func (n *neon) widen2(d, a vreg)   { n.two("fcvtl2.2d", 0x4e617800, d, a) } // upper two
func (n *neon) negative(d, a vreg) { n.two("cmlt.2d #0", 0x4ee0a800, d, a) }
func (n *neon) pair(d, a vreg)     { n.two("faddp d", 0x7e70d800, d, a) } // the sum of both lanes
func (n *neon) move(d, a vreg)     { n.orr(d, a, a) }
func (n *neon) ushr(d, a vreg, by uint32) {
	n.word(0x6f000400|(128-by)<<16|uint32(a)<<5|uint32(d), "ushr.2d v%d, v%d, #%d", d, a, by)
}
func (n *neon) shl(d, a vreg, by uint32) {
	n.word(0x4f005400|(64+by)<<16|uint32(a)<<5|uint32(d), "shl.2d v%d, v%d, #%d", d, a, by)
}
func (n *neon) zero(d vreg) { n.eor(d, d, d) }

// size is the part of a vector register that a load or store uses. A load sets the remaining bytes
// of the register to 0.
type size struct {
	name                   string
	bytes                  int
	load, store            uint32 // with an offset
	loadAfter, storeBehind uint32 // with an increment of the pointer afterwards
}

var (
	whole  = size{"q", 16, 0x3dc00000, 0x3d800000, 0x3cc00400, 0x3c800400}
	double = size{"d", 8, 0xfd400000, 0xfd000000, 0xfc400400, 0xfc000400}
	single = size{"s", 4, 0, 0, 0xbc400400, 0xbc000400}
)

func (n *neon) load(s size, d vreg, from, offset int) {
	n.word(s.load|uint32(offset/s.bytes)<<10|uint32(from)<<5|uint32(d), "ldr %s%d, [x%d, #%d]", s.name, d, from, offset)
}

func (n *neon) store(s size, d vreg, to, offset int) {
	n.word(s.store|uint32(offset/s.bytes)<<10|uint32(to)<<5|uint32(d), "str %s%d, [x%d, #%d]", s.name, d, to, offset)
}

// next loads d from the address in register from, and then increments the register by the size.
func (n *neon) next(s size, d vreg, from int) {
	n.word(s.loadAfter|uint32(s.bytes)<<12|uint32(from)<<5|uint32(d), "ldr %s%d, [x%d], #%d", s.name, d, from, s.bytes)
}

// put stores d at the address in register to, and then increments the register by the size.
func (n *neon) put(s size, d vreg, to int) {
	n.word(s.storeBehind|uint32(s.bytes)<<12|uint32(to)<<5|uint32(d), "str %s%d, [x%d], #%d", s.name, d, to, s.bytes)
}

// copies loads a float64 from the address in register from into both lanes.
func (n *neon) copies(d vreg, from int) {
	n.word(0x4d40cc00|uint32(from)<<5|uint32(d), "ld1r.2d v%d, [x%d]", d, from)
}

// nextCopies loads a float64 into both lanes as copies does, and then increments register from by
// 8.
func (n *neon) nextCopies(d vreg, from int) {
	n.word(0x4ddfcc00|uint32(from)<<5|uint32(d), "ld1r.2d v%d, [x%d], #8", d, from)
}

// parameter loads a float64 argument into both lanes.
func (n *neon) parameter(name string, offset int, d vreg) {
	n.line("FMOVD %s+%d(FP), F%d", name, offset, d)
	n.word(0x4e080400|uint32(d)<<5|uint32(d), "dup.2d v%d, v%d[0]", d, d)
}

// pointer loads an argument into an integer register.
func (n *neon) pointer(name string, offset, to int) {
	n.line("MOVD %s+%d(FP), R%d", name, offset, to)
}

// useTable loads the address of the table of constants and makes constant, float and hold usable.
// hold assigns a register to a constant. constant loads all other constants into the scratch
// registers in turn.
func (n *neon) useTable(scratch ...vreg) {
	n.line("MOVD $neonConstants<>(SB), R%d", tableReg)
	n.scratch = scratch
}

// hold loads a constant into register d. constant returns d for it until the function ends.
func (n *neon) hold(bits uint64, d vreg) {
	n.load(whole, d, tableReg, 16*n.place(bits))
	n.held[bits] = d
}

func (n *neon) place(bits uint64) int {
	for i, c := range n.constants {
		if c == bits {
			return i
		}
	}
	n.constants = append(n.constants, bits)
	return len(n.constants) - 1
}

// constant returns a register that contains two copies of bits. The caller must not write to the
// register. The register stays valid until constant was called for as many other values as there
// are scratch registers.
func (n *neon) constant(bits uint64) vreg {
	if d, ok := n.held[bits]; ok {
		return d
	}
	d := n.scratch[n.turn%len(n.scratch)]
	n.turn++
	n.load(whole, d, tableReg, 16*n.place(bits))
	return d
}

func (n *neon) float(x float64) vreg { return n.constant(math.Float64bits(x)) }

const neonTag = "//go:build arm64 && !noasm\n\n"

func (n *neon) write(assembly, stubs string) error {
	var b strings.Builder
	b.WriteString("// Code generated by kernelgen. DO NOT EDIT.\n\n" + neonTag + "#include \"textflag.h\"\n")
	b.Write(n.text.Bytes())
	for i, c := range n.constants {
		for copy := range 2 {
			fmt.Fprintf(&b, "\nDATA neonConstants<>+%d(SB)/8, $0x%016x", 16*i+8*copy, c)
		}
	}
	fmt.Fprintf(&b, "\nGLOBL neonConstants<>(SB), RODATA|NOPTR, $%d\n", 16*len(n.constants))
	if err := os.WriteFile(assembly, []byte(b.String()), 0o644); err != nil {
		return err
	}
	source, err := format.Source(append([]byte("// Code generated by kernelgen. DO NOT EDIT.\n\n"+neonTag+"package kernel\n"), n.stubs.Bytes()...))
	if err != nil {
		return fmt.Errorf("declarations: %w", err)
	}
	return os.WriteFile(stubs, source, 0o644)
}
