package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// GradeCount is the number of documents with a grade, or with the grades of a bin.
type GradeCount struct {
	From, To  float64 // the bin has the grades above From and up to To; equal for a single grade
	Documents int     // number of documents
}

// String returns the grade, such as "2", or the bin, such as "0.5-0.6".
func (c GradeCount) String() string {
	if c.From == c.To {
		return FormatGrade(c.To)
	}
	return FormatGrade(c.From) + "-" + FormatGrade(c.To)
}

// Grades is a histogram of grades in ascending order. Its JSON form is an object that maps each grade or bin
// to the number of documents.
type Grades []GradeCount

// MarshalJSON writes the grades in ascending order. A map would have 10 before 2.
func (g Grades) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, c := range g {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%d", c, c.Documents)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// FormatGrade returns the shortest decimal form of a grade, "2" for 2.
func FormatGrade(grade float64) string { return strconv.FormatFloat(grade, 'f', -1, 64) }

const (
	mostGrades = 40 // largest number of grades that are counted individually
	gradeBins  = 20 // number of bins for more grades
)

// countGrades returns the histogram of the grades and the number of different grades. The histogram has bins
// if there are many grades.
func countGrades(d *Dataset) (histogram Grades, distinct int) {
	counts := make(map[float64]int)
	for _, g := range d.grades {
		counts[g]++
	}
	grades := make(Grades, 0, len(counts))
	for g, n := range counts {
		grades = append(grades, GradeCount{g, g, n})
	}
	slices.SortFunc(grades, func(a, b GradeCount) int { return cmp.Compare(a.To, b.To) })
	if len(grades) <= mostGrades {
		return grades, len(grades)
	}
	return grades.binned(), len(grades)
}

// binned returns a histogram with bins of equal width for all grades but 0.
func (g Grades) binned() Grades {
	var bins Grades
	if g[0].To == 0 {
		bins, g = append(bins, g[0]), g[1:]
	}
	step := g[len(g)-1].To / gradeBins
	for i := range gradeBins {
		// Prefer bounds such as 0.15 to 0.15000000000000002.
		bins = append(bins, GradeCount{From: short(float64(i) * step), To: short(float64(i+1) * step)})
	}
	first := len(bins) - gradeBins
	bins[len(bins)-1].To = g[len(g)-1].To
	at := first
	for _, c := range g {
		for at < len(bins)-1 && c.To > bins[at].To {
			at++
		}
		bins[at].Documents += c.Documents
	}
	return bins
}

// short rounds to six significant digits.
func short(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v // rounding up overflows
	}
	return r
}
