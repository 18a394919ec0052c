package bridge

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
)

// evaluateRequest is a request to measure scores, one a document of the data.
type evaluateRequest struct {
	Data                                  rows
	Scores                                *int // []float64
	Measures, Convention, Threshold, Ties string
}

// evaluateAnswer has the values of measures; an array of each is by query.
type evaluateAnswer struct {
	Warnings  []string   `json:"warnings"`
	Measures  []string   `json:"measures"`
	Means     []*float64 `json:"means"` // null for a mean of no query
	Neutral   []*float64 `json:"tie_neutral"`
	Queries   []string   `json:"queries"`
	Threshold float64    `json:"threshold"`
}

// evaluate measures scores.
func (j *job) evaluate(_ context.Context, r evaluateRequest, arrays Arrays) (any, error) {
	convention, err := method.ParseConvention(r.Convention, r.Threshold)
	if err != nil {
		return nil, err
	}
	measures, err := measure.ParseList(r.Measures, convention, measure.Options{})
	if err != nil {
		return nil, fmt.Errorf("measures: %w", err)
	}
	ties, err := measure.ParseTies(r.Ties)
	if err != nil {
		return nil, fmt.Errorf("ties: %w", err)
	}
	given, err := array[float64](arrays, r.Scores, "scores")
	if err != nil {
		return nil, err
	}
	d, err := r.Data.dataset(arrays, dataset.MissingKeep)
	if err != nil {
		return nil, err
	}
	if len(given) != d.Docs() {
		return nil, fmt.Errorf("scores: found %d, expected %d: one a document", len(given), d.Docs())
	}
	for i, s := range given {
		if math.IsNaN(s) || math.IsInf(s, 1) {
			return nil, fmt.Errorf("scores: found %v for document %d, expected a finite number, or -inf for a document that was not retrieved", s, i+1)
		}
	}
	scores := make([]float64, len(given))
	d.FromInputOrder(scores, given)
	result, err := measure.Evaluate(d, scores, measures, ties)
	if err != nil {
		return nil, err
	}
	settled, note := method.Relevance(convention, d)
	answer := evaluateAnswer{Warnings: d.Warnings, Queries: result.Queries(), Threshold: settled.Threshold()}
	if note != "" {
		answer.Warnings = append(answer.Warnings, note+" (threshold says otherwise)")
	}
	var same error // of the first measure that is the same in any order
	var others []string
	for _, m := range measures {
		answer.Measures = append(answer.Measures, m.Name())
		answer.Means = append(answer.Means, finite(result.Mean(m)))
		answer.Neutral = append(answer.Neutral, finite(result.TieNeutral(m)))
		j.arrays = append(j.arrays, result.PerQuery(m))
		if err := measure.CheckVaries(measure.Under(m, settled), d); err != nil {
			if same != nil {
				others = append(others, m.Name())
				continue
			}
			same = err
		}
	}
	switch {
	case len(others) > 0:
		answer.Warnings = append(answer.Warnings, fmt.Sprintf("%v (and likewise for %s)", same, strings.Join(others, ", ")))
	case same != nil:
		answer.Warnings = append(answer.Warnings, same.Error())
	}
	return answer, nil
}

// finite is what JSON has for a number: null for none.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
