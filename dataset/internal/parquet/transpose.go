package parquet

// tileRows is the number of rows that are written at a time. They stay in the processor's first cache while
// all columns are written to them.
const tileRows = 64

// transpose writes columns as rows of the given width. It writes eight columns at a time if their features are
// adjacent in a row.
func transpose(x []float32, width int, columns []number, rows int) {
	for from := 0; from < rows; from += tileRows {
		to := min(from+tileRows, rows)
		tile := x[from*width : to*width]
		for k := 0; k < len(columns); {
			if k+8 <= len(columns) && columns[k+7].feature == columns[k].feature+7 {
				transpose8(tile, width, columns[k:k+8], from, to)
				k += 8
				continue
			}
			at := columns[k].feature
			for _, v := range columns[k].values[from:to] {
				tile[at] = v
				at += width
			}
			k++
		}
	}
}

// transpose8 does the work of transpose for eight columns of adjacent features.
func transpose8(x []float32, width int, columns []number, from, to int) {
	n := to - from
	a, b, c, d := columns[0].values[from:to], columns[1].values[from:][:n], columns[2].values[from:][:n], columns[3].values[from:][:n]
	e, f, g, h := columns[4].values[from:][:n], columns[5].values[from:][:n], columns[6].values[from:][:n], columns[7].values[from:][:n]
	at := columns[0].feature
	for r := range a {
		row := (*[8]float32)(x[at:])
		row[0], row[1], row[2], row[3] = a[r], b[r], c[r], d[r]
		row[4], row[5], row[6], row[7] = e[r], f[r], g[r], h[r]
		at += width
	}
}
