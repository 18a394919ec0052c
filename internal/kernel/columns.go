package kernel

// Columns copies the first width words of selected rows of a matrix to columns of dst. Row r of the
// matrix begins at matrix[r·stride], and column k begins at dst[k·apart]. Columns sets
// dst[k·apart+i] to word k of row rows[i]. apart must be at least the number of rows, so that
// columns do not overlap. The rows of the matrix may overlap.
func Columns(dst []uint64, apart int, matrix []uint64, stride, width int, rows []uint32) {
	if len(rows) == 0 || width <= 0 {
		return
	}
	if apart < len(rows) {
		mustMatch(apart, len(rows))
	}
	_ = dst[(width-1)*apart+len(rows)-1]
	_ = matrix[int(largest(rows))*stride+width-1]
	copyColumns(dst, apart, matrix, stride, width, rows)
}

// largest returns the largest element of rows, which must not be empty.
func largest(rows []uint32) uint32 {
	most := rows[0]
	for _, r := range rows[1:] {
		most = max(most, r)
	}
	return most
}

func columnsGo(dst []uint64, apart int, matrix []uint64, stride, width int, rows []uint32) {
	for i, r := range rows {
		at := i
		for _, word := range matrix[int(r)*stride:][:width] {
			dst[at] = word
			at += apart
		}
	}
}
