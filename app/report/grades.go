package report

import "slices"

// mostGrades is the largest number of different grades on a page. More, as of click rates,
// are rounded: the page shows grades and what an exchange of documents does from the
// rounded ones; all measures are of the exact ones.
const mostGrades = 1000

// gradeTable is the grades of a page, ascending.
type gradeTable struct {
	values []float64
	digits int // significant ones that grades are rounded to; 0: none are
}

// newGradeTable returns the table of the different grades among the given ones, rounded
// to as many digits as keep it short.
func newGradeTable(distinct []float64) gradeTable {
	t := gradeTable{values: slices.Clone(distinct)}
	slices.Sort(t.values)
	for digits := 6; len(t.values) > mostGrades && digits > 0; digits-- {
		t.digits = digits
		for i, g := range t.values {
			t.values[i] = rounded(g, digits)
		}
		t.values = slices.Compact(t.values)
	}
	return t
}

// place returns the index of a grade.
func (t *gradeTable) place(grade float64) int {
	i, _ := slices.BinarySearch(t.values, t.round(grade))
	return i
}

// from returns the index of the first grade that reaches a threshold.
func (t *gradeTable) from(threshold float64) int {
	i, _ := slices.BinarySearch(t.values, t.round(threshold))
	return i
}

func (t *gradeTable) round(grade float64) float64 {
	if t.digits == 0 {
		return grade
	}
	return rounded(grade, t.digits)
}
