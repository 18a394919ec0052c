package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
)

// gradeLimit is a Measure that is not defined for high grades.
type gradeLimit interface {
	// checkGrade returns an error if the measure is not defined for the highest grade of the data.
	checkGrade(highest float64) error
}

// Evaluate ranks the documents of every query by score and measures the rankings. There is one score
// for each row of d. Measures must have different names and implement Averager, as all measures from
// [Parse] do. For a measure without a chosen relevance threshold, Evaluate derives the threshold from
// d; see [For].
//
// Means weight queries by their weights. Queries of weight 0 are excluded, as by a skip convention.
// Weights of documents are ignored. The result does not depend on the number of cores.
//
// A system need not retrieve all documents. A document that it did not retrieve has the score
// [dataset.NotRetrieved]. If judged, such a document still counts in the number of relevant documents
// and in the ideal ranking. If unjudged, it does not count at all.
//
// Evaluate returns an error for a wrong number of scores, a NaN score, or grades for which a measure is
// not defined. It also returns an error for TiesTREC without document identifiers, and if a data file
// has changed.
func Evaluate(d *dataset.Dataset, scores []float64, measures []Measure, ties TiePolicy) (*Result, error) {
	return EvaluateRun(d, scores, nil, measures, ties)
}

// EvaluateRun is [Evaluate] for a system whose input has the documents in another order than d. places
// contains the position of each row in that input. Under TiesInput, documents with equal scores are
// ranked in the order of their positions. nil places mean the order of d.
func EvaluateRun(d *dataset.Dataset, scores []float64, places []uint32, measures []Measure, ties TiePolicy) (*Result, error) {
	if len(scores) != d.Docs() {
		return nil, fmt.Errorf("%d scores for %d documents", len(scores), d.Docs())
	}
	lists := make([]list, len(d.Queries))
	for i := range d.Queries {
		q := &d.Queries[i]
		lists[i] = list{q.ID, q.Grades, scores[q.Start : q.Start+q.Len()], q.Weight()}
	}
	switch {
	case ties == TiesTREC:
		if err := trecOrder(lists, d); err != nil {
			return nil, err
		}
	case ties == TiesInput && places != nil:
		reorder(lists, func(i int) []int { return byPlace(places[d.Queries[i].Start:][:d.Queries[i].Len()]) })
	}
	r, err := evaluate(lists, measures, ForAll(measures, d), ties)
	if err != nil {
		return nil, err
	}
	return r, d.Changed()
}

// EvaluateLists is [Evaluate] for grades and scores without a data set. Query i has grades[i] and
// scores[i], with one element per document. The queries are named "1", "2" and so on.
func EvaluateLists(grades, scores [][]float64, measures []Measure, ties TiePolicy) (*Result, error) {
	if len(grades) != len(scores) {
		return nil, fmt.Errorf("%d lists of scores for %d lists of grades", len(scores), len(grades))
	}
	lists := make([]list, len(grades))
	for i, g := range grades {
		lists[i] = list{strconv.Itoa(i + 1), g, scores[i], 1}
		if len(g) != len(scores[i]) || len(g) == 0 {
			return nil, fmt.Errorf("query %d: %d scores for %d grades, expected as many, and at least one", i+1, len(scores[i]), len(g))
		}
		for j, v := range g {
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("query %d: grade %v of document %d, expected a finite non-negative number", i+1, v, j+1)
			}
		}
	}
	if ties == TiesTREC {
		return nil, fmt.Errorf("ties %s: lists without a data set have no identifiers of documents", ties)
	}
	settled := make([]Measure, len(measures))
	for i, m := range measures {
		settled[i] = Under(m, ConventionOf(m).ForGrades(grades...))
	}
	return evaluate(lists, measures, settled, ties)
}

// trecOrder sorts the documents of every query of d in descending order of their identifiers and rounds
// their scores. The input order is then the tie order of TiesTREC.
func trecOrder(lists []list, d *dataset.Dataset) error {
	if !d.HasDocIDs() {
		return fmt.Errorf("ties %s: found no identifiers of documents, expected them, or other ties: %s", TiesTREC, strings.Join(tieNames[:TiesTREC], ", "))
	}
	reorder(lists, func(i int) []int { return d.Queries[i].ByDocID() })
	for i := range lists {
		for j, s := range lists[i].scores {
			lists[i].scores[j] = TRECScore(s)
		}
	}
	return nil
}

// reorder copies the documents of each list i in the order that orderOf(i) returns.
func reorder(lists []list, orderOf func(i int) []int) {
	parallel.For(len(lists), parallel.Workers(0, len(lists)), func(_, i int) {
		l, order := &lists[i], orderOf(i)
		grades, scores := make([]float64, len(order)), make([]float64, len(order))
		for place, doc := range order {
			grades[place], scores[place] = l.grades[doc], l.scores[doc]
		}
		l.grades, l.scores = grades, scores
	})
}

// byPlace returns the indices of the documents in ascending order of their positions.
func byPlace(places []uint32) []int {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	return order
}

// TRECScore returns a score as trec_eval reads it, rounded to float32. It does not change the score
// [dataset.NotRetrieved].
func TRECScore(score float64) float64 {
	if score == dataset.NotRetrieved {
		return score
	}
	return float64(float32(max(-math.MaxFloat32, min(math.MaxFloat32, score))))
}

// list contains the documents of one query.
type list struct {
	id             string
	grades, scores []float64
	weight         float64
}

// evaluate computes measures, which are the given measures with their relevance thresholds.
func evaluate(lists []list, given, measures []Measure, ties TiePolicy) (*Result, error) {
	averagers, err := checkMeasures(measures, lists)
	if err != nil {
		return nil, err
	}
	if err := checkScores(lists); err != nil {
		return nil, err
	}
	r := newResult(lists, given, measures, ties)
	rankers := make([]Ranker, parallel.Workers(0, len(lists)))
	parallel.For(len(lists), len(rankers), func(worker, i int) {
		ranker := &rankers[worker]
		ranker.Ties = ties
		if lists[i].weight == 0 {
			r.leaveOut(i)
			return
		}
		r.measureQuery(i, ranker, averagers, lists[i].grades, lists[i].scores)
	})
	return r, nil
}

// Mean returns the weighted mean of one measure over the queries that are not excluded, and their
// number. It is for model selection and computes no statistics of ties. If all queries are excluded,
// the mean is NaN. The caller must ensure that there is a score for each row, that no score is NaN, and
// that the measure has its relevance threshold; see [For].
func (r *Ranker) Mean(d *dataset.Dataset, scores []float64, m Measure) (mean float64, counted int) {
	var sum, total float64
	for i := range d.Queries {
		q := &d.Queries[i]
		w := q.Weight()
		if w == 0 {
			continue
		}
		if v, ok := r.Value(m, q.Grades, scores[q.Start:q.Start+q.Len()]); ok {
			sum += float64(w * v)
			total += w
			counted++
		}
	}
	return sum / total, counted
}

func checkMeasures(measures []Measure, lists []list) ([]Averager, error) {
	var highest float64
	for _, l := range lists {
		highest = max(highest, slices.Max(l.grades))
	}
	averagers := make([]Averager, len(measures))
	seen := make(map[string]bool)
	for i, m := range measures {
		a, ok := m.(Averager)
		switch {
		case m == nil:
			return nil, fmt.Errorf("measure %d of %d is nil, expected one", i+1, len(measures))
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

func checkScores(lists []list) error {
	for _, l := range lists {
		for j, s := range l.scores {
			if s != s {
				return fmt.Errorf("the score of document %d of query %s is not a number", j+1, l.id)
			}
		}
	}
	return nil
}
