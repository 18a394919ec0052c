package kernel

import "fmt"

// ForestDocs is the number of documents that a [Forest] scores at a time.
const ForestDocs = 128

// ForestLeast returns the smallest number of documents for which a [Forest] is faster than
// descending every tree once per document.
func ForestLeast() int {
	switch {
	case haveAVX512:
		return 4
	case haveAVX2:
		return 8
	}
	return 16
}

// Split divides the documents at leaf At of a tree. Documents whose code in Column is greater than
// Above move to leaf To, and the other documents stay.
type Split struct {
	Column        int // from 0
	Above, At, To uint8
}

// DecisionTree places all documents at leaf First and then applies its splits in order. The field
// To of a split must differ from First and from the To of every earlier split.
//
// To convert a binary tree, number its leaves from left to right. Each node becomes a split,
// parents before children. At is the leftmost leaf below the node, and To is the leftmost leaf
// below its right child.
type DecisionTree struct {
	Leaves int // 1 to 256
	First  uint8
	Splits []Split
}

// Forest is a sum of decision trees. The trees do not read feature values but their codes, which
// the caller computes, for example by [Codes]. A code is one byte, and a greater value has no
// smaller code. There is one column of codes per feature. Each split is applied to many documents
// at once. The current leaves of the documents, one byte per document, stay in registers during all
// splits of a tree. The method follows Lucchese et al., Exploiting CPU SIMD extensions to speed-up
// document scoring with tree ensembles, SIGIR 2016. Unlike the paper, it stores a document's leaf
// as a number instead of a bit vector of leaves.
type Forest struct {
	heights []int
	places  []int32 // the first bit of each column among the bits of all columns
	bits    int
	splits  []packedSplit
	trees   []packedTree
	leaves  int
}

// The assembly reads packedSplit and packedTree. Above, At, To − At and First are bytes, each
// stored four times, because the instructions of the assembly broadcast 32 bits.
type (
	packedSplit [4]uint32 // offset of the column's codes; Above, At, To − At
	packedTree  [3]uint32 // number of splits, number of leaves; First
)

const fourTimes = 0x01010101

// NewForest returns the sum of the given trees. heights has one element per column: the largest
// code of the column, at most 255. NewForest panics if a number is out of range.
func NewForest(heights []int, trees []DecisionTree) *Forest {
	f := &Forest{heights: heights, places: make([]int32, len(heights))}
	for c, h := range heights {
		if h < 0 || h > 255 {
			panic(fmt.Sprintf("kernel: column %d of a forest has codes up to %d, want 255 at most", c, h))
		}
		f.places[c] = int32(f.bits)
		f.bits += h
	}
	for _, t := range trees {
		if t.Leaves < 1 || t.Leaves > 256 || int(t.First) >= t.Leaves {
			panic(fmt.Sprintf("kernel: a tree of %d leaves begins at leaf %d", t.Leaves, t.First))
		}
		for _, s := range t.Splits {
			if s.Column < 0 || s.Column >= len(heights) || int(s.Above) >= heights[s.Column] || max(int(s.At), int(s.To)) >= t.Leaves || s.At == s.To {
				panic(fmt.Sprintf("kernel: found the split %+v in a tree of %d leaves", s, t.Leaves))
			}
			f.splits = append(f.splits, packedSplit{uint32(s.Column * ForestDocs), uint32(s.Above) * fourTimes, uint32(s.At) * fourTimes, uint32(s.To-s.At) * fourTimes})
		}
		f.trees = append(f.trees, packedTree{uint32(len(t.Splits)), uint32(t.Leaves), uint32(t.First) * fourTimes})
		f.leaves += t.Leaves
	}
	return f
}

// Work returns the length of the work slice that Add needs.
func (f *Forest) Work() int {
	if haveAVX2 {
		return 0
	}
	return f.bits
}

