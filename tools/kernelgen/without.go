package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// without processes eight words at a time. It moves the remaining words to the front of a vector
// and stores the whole vector. The surplus lanes are overwritten later or never read.
func without() {
	TEXT("withoutAVX512", attrLeaf, "func(words, kept, values *uint64, n int, word uint64) (left int, dropped uint64)")
	Doc("withoutAVX512 implements withoutGo for n words. n must be a positive multiple of 8.")
	Pragma("noescape")
	from, kept, values := Mem{Base: Load(Param("words"), GP64())}, Mem{Base: Load(Param("kept"), GP64())}, Mem{Base: Load(Param("values"), GP64())}
	n, left := Load(Param("n"), GP64()), GP64()
	word, sum := ZMM(), ZMM()
	VPBROADCASTQ(Load(Param("word"), GP64()), word)
	VPXORQ(sum, sum, sum)
	to := Mem{Base: GP64()}
	MOVQ(from.Base, to.Base)
	XORQ(left, left)

	Label("eight")
	w, v, other, same, many := ZMM(), ZMM(), K(), K(), GP64()
	VMOVDQU64(from, w)
	VMOVDQU64(values, v)
	VPCMPEQQ(word, w, same)
	VPCMPQ(U8(4), word, w, other) // ≠
	VPADDQ(v, sum, same, sum)
	VPCOMPRESSQ_Z(w, other, w)
	VPCOMPRESSQ_Z(v, other, v)
	VMOVDQU64(w, to.Idx(left, 8))
	VMOVDQU64(v, kept.Idx(left, 8))
	KMOVW(other, many.As32())
	POPCNTQ(many, many)
	ADDQ(many, left)
	ADDQ(U8(64), from.Base)
	ADDQ(U8(64), values.Base)
	SUBQ(U8(8), n)
	JNZ(LabelRef("eight"))

	upper, total := YMM(), GP64()
	lower := sum.AsY().(VecVirtual)
	VEXTRACTI64X4(U8(1), sum, upper)
	VPADDQ(upper, lower, lower)
	x, half := lower.AsX(), XMM()
	VEXTRACTI128(U8(1), lower, half)
	VPADDQ(half, x, x)
	VPSRLDQ(U8(8), x, half)
	VPADDQ(half, x, x)
	VMOVQ(x, total)
	VZEROUPPER()
	Store(left, Return("left"))
	Store(total, Return("dropped"))
	RET()
}
