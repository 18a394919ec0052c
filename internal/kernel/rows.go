package kernel

import "fmt"

// SuffixRows computes running sums up the columns of a row-major matrix of width columns. Row t
// becomes the sum of rows t and below, added from the last row upward. SuffixRows is the adjoint
// (transpose) of running sums down the columns, such as those of [Pairs.PrefixDiff].
func SuffixRows(e []float64, width int) {
	if checkRows(len(e), width) > 1 {
		suffixRows(e, width)
	}
}

func suffixRowsGo(e []float64, width int) {
	for i := len(e) - width - 1; i >= 0; i-- {
		e[i] += e[i+width]
	}
}

// checkRows returns the number of rows of n elements. It panics if the last row is incomplete.
func checkRows(n, width int) int {
	if n == 0 {
		return 0
	}
	if width <= 0 || n%width != 0 {
		panicWidth(n, width)
	}
	return n / width
}

//go:noinline
func panicWidth(n, width int) {
	panic(fmt.Sprintf("kernel: %d elements do not make rows of width %d", n, width))
}
