package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// GradeCount is the number of documents of one grade, or of the grades of a bin: those
// above From up to To, both included if they are the same.
type GradeCount struct {
	From, To  float64
	Documents int
}

// String returns "2" or, of a bin, "0.5-0.6".
func (c GradeCount) String() string {
	if c.From == c.To {
		return FormatGrade(c.To)
	}
	return FormatGrade(c.From) + "-" + FormatGrade(c.To)
}

// Grades is a histogram of grades in ascending order; as JSON an object from grade
// or bin to number of documents.
type Grades []GradeCount

// MarshalJSON keeps the order, which a map would not: 10 comes after 2.
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
	mostGrades = 40 // that are counted one by one
	gradeBins  = 20 // into which more are put
)

// countGrades returns the histogram of the grades, in bins if there are many, and the
// number of different ones.
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

// binned puts all grades but 0 into bins of the same width.
func (g Grades) binned() Grades {
	var bins Grades
	if g[0].To == 0 {
		bins, g = append(bins, g[0]), g[1:]
	}
	step := g[len(g)-1].To / gradeBins
	for i := range gradeBins {
		// Bounds such as 0.15 and not 0.15000000000000002, where that is possible.
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
