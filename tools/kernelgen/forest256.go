package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addForestAVX2 is addForest with the leaf numbers of 128 documents in four registers of 256 bits.
// It loads leaf values one by one, because gather instructions take longer on AMD's Zen processors.
func addForestAVX2() {
	TEXT("addForestAVX2", attrLeaf, "func(dst, values *float64, codes *uint8, splits, trees *uint32, count, groups int)")
	Doc("addForestAVX2 implements addForestGo for count trees and 8·groups documents. count and groups are at least 1.")
	Pragma("noescape")
	AllocLocal(128)
	dst, values := Mem{Base: Load(Param("dst"), GP64())}, Mem{Base: Load(Param("values"), GP64())}
	codes, split := Mem{Base: Load(Param("codes"), GP64())}, Mem{Base: Load(Param("splits"), GP64())}
	tree := Mem{Base: Load(Param("trees"), GP64())}
	leaves, bytes := registers(4), Mem{Base: StackPointer}

	Label("tree")
	left := GP32()
	MOVL(tree, left)
	each(leaves, func(i int) { VPBROADCASTD(tree.Offset(8), leaves[i]) })
	TESTL(left, left)
	JZ(LabelRef("values"))
	Label("split")
	column := GP64()
	MOVL(split, column.As32())
	above, at, step := YMM(), YMM(), YMM()
	VPBROADCASTD(split.Offset(4), above)
	VPBROADCASTD(split.Offset(8), at)
	VPBROADCASTD(split.Offset(12), step)
	stay, here := registers(4), registers(4)
	each(leaves, func(i int) { VPMAXUB(codes.Idx(column, 1).Offset(32*i), above, stay[i]) })
	each(leaves, func(i int) { VPCMPEQB(above, stay[i], stay[i]) })
	each(leaves, func(i int) { VPCMPEQB(at, leaves[i], here[i]) })
	each(leaves, func(i int) { VPANDN(here[i], stay[i], stay[i]) })
	each(leaves, func(i int) { VPAND(step, stay[i], stay[i]) })
	each(leaves, func(i int) { VPADDB(stay[i], leaves[i], leaves[i]) })
	ADDQ(U8(16), split.Base)
	DECL(left)
	JNZ(LabelRef("split"))

	Label("values")
	each(leaves, func(i int) { VMOVDQU(leaves[i], bytes.Offset(32*i)) })
	i, sums := GP64(), Mem{Base: GP64()}
	XORQ(i, i)
	MOVQ(dst.Base, sums.Base)
	Label("eight")
	addEight(sums, values, bytes.Idx(i, 8))
	ADDQ(U8(64), sums.Base)
	INCQ(i)
	groups := Load(Param("groups"), GP64())
	CMPQ(i, groups)
	JL(LabelRef("eight"))
	n := GP64()
	MOVL(tree.Offset(4), n.As32())
	LEAQ(values.Idx(n, 8), values.Base)
	ADDQ(U8(12), tree.Base)
	count, _ := Param("count").Resolve()
	DECQ(count.Addr)
	JNZ(LabelRef("tree"))
	VZEROUPPER()
	RET()
}

// addEight adds the values of eight leaves to the eight sums at sums. bytes is the address of the
// eight leaf numbers.
func addEight(sums, values, bytes Mem) {
	all := GP64()
	MOVQ(bytes, all)
	for half := range 2 {
		v := []VecVirtual{XMM(), XMM()}
		for k := range 4 {
			leaf := GP64()
			MOVBLZX(all.As8(), leaf.As32())
			if half == 0 || k < 3 {
				SHRQ(U8(8), all)
			}
			if k%2 == 0 {
				VMOVSD(values.Idx(leaf, 8), v[k/2])
			} else {
				VMOVHPD(values.Idx(leaf, 8), v[k/2], v[k/2])
			}
		}
		four := YMM()
		VINSERTF128(U8(1), v[1], v[0].AsY(), four)
		VADDPD(sums.Offset(32*half), four, four)
		VMOVUPD(four, sums.Offset(32*half))
	}
}

// codesAVX2 counts the cuts below each number, 32 numbers at a time.
func codesAVX2() {
	TEXT("codesAVX2", attrLeaf, "func(dst *uint8, x, cuts *float32, blocks, count int)")
	Doc("codesAVX2 implements codesGo for 32·blocks numbers and count cuts. blocks and count are at least 1.")
	Pragma("noescape")
	dst, x := Mem{Base: Load(Param("dst"), GP64())}, Mem{Base: Load(Param("x"), GP64())}
	cuts, blocks := Mem{Base: Load(Param("cuts"), GP64())}, Load(Param("blocks"), GP64())
	count, order := Load(Param("count"), GP64()), YMM()
	VMOVDQU(table("packed", 4<<32, 5<<32|1, 6<<32|2, 7<<32|3), order)

	Label("block")
	v, sums := registers(4), zeros(4)
	each(v, func(i int) { VMOVUPS(x.Offset(32*i), v[i]) })
	at := GP64()
	XORQ(at, at)
	Label("cut")
	cut, below := YMM(), registers(4)
	VBROADCASTSS(cuts.Idx(at, 4), cut)
	each(v, func(i int) { VCMPPS(U8(0x11), v[i], cut, below[i]) }) // cut < v, quiet and false for NaN
	each(v, func(i int) { VPSUBD(below[i], sums[i], sums[i]) })
	INCQ(at)
	CMPQ(at, count)
	JL(LabelRef("cut"))
	VPACKSSDW(sums[1], sums[0], sums[0])
	VPACKSSDW(sums[3], sums[2], sums[2])
	VPACKUSWB(sums[2], sums[0], sums[0])
	VPERMD(sums[0], order, sums[0]) // groups of four of the low halves come before those of the high halves
	VMOVDQU(sums[0], dst)
	ADDQ(U32(128), x.Base)
	ADDQ(U8(32), dst.Base)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
