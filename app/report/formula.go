package report

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
)

// formula describes a measure for the scripts, which compute the effect of exchanging two
// documents. It contains gains, discounts and relevance under the measure's convention. Kind is
// empty for a measure that the scripts do not know.
type formula struct {
	Name     string    `json:"name"`
	Kind     string    `json:"kind,omitempty"`
	K        int       `json:"k,omitempty"`     // cut-off; 0 for none
	Gains    []float64 `json:"gains,omitempty"` // by index in data.Grades
	Discount []float64 `json:"discount,omitempty"`
	Relevant int       `json:"relevant"` // index of the first relevant grade in data.Grades
	Empty    float64   `json:"empty"`    // value of a query without relevant documents
	Short    bool      `json:"short,omitempty"`
}

// newFormula describes a measure for queries with the given grades and at most docs documents.
func newFormula(m measure.Measure, grades *gradeTable, docs int) formula {
	c := measure.ConventionOf(m)
	f := formula{Name: m.Name(), Relevant: grades.from(c.Threshold())}
	if threshold, ok := measure.RelevanceOf(m); ok {
		f.Relevant = grades.from(threshold)
	}
	f.Empty, _ = m.Value([]float64{0})
	f.K = measure.CutoffOf(m)
	switch family := measure.Family(m); family {
	case "map", "ap":
		if f.K == 0 {
			f.Kind = "map"
		}
	case "mrr", "p", "r":
		f.Kind = family
	case "ndcg", "dcg":
		f.gains(family, m, c, grades.values, docs)
	}
	return f
}

// gains completes the formula of a DCG. If the gains are too large to add, Kind remains empty.
func (f *formula) gains(kind string, m measure.Measure, c measure.Convention, grades []float64, docs int) {
	if len(grades) > 0 && !(c.Gain(grades[len(grades)-1]) < 1e200) {
		return
	}
	f.Kind = kind
	for _, g := range grades {
		f.Gains = append(f.Gains, c.Gain(g))
	}
	if f.K > 0 {
		docs = min(docs, f.K)
	}
	for r := 1; r <= docs; r++ {
		f.Discount = append(f.Discount, rounded(c.Discount(r), 8))
	}
	// The shortest list reveals whether the convention gives short lists the value 0.
	if value, ok := m.Value([]float64{1}); ok && value == 0 && f.K > 1 && !math.IsNaN(value) {
		f.Short = true
	}
}

// mostGrades is the largest number of different grades on a page. If there are more, such as with
// click rates, grades are rounded for display. Measures always use the exact grades.
const mostGrades = 1000

type gradeTable struct {
	values []float64
	digits int // number of significant digits of the rounded grades; 0: not rounded
}

// newGradeTable returns the table of the given distinct grades. It rounds the grades if there are
// too many.
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
