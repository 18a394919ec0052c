package kernel

// Columns copies the first width words of selected rows of a matrix to columns. dst[k·apart+i]
// becomes word k of row rows[i], which is matrix[rows[i]·stride+k]. Rows may overlap. Columns must
// not, so apart is at least the number of rows.
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
