package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/elementary"
)

const lastCutoff = 20

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
				distinct = append(distinct, g+0) // do not show the sign of dataset.Unjudged
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

func (in *input) evaluate(r *Report) error {
	in.values, in.runs = make([][][]float64, len(in.Measures)), make([][][][]float64, len(in.Measures))
	for s := range in.names {
		results, err := in.evaluateSystem(s, in.Measures)
		if err != nil {
			return err
		}
		in.results = append(in.results, results)
		pooled := poolEach(results)
		in.weights = pooled[0].Weights()
		var columns []string
		for i, m := range in.Measures {
			own := perQueryOf(pooled, m)
			values := overRuns(own)
			in.runs[i], in.values[i] = append(in.runs[i], own), append(in.values[i], values)
			columns = append(columns, packedValues(values))
		}
		r.data.Values = append(r.data.Values, columns)
	}
	return nil
}

// poolEach pools the results of each run over the divisions.
func poolEach(results [][]*measure.Result) []*measure.Result {
	var pooled []*measure.Result
	for _, run := range results {
		pooled = append(pooled, measure.Pool(run...))
	}
	return pooled
}

// perQueryOf returns the values of a measure for each run and query.
func perQueryOf(pooled []*measure.Result, m measure.Measure) [][]float64 {
	var values [][]float64
	for _, run := range pooled {
		values = append(values, run.PerQuery(m))
	}
	return values
}

// overRuns returns the mean over runs for each query.
func overRuns(runs [][]float64) []float64 {
	if len(runs) == 1 {
		return runs[0]
	}
	means := make([]float64, len(runs[0]))
	for _, run := range runs {
		for q, v := range run {
			means[q] += v / float64(len(runs))
		}
	}
	return means
}

// evaluateSystem returns the results of each run of a system on each division.
func (in *input) evaluateSystem(s int, measures []measure.Measure) ([][]*measure.Result, error) {
	var results [][]*measure.Result
	for _, run := range in.Runs[s] {
		own := make([]*measure.Result, len(in.divisions))
		for k := range in.divisions {
			var err error
			if own[k], err = in.divisions[k].Evaluate(run, measures, in.Ties); err != nil {
				return nil, fmt.Errorf("%s: %w", in.names[s], err)
			}
		}
		results = append(results, own)
	}
	return results, nil
}

// cutoffs sets the curves of NDCG@k, as means over all queries, and their differences from the
// baseline's curve.
func (r *Report) cutoffs(in *input) error {
	list, err := r.cutoffMeasures(measure.ConventionOf(in.Measures[0]))
	if err != nil {
		return err
	}
	pooled := make([][]*measure.Result, len(in.names))
	for s := range in.names {
		results, err := in.evaluateSystem(s, list)
		if err != nil {
			return err
		}
		pooled[s] = poolEach(results)
		means := make([]float64, len(list))
		for i, m := range list {
			if v := measure.WeightedMean(overRuns(perQueryOf(pooled[s], m)), in.weights); !math.IsNaN(v) {
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
			d, ok := in.difference(perQueryOf(pooled[s], m), perQueryOf(pooled[in.Baseline], m))
			if !ok {
				return nil // nothing to test
			}
			a.Mean, a.Low, a.High = append(a.Mean, rounded(d.Mean, 5)), append(a.Low, rounded(d.Interval.Low, 5)), append(a.High, rounded(d.Interval.High, 5))
		}
		r.data.Cutoffs.Above = append(r.data.Cutoffs.Above, a)
	}
	return nil
}

// cutoffMeasures returns NDCG@k for k from 1 to the largest cut-off.
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

// difference returns the mean difference between the runs of two systems, over queries that count. It
// returns false for fewer than two queries.
func (in *input) difference(a, b [][]float64) (stats.Difference, bool) {
	d, err := stats.Unpaired(counted(a), counted(b), in.countedWeights(a[0]))
	return d, err == nil
}

// counted returns the values of each run on the queries that count. The grades and weights of a query
// alone decide whether it counts, so all systems and runs drop the same queries.
func counted(runs [][]float64) [][]float64 {
	var all [][]float64
	for _, run := range runs {
		all = append(all, slices.DeleteFunc(slices.Clone(run), math.IsNaN))
	}
	return all
}

// countedWeights returns the weights of the queries that have a value, or nil if all are 1.
func (in *input) countedWeights(values []float64) []float64 {
	var weights []float64
	for q, w := range in.weights {
		if v := values[q]; v == v {
			weights = append(weights, w)
		}
	}
	return weights
}

// digits are the characters of packed numbers. They are printable, and neither JSON nor HTML
// escapes them.
const digits = "!#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{"

const radix = len(digits)

const top = radix*radix - 1

// width returns the number of digits of numbers below n.
func width(n int) int {
	w := 1
	for most := radix; most < n; most *= radix {
		w++
	}
	return w
}

// packed appends a number from 0 to radix^width − 1 as width digits.
func packed(to []byte, v, width int) []byte {
	for range width {
		to = append(to, '0')
	}
	for i := range width {
		to[len(to)-1-i] = digits[v%radix]
		v /= radix
	}
	if v != 0 {
		panic("report: a number does not fit its digits")
	}
	return to
}

// between appends v as a fraction of the interval from low to high, rounded to two digits.
func between(to []byte, v, low, high float64) []byte {
	if !(high > low) {
		return packed(to, 0, 2)
	}
	// Halving avoids overflow.
	at := float64((float64(v/2) - float64(low/2)) / (float64(high/2) - float64(low/2)) * float64(top))
	return packed(to, int(math.Round(max(0, min(float64(top), at)))), 2)
}

// unit is the step of a packed value of a measure. Values of DCG may exceed 1.
const unit = 1e-4

// measureDigits is the number of digits of a measure's value. The largest packed number means that
// the query does not count.
const measureDigits = 3

func packedValues(values []float64) string {
	none := radix*radix*radix - 1
	var b []byte
	for _, v := range values {
		n := none
		if !math.IsNaN(v) {
			n = int(min(math.Round(v/unit), float64(none-1)))
		}
		b = packed(b, n, measureDigits)
	}
	return string(b)
}

// rounded rounds v to the given number of significant digits, which shortens the JSON.
func rounded(v float64, significant int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', significant, 64), 64)
	if err != nil {
		return v // rounding up overflows
	}
	return r
}

// A feature's value takes valueDigits digits. The number of a document's values takes
// valueCountDigits.
const valueDigits, valueCountDigits = 4, 2

// packedValue appends a value with five significant digits. Packed 0 means missing, and packed 1
// means 0.
func packedValue(to []byte, v float32) []byte {
	switch size := math.Abs(float64(v)); {
	case v != v:
		return packed(to, 0, valueDigits)
	case size == 0:
		return packed(to, 1, valueDigits)
	default:
		exponent := int(math.Floor(elementary.Log10(size)))
		mantissa := int(math.Round(size / elementary.Pow(10, float64(exponent-4))))
		if mantissa > 99_999 {
			mantissa, exponent = mantissa/10, exponent+1
		}
		mantissa = max(mantissa, 10_000)
		code := 2 * ((exponent+50)*90_000 + mantissa - 10_000)
		if v < 0 {
			code++
		}
		return packed(to, 2+code, valueDigits)
	}
}
