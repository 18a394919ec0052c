package measure

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
)

// gradeLimit is a Measure that is not defined for all grades.
type gradeLimit interface {
	// checkGrade returns an error if the highest grade of the data is too high.
	checkGrade(highest float64) error
}

// Evaluate measures the ranking of every query by the scores, one a row of d.
// Measures must have different names and be Averagers, as all that [Parse]
// returns are; their relevance threshold, unless chosen, is for d: see [For]. Queries are spread over the processors; the result does not
// depend on how many there are.
//
// An error tells of a wrong number of scores, a score that is not a number, grades
// for which a measure is not defined, or data whose file changed meanwhile.
func Evaluate(d *dataset.Dataset, scores []float64, measures []Measure, ties TiePolicy) (*Result, error) {
	averagers, err := checkMeasures(measures, d)
	if err != nil {
		return nil, err
	}
	if err := checkScores(d, scores); err != nil {
		return nil, err
	}
	r := newResult(d, measures, ties)
	rankers := make([]Ranker, parallel.Workers(0, len(d.Queries)))
	parallel.For(len(d.Queries), len(rankers), func(worker, i int) {
		ranker, q := &rankers[worker], &d.Queries[i]
		ranker.Ties = ties
		r.measureQuery(i, ranker, averagers, q.Grades, scores[q.Start:q.Start+q.Len()])
	})
	return r, d.Changed()
}

// Mean returns the mean of one measure over the queries that count, and their
// number, without the statistics of ties: the path for model selection. The
// mean of no query is NaN. Shapes, scores and the measure's relevance threshold, see
// [For], are the caller's care.
func (r *Ranker) Mean(d *dataset.Dataset, scores []float64, m Measure) (mean float64, counted int) {
	var sum float64
	for i := range d.Queries {
		q := &d.Queries[i]
		if v, ok := r.Value(m, q.Grades, scores[q.Start:q.Start+q.Len()]); ok {
			sum += v
			counted++
		}
	}
	return sum / float64(counted), counted
}

func checkMeasures(measures []Measure, d *dataset.Dataset) ([]Averager, error) {
	var highest float64
	if g := d.Grades(); len(g) > 0 {
		highest = slices.Max(g)
	}
	averagers := make([]Averager, len(measures))
	seen := make(map[string]bool)
	for i, m := range measures {
		m = For(m, d)
		a, ok := m.(Averager)
		switch {
		case !ok:
			return nil, fmt.Errorf("measure %s has no expected value under ties", m.Name())
		case seen[m.Name()]:
			return nil, fmt.Errorf("measure %s is given twice", m.Name())
		}
		if limit, ok := m.(gradeLimit); ok {
			if err := limit.checkGrade(highest); err != nil {
				return nil, fmt.Errorf("measure %w", err)
			}
		}
		averagers[i], seen[m.Name()] = a, true
	}
	return averagers, nil
}

func checkScores(d *dataset.Dataset, scores []float64) error {
	if len(scores) != d.Docs() {
		return fmt.Errorf("%d scores for %d documents", len(scores), d.Docs())
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		for j, s := range scores[q.Start : q.Start+q.Len()] {
			if s != s {
				return fmt.Errorf("the score of document %d of query %s is not a number", j+1, q.ID)
			}
		}
	}
	return nil
}