// Add adds the score of each document to dst, tree by tree. dst has one element per document, at
// most [ForestDocs]. values has the values of all leaves, in the order of the trees. codes has
// ForestDocs bytes per column, column after column. Byte i of a column is the code of document i.
// No code may be greater than the column's element of heights, the argument of [NewForest]. Add
// overwrites work, which must have length f.Work().
func (f *Forest) Add(dst, values []float64, codes []uint8, work []uint64) {
	mustMatch(len(values), f.leaves)
	mustMatch(len(codes), ForestDocs*len(f.heights))
	if len(dst) > ForestDocs {
		mustMatch(len(dst), ForestDocs)
	}
	if len(dst) == 0 || len(f.trees) == 0 {
		return
	}
	addForest(f, dst, values, codes, work)
}

// addForestGo processes 64 documents at a time, one bit per document. work contains a word for
// every column and every code k except the column's largest. The word marks the documents whose
// code is greater than k.
func addForestGo(f *Forest, dst, values []float64, codes []uint8, work []uint64) {
	work = work[:f.bits]
	for from := 0; from < len(dst); from += 64 {
		sums := dst[from:min(len(dst), from+64)]
		f.aboves(work, codes, from, from+len(sums))
		f.addBits(sums, values, work)
	}
}

// aboves sets the words of work for the documents from ≤ d < to. The word of a column and a code k
// marks the documents whose code is greater than k.
func (f *Forest) aboves(work []uint64, codes []uint8, from, to int) {
	clear(work)
	for c, h := range f.heights {
		column := work[f.places[c]:][:h]
		for d, code := range codes[c*ForestDocs+from : c*ForestDocs+to] {
			if code > 0 {
				column[code-1] |= 1 << d
			}
		}
		above := uint64(0)
		for k := len(column) - 1; k >= 0; k-- {
			above |= column[k]
			column[k] = above
		}
	}
}

// addBits adds the leaf values of up to 64 documents to dst.
func (f *Forest) addBits(dst, values []float64, aboves []uint64) {
	var at [256]uint64 // documents at each leaf
	var leaves [64]uint8
	splits := f.splits
	for _, t := range f.trees {
		at[uint8(t[2])] = ^uint64(0)
		for _, s := range splits[:t[0]] {
			above := aboves[uint32(f.places[s[0]/ForestDocs])+s[1]&0xff]
			from := uint8(s[2])
			docs := at[from]
			at[from] = docs &^ above
			at[from+uint8(s[3])] = docs & above
		}
		splits = splits[t[0]:]
		leafNumbers(&leaves, &at, int(t[1]))
		for i := range dst {
			dst[i] += values[leaves[i&63]]
		}
		values = values[t[1]:]
	}
}

// leafNumbers sets leaves[d] to the leaf of document d in a tree with n leaves. On entry, bit d of
// at[l] is set if document d is at leaf l. leafNumbers overwrites at.
func leafNumbers(leaves *[64]uint8, at *[256]uint64, n int) {
	size := 1
	for size < n {
		size *= 2
	}
	clear(at[n:size])
	var planes [8]uint64 // planes[b] has bit b of each document's leaf number
	used := 0
	for half := size / 2; half > 0; half /= 2 {
		var odds uint64
		for j := range half {
			odd := at[uint8(2*j+1)]
			odds |= odd
			at[uint8(j)] = at[uint8(2*j)] | odd
		}
		planes[used&7] = odds
		used++
	}
	for group := range 8 {
		var eight uint64
		for b := range used {
			eight |= eightBits[uint8(planes[b&7]>>(8*group))] << b
		}
		for k := range 8 {
			leaves[8*group+k] = uint8(eight >> (8 * k))
		}
	}
}

// eightBits[x] contains each bit of x as a byte: byte b is bit b of x.
var eightBits = func() (t [256]uint64) {
	for x := range t {
		for b := range 8 {
			t[x] |= uint64(x>>b&1) << (8 * b)
		}
	}
	return t
}()
