package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// A document is relevant if its grade is at least the threshold. A Convention contains the threshold,
// so that training and evaluation use the same one. If the user does not choose a threshold, For
// derives it from the data. If all grades are whole numbers, it is the threshold of the convention.
// Otherwise it is the smallest positive grade, because fractional grades may all be below 1.

// Threshold returns the lowest relevant grade. It is the chosen threshold or, without one, the
// convention's threshold for whole grades (1, or 2 for mslr).
func (c Convention) Threshold() float64 {
	switch {
	case c.chosen > 0:
		return c.chosen
	case c.threshold > 0:
		return c.threshold
	}
	return 1
}

// WithThreshold returns the convention with a chosen lowest relevant grade, so that it does not depend
// on the data. It panics if [CheckThreshold] returns an error.
func (c Convention) WithThreshold(threshold float64) Convention {
	if err := CheckThreshold(threshold); err != nil {
		panic("measure: " + err.Error())
	}
	c.chosen, c.settled = threshold, false
	return c
}

// CheckThreshold returns an error unless threshold is positive and finite.
func CheckThreshold(threshold float64) error {
	if !(threshold > 0) || math.IsInf(threshold, 1) {
		return fmt.Errorf("relevance threshold %v: expected a positive number", threshold)
	}
	return nil
}

// For returns the convention with its threshold for the given data sets together. It is the chosen
// threshold or, without one, the result of [dataset.Threshold] for all queries except those of weight
// 0.
func (c Convention) For(sets ...*dataset.Dataset) Convention {
	var lists [][]float64
	for _, d := range sets {
		if d.QueryWeights() == nil {
			lists = append(lists, d.Grades())
			continue
		}
		for i := range d.Queries {
			if q := &d.Queries[i]; q.Weight() > 0 {
				lists = append(lists, q.Grades)
			}
		}
	}
	return c.ForGrades(lists...)
}

// ForGrades returns the convention with its threshold for the given grades, as [Convention.For] does
// for data sets.
func (c Convention) ForGrades(lists ...[]float64) Convention {
	if c.chosen > 0 {
		return c
	}
	c = c.WithThreshold(dataset.Threshold(c.Threshold(), lists...))
	c.settled = true
	return c
}

// Under returns the measure with another convention. It returns a measure of another package unchanged.
func Under(m Measure, c Convention) Measure {
	if own, ok := m.(interface{ under(c Convention) Measure }); ok {
		return own.under(c)
	}
	return m
}

// ForTraining returns the measure to use in training. It is m without the rule of letor4 and mslr that
// NDCG@k is 0 for a list with fewer than k documents. Training could learn nothing from such lists.
// Evaluation needs the rule to agree with the published scripts. The convention keeps its name.
// ForTraining returns nil for nil.
func ForTraining(m Measure) Measure {
	c := ConventionOf(m)
	if !c.shortZero {
		return m
	}
	c.shortZero = false
	return Under(m, c)
}

// For returns the measure with the threshold for the given data sets; see [Convention.For]. It returns
// nil for nil.
func For(m Measure, sets ...*dataset.Dataset) Measure {
	if m == nil {
		return nil
	}
	return Under(m, ConventionOf(m).For(sets...))
}

// ForAll returns each measure with the threshold for the given data sets, as [For] does.
func ForAll(measures []Measure, sets ...*dataset.Dataset) []Measure {
	all := make([]Measure, len(measures))
	for i, m := range measures {
		all[i] = For(m, sets...)
	}
	return all
}

// Extremes returns the values of a measure for the worst and the best order of documents with the given
// grades. ok is false if the convention excludes such a query from means.
func Extremes(m Measure, grades []float64) (worst, best float64, ok bool) {
	s := getScratch()
	defer s.put()
	ranked := descending(s, grades, len(grades))
	best, ok = m.Value(ranked)
	slices.Reverse(ranked)
	worst, _ = m.Value(ranked)
	return worst, best, ok
}

// CheckVaries returns an error if the measure has the same value for the best and the worst order of
// every query of d. Such a measure cannot select a model. The error says how to fix this. Queries of
// weight 0 do not count.
func CheckVaries(m Measure, d *dataset.Dataset) error {
	if err := d.CheckQueryWeights(); err != nil {
		return err
	}
	for i := range d.Queries {
		if d.Queries[i].Weight() == 0 {
			continue
		}
		if worst, best, ok := Extremes(m, d.Queries[i].Grades); ok && best != worst {
			return nil
		}
	}
	err := fmt.Errorf("found no query on which %s depends on the order of the documents", m.Name())
	if threshold, ok := RelevanceOf(m); ok {
		return fmt.Errorf("%w (a document is relevant from grade %g on, the highest grade is %g), expected another threshold, or a measure of graded relevance such as ndcg",
			err, threshold, d.HighestGrade())
	}
	return fmt.Errorf("%w (the highest grade is %g), expected queries with documents of different grades, or another measure", err, d.HighestGrade())
}

// RelevanceOf returns the lowest grade that a measure treats as relevant: the grade in its name,
// otherwise the convention's threshold. ok is false for measures without binary relevance and for
// measures of other packages.
func RelevanceOf(m Measure) (threshold float64, ok bool) {
	if b, is := m.(interface{ relevance() (float64, bool) }); is {
		return b.relevance()
	}
	return 0, false
}
