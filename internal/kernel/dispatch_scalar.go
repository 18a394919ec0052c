//go:build !amd64 || noasm

package kernel

// The functions of this file have assembly on amd64 only, so other builds use the portable
// reference.

const haveAVX2, haveAVX512 = false, false

func gatherDiff(dst []float64, a float64, s []float64, plus, minus []uint16) {
	gatherDiffGo(dst, a, s, plus, minus)
}

func prefixDiff(e []float64, a float64, s []float64, plus, minus []uint16, width int) {
	prefixDiffGo(e, a, s, plus, minus, width)
}

func addLists(dst, c []float64, at []uint16, steps []int32) { addListsGo(dst, c, at, steps) }

func codes(dst []uint8, x, cuts []float32) { codesGo(dst, x, cuts) }

func addForest(f *Forest, dst, values []float64, codes []uint8, work []uint64) {
	addForestGo(f, dst, values, codes, work)
}

func divisionBound(sums []uint64, left, total uint64, l2, least float32) float32 {
	return divisionBoundGo(sums, left, total, l2, least)
}

func subtract(dst, x []uint64) { subtractGo(dst, x) }

func copyColumns(dst []uint64, apart int, matrix []uint64, stride, width int, rows []uint32) {
	columnsGo(dst, apart, matrix, stride, width, rows)
}

func without(words, kept, values []uint64, word uint64) (left int, dropped uint64) {
	return withoutGo(words, kept, values, word)
}

func addSwaps(l SwapLaw, sums *SwapSums, lambda, second, losses, e []float64) {
	addSwapsGo(l, sums, lambda, second, losses, e)
}

func divideByGaps(x, scores []float64, top, least float64) { divideByGapsGo(x, scores, top, least) }

func expWalks([]float64, float64, []float64, []uint16, []uint16, float64, []float64, Kept) bool {
	return false
}
