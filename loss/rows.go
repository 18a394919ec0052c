package loss

// prefixRows adds to every row of the row-major matrix e, of width columns, the
// row above it, from the second row on: running sums down the columns.
func prefixRows(e []float64, width int) {
	for i := width; i < len(e); i++ {
		e[i] += e[i-width]
	}
}

// suffixRows adds to every row the row below it, from the last but one up.
func suffixRows(e []float64, width int) {
	for i := len(e) - width - 1; i >= 0; i-- {
		e[i] += e[i+width]
	}
}
