//go:build amd64 && !noasm

package kernel

import (
	"math"

	"golang.org/x/sys/cpu"
)

// haveAVX2 reports whether the processor and the operating system support AVX2 and fused
// multiply-add. To support another instruction set, add a variable like haveAVX2 and, in the
// functions below, a case before the case of AVX2.
var haveAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// haveAVX512 reports whether the AVX-512 code may be used: the build includes it, and both the
// processor and the operating system support its instructions.
var haveAVX512 = useAVX512 && haveAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2

func dot(x, y []float64) float64 {
	if haveAVX2 {
		return dotAVX2(x, y)
	}
	return dotGo(x, y)
}

func dot32(x []float32, w []float64) float64 {
	if haveAVX2 {
		return dot32AVX2(x, w)
	}
	return dot32Go(x, w)
}

func gemv(dst []float64, x []float32, w []float64) {
	if haveAVX2 {
		gemvAVX2(dst, x, w)
		return
	}
	gemvGo(dst, x, w)
}

func gemvT(grad []float64, x []float32, lambda []float64, next *float32) {
	if haveAVX2 {
		gemvTAVX2(grad, x, lambda, next)
		return
	}
	gemvTGo(grad, x, lambda)
}

// gemm multiplies all rows of x by two or three vectors per pass over x. If x has a single row, a
// pass multiplies the row by up to six vectors.
func gemm(dst []float64, x []float32, w []float64, rows, columns int) {
	if !haveAVX2 {
		gemmGo(dst, x, w, rows, columns)
		return
	}
	for len(dst) > 0 {
		n := 3
		switch units := len(dst) / rows; {
		case rows == 1 && units >= 6:
			n = 6
			gemmRow6AVX2(dst, x, w)
		case rows == 1 && units >= 4:
			n = 4
			gemmRow4AVX2(dst, x, w)
		case units == 1:
			n = 1
			gemvAVX2(dst[:rows], x, w[:columns])
		case units == 2 || units == 4:
			n = 2
			gemm2AVX2(dst, x, w, rows, columns)
		default:
			gemm3AVX2(dst, x, w, rows, columns)
		}
		dst, w = dst[n*rows:], w[n*columns:]
	}
}

// gemmT adds the products of up to five vectors in each pass over x.
func gemmT(grad []float64, x []float32, delta []float64, rows, columns int) {
	if !haveAVX2 {
		gemmTGo(grad, x, delta, rows, columns)
		return
	}
	for len(grad) > 0 {
		n := 5
		switch len(delta) / rows {
		case 1:
			n = 1
			gemvTAVX2(grad[:columns], x, delta[:rows], &x[0])
		case 2, 4:
			n = 2
			gemmT2AVX2(grad, x, delta, rows, columns)
		case 3:
			n = 3
			gemmT3AVX2(grad, x, delta, rows, columns)
		default:
			gemmT5AVX2(grad, x, delta, rows, columns)
		}
		grad, delta = grad[n*columns:], delta[n*rows:]
	}
}

func axpy(a float64, x, y []float64) {
	if haveAVX2 {
		axpyAVX2(a, x, y)
		return
	}
	axpyGo(a, x, y)
}

func add(dst, x []float64) {
	if haveAVX2 {
		addAVX2(dst, x)
		return
	}
	addGo(dst, x)
}

func scale(a float64, x []float64) {
	if haveAVX2 {
		scaleAVX2(a, x)
		return
	}
	scaleGo(a, x)
}

func adam(x, grad, m, v []float64, beta1, beta2, rate, epsilon float64) {
	if haveAVX2 {
		adamAVX2(x, grad, m, v, beta1, beta2, rate, epsilon)
		return
	}
	adamGo(x, grad, m, v, beta1, beta2, rate, epsilon)
}

func maximum(x []float64) float64 {
	if haveAVX2 {
		return maxAVX2(x)
	}
	return maxGo(x)
}

