package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// forests writes the loops for scoring with trees (see kernel.Forest). A register of 512 bits
// contains the leaf numbers of 64 documents, one byte each. A register of 256 bits contains the
// leaf numbers of 32 documents.
func forests() {
	codes()
	addForest()
	codesAVX2()
	addForestAVX2()
}

// addForest keeps the leaf numbers of 128 documents in two registers during all splits of a tree.
// Then it loads the values of these leaves, eight documents at a time. For a tree of up to 16
// leaves, two registers contain all leaf values, and a permutation selects from the registers. For
// larger trees, gather instructions load the values.
func addForest() {
	TEXT("addForestAVX512", attrLeaf, "func(dst, values *float64, codes *uint8, splits, trees *uint32, count, groups int)")
	Doc("addForestAVX512 implements addForestGo for count trees and 8·groups documents. count and groups are at least 1.")
	Pragma("noescape")
	AllocLocal(128)
	dst, values := Mem{Base: Load(Param("dst"), GP64())}, Mem{Base: Load(Param("values"), GP64())}
	codes, split := Mem{Base: Load(Param("codes"), GP64())}, Mem{Base: Load(Param("splits"), GP64())}
	tree, count := Mem{Base: Load(Param("trees"), GP64())}, Load(Param("count"), GP64())
	groups := Load(Param("groups"), GP64())
	leaves := []VecVirtual{ZMM(), ZMM()}

	Label("tree")
	left := GP32()
	MOVL(tree, left)
	VPBROADCASTD(tree.Offset(8), leaves[0])
	VMOVDQA64(leaves[0], leaves[1])
	TESTL(left, left)
	JZ(LabelRef("values"))
	Label("split")
	column := GP64()
	MOVL(split, column.As32())
	above, at, step := ZMM(), ZMM(), ZMM()
	VPBROADCASTD(split.Offset(4), above)
	VPBROADCASTD(split.Offset(8), at)
	VPBROADCASTD(split.Offset(12), step)
	for i, l := range leaves {
		// Compare the codes first, since this comparison does not depend on the previous split.
		goes := K()
		VPCMPUB(U8(1), codes.Idx(column, 1).Offset(64*i), above, goes)
		VPCMPEQB(at, l, goes, goes)
		VPADDB(step, l, goes, l)
	}
	ADDQ(U8(16), split.Base)
	DECL(left)
	JNZ(LabelRef("split"))

	Label("values")
	bytes := Mem{Base: StackPointer}
	for i, l := range leaves {
		VMOVDQU64(l, bytes.Offset(64*i))
	}
	n := GP64()
	MOVL(tree.Offset(4), n.As32())
	CMPQ(n, U8(16))
	JG(LabelRef("many"))
	few(dst, values, bytes, groups, n)
	JMP(LabelRef("next"))
	Label("many")
	gathered(dst, values, bytes, groups)
	Label("next")
	LEAQ(values.Idx(n, 8), values.Base)
	ADDQ(U8(12), tree.Base)
	DECQ(count)
	JNZ(LabelRef("tree"))
	VZEROUPPER()
	RET()
}

// eights writes a loop that adds the leaf values of one tree to dst, eight documents at a time.
// bytes is the address of the documents' leaf numbers. value writes the instructions that load the
// values for the eight leaf numbers at leaf, and returns the register with the values.
func eights(dst, bytes Mem, groups Register, label string, value func(leaf Mem) VecVirtual) {
	i := GP64()
	XORQ(i, i)
	Label(label)
	v := value(bytes.Idx(i, 8))
	sum := GP64()
	MOVQ(i, sum)
	SHLQ(U8(6), sum)
	to := dst.Idx(sum, 1)
	VADDPD(to, v, v)
	VMOVUPD(v, to)
	INCQ(i)
	CMPQ(i, groups)
	JL(LabelRef(label))
}

// few adds the leaf values of a tree with n ≤ 16 leaves to dst.
func few(dst, values, bytes Mem, groups, n Register) {
	ones, low, high := GP64(), K(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVQ(ones, low)
	KSHIFTRW(U8(8), low, high)
	table := []VecVirtual{ZMM(), ZMM()}
	VMOVUPD_Z(values, low, table[0])
	VMOVUPD_Z(values.Offset(64), high, table[1])
	eights(dst, bytes, groups, "few", func(leaf Mem) VecVirtual {
		v := ZMM()
		VPMOVZXBQ(leaf, v)
		VPERMI2PD(table[1], table[0], v)
		return v
	})
}

func gathered(dst, values, bytes Mem, groups Register) {
	eights(dst, bytes, groups, "gather", func(leaf Mem) VecVirtual {
		index, v, all := YMM(), ZMM(), K()
		VPMOVZXBD(leaf, index)
		KXNORB(all, all, all)
		VPXORQ(v, v, v)
		VGATHERDPD(values.Idx(index, 8), all, v)
		return v
	})
}

// codes counts the cuts below each number, 64 numbers at a time. Each cut takes one comparison and
// one addition per 16 numbers. The last, incomplete group of numbers is read and written under
// masks.
func codes() {
	TEXT("codesAVX512", attrLeaf, "func(dst *uint8, x, cuts *float32, n, count int)")
	Doc("codesAVX512 implements codesGo for n numbers and count cuts, at least one of each.")
	Pragma("noescape")
	dst, x := Mem{Base: Load(Param("dst"), GP64())}, Mem{Base: Load(Param("x"), GP64())}
	cuts, n := Mem{Base: Load(Param("cuts"), GP64())}, Load(Param("n"), GP64())
	count, ones := Load(Param("count"), GP64()), GP64()
	one := ZMM()
	MOVQ(U32(1), ones)
	VPBROADCASTD(ones.As32(), one)

	Label("block")
	size := GP64()
	MOVQ(U32(64), size)
	CMPQ(n, size)
	CMOVQLT(n, size)
	MOVQ(I32(-1), ones)
	BZHIQ(size, ones, ones)
	v, sums, here := make([]VecVirtual, 4), make([]VecVirtual, 4), make([]Register, 4)
	for i := range v {
		v[i], sums[i], here[i] = ZMM(), ZMM(), K()
		KMOVW(ones.As32(), here[i])
		SHRQ(U8(16), ones)
		VMOVUPS_Z(x.Offset(64*i), here[i], v[i])
		VPXORD(sums[i], sums[i], sums[i])
	}
	at := GP64()
	XORQ(at, at)
	Label("cut")
	cut := ZMM()
	VBROADCASTSS(cuts.Idx(at, 4), cut)
	for i := range v {
		below := K()
		VCMPPS(U8(0x11), v[i], cut, below) // cut < v, quiet and false for NaN
		VPADDD(one, sums[i], below, sums[i])
	}
	INCQ(at)
	CMPQ(at, count)
	JL(LabelRef("cut"))
	for i := range v {
		VPMOVDB(sums[i], here[i], dst.Offset(16*i))
	}
	ADDQ(U32(256), x.Base)
	ADDQ(U8(64), dst.Base)
	SUBQ(U8(64), n)
	JG(LabelRef("block"))
	VZEROUPPER()
	RET()
}
