package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

// lastCutoff is where the curves of NDCG@k end.
const lastCutoff = 20

// measureAll sets the queries and their values by all measures.
func (r *Report) measureAll(in *input) error {
	longest, seen := 0, make(map[float64]bool)
	var distinct []float64
	for _, q := range in.queries {
		d := in.at(q)
		r.data.Queries.ID = append(r.data.Queries.ID, d.ID)
		r.data.Queries.Docs = append(r.data.Queries.Docs, d.Len())
		if len(in.divisions) > 1 {
			r.data.Queries.Fold = append(r.data.Queries.Fold, q.division)
		}
		longest = max(longest, d.Len())
		for _, g := range d.Grades {
			if !seen[g] {
				seen[g] = true
				distinct = append(distinct, g+0) // the sign of dataset.Unjudged is not shown
			}
		}
	}
	r.grades = newGradeTable(distinct)
	r.data.Grades = r.grades.values
	r.data.Relevant = r.grades.from(measure.ConventionOf(in.Measures[0]).Threshold())
	if len(in.divisions) > 1 {
		for i := range in.divisions {
			r.data.Folds = append(r.data.Folds, in.divisions[i].Name)
		}
	}
	r.data.Baseline, r.data.Systems = in.Baseline, in.names
	for _, m := range in.Measures {
		r.data.Measures = append(r.data.Measures, newFormula(m, &r.grades, longest))
	}
	return in.evaluate(r)
}

// evaluate measures every system on every query.
func (in *input) evaluate(r *Report) error {
	in.values = make([][][]float64, len(in.Measures))
	for s := range in.names {
		results, err := in.evaluateSystem(s, in.Measures)
		if err != nil {
			return err
		}
		in.results = append(in.results, results)
		pooled := measure.Pool(results...)
		in.weights = pooled.Weights()
		var columns []string
		for i, m := range in.Measures {
			in.values[i] = append(in.values[i], pooled.PerQuery(m))
			columns = append(columns, packedValues(pooled.PerQuery(m)))
		}
		r.data.Values = append(r.data.Values, columns)
	}
	return nil
}

func (in *input) evaluateSystem(s int, measures []measure.Measure) ([]*measure.Result, error) {
	results := make([]*measure.Result, len(in.divisions))
	for k := range in.divisions {
		d := &in.divisions[k]
		var err error
		if results[k], err = d.Evaluate(s, measures, in.Ties); err != nil {
			return nil, fmt.Errorf("%s: %w", in.names[s], err)
		}
	}
	return results, nil
}

// cutoffs sets the curves of NDCG@k, of the means over all queries, and of how far they are above
// the baseline's.
func (r *Report) cutoffs(in *input) error {
	list, err := r.cutoffMeasures(measure.ConventionOf(in.Measures[0]))
	if err != nil {
		return err
	}
	pooled := make([]*measure.Result, len(in.names))
	for s := range in.names {
		results, err := in.evaluateSystem(s, list)
		if err != nil {
			return err
		}
		pooled[s] = measure.Pool(results...)
		means := make([]float64, len(list))
		for i, m := range list {
			if v := pooled[s].Mean(m); !math.IsNaN(v) {
				means[i] = rounded(v, 5)
			}
		}
		r.data.Cutoffs.Values = append(r.data.Cutoffs.Values, means)
	}
	r.data.Cutoffs.Above = []above{}
	for s := range in.names {
		if s == in.Baseline {
			continue
		}
		a := above{System: s}
		for _, m := range list {
			d, ok := in.paired(pooled[s].PerQuery(m), pooled[in.Baseline].PerQuery(m))
			if !ok {
				return nil // there is nothing to test
			}
			a.Mean, a.Low, a.High = append(a.Mean, rounded(d.Mean, 5)), append(a.Low, rounded(d.Interval.Low, 5)), append(a.High, rounded(d.Interval.High, 5))
		}
		r.data.Cutoffs.Above = append(r.data.Cutoffs.Above, a)
	}
	return nil
}

// cutoffMeasures returns NDCG at 1, 2, … to the last cutoff.
func (r *Report) cutoffMeasures(c measure.Convention) (list []measure.Measure, err error) {
	r.data.Cutoffs.K = min(lastCutoff, max(1, slices.Max(r.data.Queries.Docs)))
	for k := 1; k <= r.data.Cutoffs.K; k++ {
		m, err := measure.Parse(fmt.Sprintf("ndcg@%d", k), c, measure.Options{})
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// paired returns how far the values of queries, NaN where one does not count, are above others;
// false if there are fewer than two of them.
func (in *input) paired(a, b []float64) (stats.Difference, bool) {
	var x, y, weights []float64
	for q, v := range a {
		if math.IsNaN(v) {
			continue
		}
		x, y = append(x, v), append(y, b[q])
		if in.weights != nil {
			weights = append(weights, in.weights[q])
		}
	}
	d, err := stats.Paired(x, y, weights)
	return d, err == nil
}