func sum(x []float64) float64 {
	if haveAVX2 {
		return sumAVX2(x)
	}
	return sumGo(x)
}

func exp(dst, x []float64) {
	switch {
	case haveAVX512:
		expAVX512(dst, x)
	case haveAVX2:
		expAVX2(dst, x)
	default:
		expGo(dst, x)
	}
}

func expPlus(dst, x []float64, a float64, y []float64) {
	switch {
	case haveAVX512:
		expPlusAVX512(dst, x, a, y)
	case haveAVX2:
		expPlusAVX2(dst, x, a, y)
	default:
		expPlusGo(dst, x, a, y)
	}
}

func expSum(dst, x []float64, shift float64) float64 {
	switch {
	case haveAVX512:
		return expSumAVX512(dst, x, shift)
	case haveAVX2:
		return expSumAVX2(dst, x, shift)
	}
	return expSumGo(dst, x, shift)
}

func sumExp(x []float64, shift float64) float64 {
	switch {
	case haveAVX512:
		return sumExpAVX512(x, shift)
	case haveAVX2:
		return sumExpAVX2(x, shift)
	}
	return sumExpGo(x, shift)
}

func logs(dst, x []float64) {
	switch {
	case haveAVX512:
		logAVX512(dst, x)
	case haveAVX2:
		logAVX2(dst, x)
	default:
		logGo(dst, x)
	}
}

func softplus(dst, x []float64) {
	switch {
	case haveAVX512:
		softplusAVX512(dst, x)
	case haveAVX2:
		softplusAVX2(dst, x)
	default:
		softplusGo(dst, x)
	}
}

func logistic(dst, x []float64) {
	switch {
	case haveAVX512:
		logisticAVX512(dst, x)
	case haveAVX2:
		logisticAVX2(dst, x)
	default:
		logisticGo(dst, x)
	}
}

func logisticRow(a float64, e, grad []float64) (u float64, k int64, probSum float64) {
	if haveAVX2 {
		return logisticRowAVX2(a, e, grad)
	}
	return logisticRowGo(a, e, grad)
}

func slopeRow(a, c float64, e, grad []float64) float64 {
	if haveAVX2 {
		return slopeRowAVX2(a, c, e, grad)
	}
	return slopeRowGo(a, c, e, grad)
}

func logisticRows(a, e, grad []float64, from []int32) (u float64, k int64) {
	if haveAVX2 {
		return logisticRowsAVX2(a, e, grad, from)
	}
	return logisticRowsGo(a, e, grad, from)
}

func gatherDiff(dst []float64, a float64, s []float64, plus, minus []uint16) {
	if haveAVX2 {
		gatherDiffAVX2(dst, a, s, plus, minus)
		return
	}
	gatherDiffGo(dst, a, s, plus, minus)
}

func prefixDiff(e []float64, a float64, s []float64, plus, minus []uint16, width int) {
	if haveAVX2 {
		// A vector must not reach beyond one row unless rows have a multiple of four columns.
		row := width
		if width%4 == 0 {
			row = len(plus)
		}
		prefixDiffAVX2(e, a, s, plus, minus, width, row)
		return
	}
	prefixDiffGo(e, a, s, plus, minus, width)
}

// expWalks computes Pairs.ExpWalks and returns true. It returns false, and changes nothing, if no
// assembly is available for these arguments.
func expWalks(e []float64, a float64, s []float64, plus, minus []uint16, b float64, y []float64, kept Kept) bool {
	if !haveAVX512 || len(plus) == 0 {
		return false
	}
	expWalksAVX512(e, a, s, plus, minus, b, y, kept.bits, kept.width)
	return true
}

func addLists(dst, c []float64, at []uint16, steps []int32) {
	if haveAVX2 {
		addListsAVX2(dst, c, at, steps)
		return
	}
	addListsGo(dst, c, at, steps)
}

func suffixRows(e []float64, width int) {
	if haveAVX2 {
		scanRowsAVX2(&e[len(e)-width], -8*width, len(e)/width, width)
		return
	}
	suffixRowsGo(e, width)
}

