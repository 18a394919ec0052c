package dataset

import "math"

// Relevant returns the number of documents with a grade of at least threshold.
func (q *Query) Relevant(threshold float64) int {
	n := 0
	for _, g := range q.Grades {
		if g >= threshold {
			n++
		}
	}
	return n
}

// Threshold returns the default lowest grade that counts as relevant. If all grades are whole numbers, as
// judges give them, it returns whole. Otherwise, as with click rates, it returns the smallest positive grade.
func Threshold(whole float64, lists ...[]float64) float64 {
	smallest, fractions := math.Inf(1), false
	for _, grades := range lists {
		for _, g := range grades {
			fractions = fractions || g != math.Trunc(g)
			if g > 0 && g < smallest {
				smallest = g
			}
		}
	}
	if fractions {
		return smallest
	}
	return whole
}

// HighestGrade returns the highest grade of all documents, 0 if there are none.
func (d *Dataset) HighestGrade() float64 {
	highest := 0.0
	for _, g := range d.grades {
		highest = max(highest, g)
	}
	return highest
}
