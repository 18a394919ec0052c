package parquet

// transpose writes columns as rows: column k's value of row r to x[r*width+first+k]. Several
// columns at a time, so that what is written lies together.
func transpose(x []float32, width, first int, columns [][]float32, rows int) {
	for len(columns) >= 8 {
		transpose8(x, width, first, columns[:8], rows)
		columns, first = columns[8:], first+8
	}
	for k, c := range columns {
		at := first + k
		for _, v := range c[:rows] {
			x[at] = v
			at += width
		}
	}
}

func transpose8(x []float32, width, first int, columns [][]float32, rows int) {
	a, b, c, d := columns[0][:rows], columns[1][:rows], columns[2][:rows], columns[3][:rows]
	e, f, g, h := columns[4][:rows], columns[5][:rows], columns[6][:rows], columns[7][:rows]
	at := first
	for r := range a {
		row := (*[8]float32)(x[at:])
		row[0], row[1], row[2], row[3] = a[r], b[r], c[r], d[r]
		row[4], row[5], row[6], row[7] = e[r], f[r], g[r], h[r]
		at += width
	}
}