// manyCuts is the number of cuts above which a binary search is faster than a comparison with every
// cut.
const manyCuts = 80

func codes(dst []uint8, x, cuts []float32) {
	if haveAVX512 && len(x) > 0 && len(cuts) > manyCuts {
		var all [256]float32
		for i := copy(all[:], cuts); i < len(all); i++ {
			all[i] = float32(math.Inf(1))
		}
		codesOfManyAVX512(&dst[0], &x[0], &all, len(x))
		return
	}
	if haveAVX512 && len(x) > 0 && len(cuts) > 0 {
		codesAVX512(&dst[0], &x[0], &cuts[0], len(x), len(cuts))
		return
	}
	if blocks := len(x) / 32; haveAVX2 && blocks > 0 && len(cuts) > 0 {
		codesAVX2(&dst[0], &x[0], &cuts[0], blocks, len(cuts))
		dst, x = dst[32*blocks:], x[32*blocks:]
	}
	codesGo(dst, x, cuts)
}

func addForest(f *Forest, dst, values []float64, codes []uint8, work []uint64) {
	if !haveAVX2 {
		addForestGo(f, dst, values, codes, work)
		return
	}
	var all [ForestDocs]float64
	sums, groups := dst, (len(dst)+7)/8
	if len(dst)%8 != 0 {
		copy(all[:], dst)
		sums = all[:]
	}
	var split, column = new(uint32), new(uint8) // for a forest without splits
	if len(f.splits) > 0 {
		split, column = &f.splits[0][0], &codes[0]
	}
	if haveAVX512 {
		addForestAVX512(&sums[0], &values[0], column, split, &f.trees[0][0], len(f.trees), groups)
	} else {
		addForestAVX2(&sums[0], &values[0], column, split, &f.trees[0][0], len(f.trees), groups)
	}
	if len(dst)%8 != 0 {
		copy(dst, all[:])
	}
}

func divisionBound(sums []uint64, left, total uint64, l2, least float32) float32 {
	if haveAVX2 {
		return divisionBoundAVX2(sums, left, total, l2, least)
	}
	return divisionBoundGo(sums, left, total, l2, least)
}

func subtract(dst, x []uint64) {
	if haveAVX2 {
		subtractAVX2(dst, x)
		return
	}
	subtractGo(dst, x)
}

func copyColumns(dst []uint64, apart int, matrix []uint64, stride, width int, rows []uint32) {
	if haveAVX2 {
		columnsAVX2(&dst[0], apart, &matrix[0], stride, width, &rows[0], len(rows))
		return
	}
	columnsGo(dst, apart, matrix, stride, width, rows)
}

func without(words, kept, values []uint64, word uint64) (left int, dropped uint64) {
	eights := len(words) &^ 7
	if !haveAVX512 || eights == 0 {
		return withoutGo(words, kept, values, word)
	}
	left, dropped = withoutAVX512(&words[0], &kept[0], &values[0], eights, word)
	left, more := withoutFrom(eights, left, words, kept, values, word)
	return left, dropped + more
}

func addSwaps(l SwapLaw, sums *SwapSums, lambda, second, losses, e []float64) {
	n := len(lambda) &^ 3
	if !haveAVX2 || n == 0 {
		addSwapsGo(l, sums, lambda, second, losses, e)
		return
	}
	addSwapsAVX2(&sums.F, &lambda[0], &second[0], &losses[0], &e[0], n, l.Sigma, l.Ease, l.Upper)
	addSwapsGo(l, sums, lambda[n:], second[n:], losses[n:], e[n:])
}

func divideByGaps(x, scores []float64, top, least float64) {
	n := len(x) &^ 3
	if !haveAVX2 || n == 0 {
		divideByGapsGo(x, scores, top, least)
		return
	}
	divideByGapsAVX2(&x[0], &scores[0], n, top, least)
	divideByGapsGo(x[n:], scores[n:], top, least)
}
