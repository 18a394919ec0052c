package kernel

import "fmt"

// GatherDiff sets dst[i] = s[plus[i]] − s[minus[i]]. The index slices are as long
// as dst. An index out of range panics before anything is written.
func GatherDiff(dst, s []float64, plus, minus []int32) {
	checkPairs(plus, minus, len(dst), len(s))
	gatherDiff(dst, s, plus, minus)
}

func gatherDiffGo(dst, s []float64, plus, minus []int32) {
	plus, minus = plus[:len(dst)], minus[:len(dst)]
	for i := range dst {
		dst[i] = s[plus[i]] - s[minus[i]]
	}
}

// ScatterDiff adds c[i] to s[plus[i]] and subtracts it from s[minus[i]], in the
// order of i: the adjoint of GatherDiff. The index slices are as long as c. An
// index out of range panics before anything is written.
func ScatterDiff(s, c []float64, plus, minus []int32) {
	checkPairs(plus, minus, len(c), len(s))
	plus, minus = plus[:len(c)], minus[:len(c)]
	for i, v := range c {
		s[plus[i]] += v
		s[minus[i]] -= v
	}
}

// checkPairs panics unless there are count pairs of documents below n. The check
// is a pass of its own over the indices, a tenth of the loops' time.
func checkPairs(plus, minus []int32, count, n int) {
	mustMatch(len(plus), count)
	mustMatch(len(minus), count)
	if count == 0 {
		return
	}
	if uint64(max(maxIndex(plus), maxIndex(minus))) >= uint64(n) {
		panicIndex(plus, minus, n)
	}
}

// maxIndexGo returns the largest index, a negative one counting as beyond all
// others; 0 for none.
func maxIndexGo(index []int32) uint32 {
	var m uint32
	for _, i := range index {
		m = max(m, uint32(i))
	}
	return m
}

//go:noinline
func panicIndex(plus, minus []int32, n int) {
	for i := range plus {
		for _, index := range []int32{plus[i], minus[i]} {
			if index < 0 || int(index) >= n {
				panic(fmt.Sprintf("kernel: pair %d has index %d where %d documents are", i, index, n))
			}
		}
	}
}
