package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// codesOfMany writes a binary search among the cuts, for 16 numbers at a time. A register contains
// every sixteenth cut. Four steps of the search read the register and find a block of sixteen cuts.
// Four more steps search the block in memory.
func codesOfMany() {
	TEXT("codesOfManyAVX512", attrLeaf, "func(dst *uint8, x *float32, cuts *[256]float32, n int)")
	Doc("codesOfManyAVX512 implements codesGo for n numbers, at least one. Infinities must follow the last cut.")
	Pragma("noescape")
	dst, x := Mem{Base: Load(Param("dst"), GP64())}, Mem{Base: Load(Param("x"), GP64())}
	cuts, n := Mem{Base: Load(Param("cuts"), GP64())}, Load(Param("n"), GP64())
	among := ZMM()
	{
		places, all := ZMM(), K()
		VMOVDQU64(sixteenths(), places)
		KXNORW(all, all, all)
		VPXORD(among, among, among)
		VGATHERDPS(cuts.Idx(places, 4), all, among)
	}
	step := map[int]VecVirtual{}
	for _, k := range []int{1, 2, 3, 4, 7, 8} {
		step[k] = repeated(uint32(k))
	}

	Label("sixteen")
	size, ones, here := GP64(), GP64(), K()
	MOVQ(U32(16), size)
	CMPQ(n, size)
	CMOVQLT(n, size)
	MOVQ(I32(-1), ones)
	BZHIQ(size, ones, ones)
	KMOVW(ones.As32(), here)
	v, at, probe, cut, below := ZMM(), ZMM(), ZMM(), ZMM(), K()
	VMOVUPS_Z(x, here, v)
	VPXORD(at, at, at)
	for _, half := range []int{8, 4, 2, 1} {
		index := at
		if half > 1 {
			index = probe
			VPADDD(step[half-1], at, probe)
		}
		VPERMPS(among, index, cut)
		VCMPPS(U8(0x11), v, cut, below) // cut < v, quiet and false for NaN
		VPADDD(step[half], at, below, at)
	}
	VPSLLD(U8(4), at, at)
	for _, half := range []int{8, 4, 2, 1} {
		all := K()
		KXNORW(all, all, all)
		VPXORD(cut, cut, cut)
		VGATHERDPS(cuts.Offset(4*(half-1)).Idx(at, 4), all, cut)
		VCMPPS(U8(0x11), v, cut, below)
		VPADDD(step[half], at, below, at)
	}
	VPMOVDB(at, here, dst)
	ADDQ(U8(64), x.Base)
	ADDQ(U8(16), dst.Base)
	SUBQ(U8(16), n)
	JG(LabelRef("sixteen"))
	VZEROUPPER()
	RET()
}

// repeated returns a register with sixteen copies of a word.
func repeated(word uint32) VecVirtual {
	one, v := GP32(), ZMM()
	MOVL(U32(word), one)
	VPBROADCASTD(one, v)
	return v
}

// sixteenths returns the indices 15, 31, …, 255 as a vector operand.
func sixteenths() Mem {
	var words []uint64
	for k := range uint64(8) {
		words = append(words, (32*k+31)<<32|(32*k+15))
	}
	return table("sixteenths", words...)
}
