package train

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// indifferentShare is the part of the queries with different grades from which on Indifference
// has something to say.
const indifferentShare = 0.1

// Indifference returns a sentence if a training measure has the same value for every order of
// the documents in many queries of d; else it is empty. Such a measure cannot teach their order.
// A nil measure is indifferent to nothing.
func Indifference(m measure.Measure, d *dataset.Dataset) string {
	if m == nil {
		return ""
	}
	m = measure.ForTraining(measure.For(m, d))
	indifferent, graded := countIndifferent(m, d)
	if indifferent == 0 || float64(indifferent) < indifferentShare*float64(graded) {
		return ""
	}
	convention, hint := measure.ConventionOf(m), "another measure or threshold may tell them apart"
	standard := measure.Standard.WithThreshold(convention.Threshold())
	if fewer, _ := countIndifferent(measure.Under(m, standard), d); fewer < indifferent {
		hint = "the convention standard tells more of them apart"
	}
	return fmt.Sprintf("%s under the convention %s has the same value for every order of the documents in %d of the %d queries with different grades, so that it cannot teach their order; %s",
		m.Name(), convention.Name(), indifferent, graded, hint)
}

// countIndifferent returns for how many queries of different grades the measure has the same
// value for every order of the documents.
func countIndifferent(m measure.Measure, d *dataset.Dataset) (indifferent, graded int) {
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.Weight() == 0 || q.Len() == 0 || slices.Min(q.Grades) == slices.Max(q.Grades) {
			continue
		}
		graded++
		if worst, best, ok := measure.Extremes(m, q.Grades); !ok || worst == best {
			indifferent++
		}
	}
	return indifferent, graded
}
