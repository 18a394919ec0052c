package papers

import (
	"fmt"
	"math"
	"strconv"
)

// ranks returns the place of every value among all of them, the highest first
// and equals sharing a place; 0 for NaN.
func ranks(values []float64) []int {
	r := make([]int, len(values))
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		r[i] = 1
		for _, u := range values {
			if u > v {
				r[i]++
			}
		}
	}
	return r
}

// marks of the best three of a column, as wide as each other so that numbers
// stay aligned.
var marks = [...]string{"   ", "***", "** ", "*  "}

// marked formats a value with the mark of its rank; NaN is blank.
func marked(v float64, rank, decimals int) string {
	if math.IsNaN(v) {
		return ""
	}
	m := marks[0]
	if rank < len(marks) {
		m = marks[rank]
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + m
}

// orNil returns v as a sheet's cell: nil for NaN.
func orNil(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

// rankOrNil returns a rank as a sheet's cell: nil for 0.
func rankOrNil(rank int) any {
	if rank == 0 {
		return nil
	}
	return rank
}

// mean and sd return the mean of some values and their sample standard
// deviation, which is NaN for a single one.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func sd(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += float64((v - m) * (v - m))
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// meanAndDeviation is "0.4512 ± 0.0031", without the deviation for a single value.
func meanAndDeviation(values []float64, decimals int) string {
	text := fmt.Sprintf("%.*f", decimals, mean(values))
	if len(values) > 1 {
		text += fmt.Sprintf(" ± %.*f", decimals, sd(values))
	}
	return text
}
